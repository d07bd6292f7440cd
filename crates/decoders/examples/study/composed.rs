//! Whether copying needs the heads that look back: without these, do the others still find
//! what came next?

use anyhow::Result;
use serde_json::{Value, json};

use crate::heads::patterns;
use crate::removed::{Head, SEEDS, copies, random_heads, same_layers, with_removed};
use crate::texts::{MEASURING, random};
use crate::{Study, mean, round};

pub fn measure(study: &mut Study) -> Result<Value> {
    let texts = random(MEASURING, study.model.config.n_vocabulary);
    let copying = study.most_of("copying")?;
    let previous = study.most_of("previous")?;
    let n_heads = study.model.config.dims().n_heads();
    let mut all = Vec::new();
    let mut add = |study: &mut Study, what: &str, heads: &[Head], seed: u64| {
        let (share, later) = with_removed(&mut study.model, heads, None, |model| {
            let found = patterns(model, &texts)?;
            let of = |&(layer, head): &Head| found[layer * n_heads + head].copying;
            let shares: Vec<f64> = copying.iter().map(of).collect();
            Ok((mean(&shares), copies(model, &texts)?.1))
        })?;
        println!("{what}, {} heads, seed {seed}: {share:.3}, {later:.2}", heads.len());
        all.push(json!({
            "what": what, "heads": heads.len(), "seed": seed,
            "copying": round(share), "later": round(later),
        }));
        anyhow::Ok(())
    };
    add(study, "whole", &[], 0)?;
    add(study, "previous", &previous, 0)?;
    let both = [previous.clone(), copying.clone()].concat();
    for seed in SEEDS {
        let heads = random_heads(study, previous.len(), &both, seed);
        add(study, "random", &heads, seed)?;
        add(study, "same layers", &same_layers(study, &previous, &both, seed), seed)?;
    }
    Ok(all.into())
}
