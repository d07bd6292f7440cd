//! Whether copying needs the heads that look back: without these, do the others still find
//! what came next?

use anyhow::Result;
use models::decoders::study::{HeadOfLayer, others_of_same_layers};
use serde_json::{Value, json};

use crate::ablation::{SEEDS, copies, random_heads, with_ablated};
use crate::heads::patterns;
use crate::texts::{MEASURING, mean_loss, prose, random};
use crate::{Study, mean, round};

pub fn measure(study: &mut Study) -> Result<Value> {
    let texts = random(MEASURING, study.model.config.n_vocabulary);
    let prose = prose(study, 200, 4)?;
    let copying = study.most_of("copying")?;
    // On the kind of text where copying is asked for, and on prose, which is read differently.
    let previous = study.most_of("previous_random")?;
    let on_prose = study.most_of("previous")?;
    let n_heads = study.model.config.dims().n_heads();
    let mut all = Vec::new();
    let mut add = |study: &mut Study, what: &str, heads: &[HeadOfLayer], seed: u64| {
        let found = with_ablated(&mut study.model, heads, None, |model| {
            let found = patterns(model, &texts)?;
            let of = |&(layer, head): &HeadOfLayer| found[layer * n_heads + head].copying;
            let shares: Vec<f64> = copying.iter().map(of).collect();
            Ok([mean(&shares), copies(model, &texts)?.1, mean_loss(model, &prose)?])
        })?;
        println!("{what}, {} heads, seed {seed}: {found:.3?}", heads.len());
        let [share, later, prose] = found.map(round);
        all.push(json!({
            "what": what, "heads": heads.len(), "seed": seed,
            "copying": share, "later": later, "prose": prose,
        }));
        anyhow::Ok(())
    };
    add(study, "whole", &[], 0)?;
    add(study, "previous", &previous, 0)?;
    add(study, "previous on prose", &on_prose, 0)?;
    let but = [previous.clone(), on_prose, copying.clone()].concat();
    for seed in SEEDS {
        add(study, "random", &random_heads(study, previous.len(), &but, seed), seed)?;
        let others = others_of_same_layers(&previous, &but, n_heads, seed);
        add(study, "same layers", &others, seed)?;
    }
    Ok(all.into())
}
