//! Three heads of keys and values made one, and nothing trained.

use anyhow::Result;
use models::decoders::study::{Merge, merged};
use serde_json::{Value, json};

use crate::texts::{mean_loss, prose};
use crate::{Study, round, rounded};

pub fn measure(study: &mut Study) -> Result<Value> {
    let texts = prose(study, 256, 4)?;
    let whole = mean_loss(&study.model, &texts)?;
    println!("whole: {:.2}", whole.exp());
    let mut all = Vec::new();
    for (name, merge) in [("mean", Merge::Mean), ("first", Merge::First)] {
        let layers: Vec<_> = study
            .model
            .blocks
            .iter()
            .map(|block| merged(&block.attention.function, 1, merge))
            .collect::<models::Result<_>>()?;
        // One layer at a time, then all of them.
        let mut single = Vec::new();
        for (layer, one) in layers.iter().enumerate() {
            let attention = &mut study.model.blocks[layer].attention.function;
            let before = std::mem::replace(attention, one.clone());
            single.push(mean_loss(&study.model, &texts)?);
            study.model.blocks[layer].attention.function = before;
        }
        let swap = |study: &mut Study, layers: Vec<_>| -> Vec<_> {
            let blocks = study.model.blocks.iter_mut();
            blocks
                .zip(layers)
                .map(|(block, one)| std::mem::replace(&mut block.attention.function, one))
                .collect()
        };
        let before = swap(study, layers);
        let loss = mean_loss(&study.model, &texts)?;
        swap(study, before);
        println!(
            "{name}: {:.1}; layer by layer {:.2?}",
            loss.exp(),
            rounded(single.clone())
        );
        all.push(json!({"how": name, "loss": round(loss), "single": rounded(single)}));
    }
    let n = study.model.config.n_vocabulary as f64;
    Ok(json!({"whole": round(whole), "guess": round(n.ln()), "ways": all}))
}
