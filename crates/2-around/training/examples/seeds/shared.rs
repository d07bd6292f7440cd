//! Heads that share keys and values, on lookups whose roles are hard to see.
//!
//! Fixed before the runs: roles are as quiet as the first of 1/4, 1/8, … of an identity's
//! squared length at which heads with keys and values of their own, on three seeds that are
//! not used again, have a median from 60 to 95 %; so the comparison can come out either way.
//! (Fewer steps, tried first, left them at 100 %.) Sharing costs, or pays, if it scores less,
//! or more, than they do with nine seeds of ten or more. Two settings are controls: the same
//! setting with other seeds must not differ so, and one query head must.

use anyhow::{Context, Result};
use attention::median;
use serde_json::{Value, json};
use training::changed::Reader;
use training::lookups::{Code, Lookups};
use training::{Learner, Trainer};

use crate::run::{of_seeds, round, rounded};

/// Query heads, heads of keys and values, d_k, d_v. The matrices have
/// `d_model · (heads + shared heads) · (d_k + d_v)` entries.
type Setting = [usize; 4];

const OWN: Setting = [4, 4, 7, 8];

/// With keys and values of their own and, as a control, other seeds; then shared, with equally
/// many weights and with equal widths; and the first of each setting's ten seeds.
const SETTINGS: [(&str, Setting, u64); 7] = [
    ("own", OWN, 0),
    ("own, other seeds", OWN, 10),
    ("equal weights", [4, 2, 10, 10], 0),
    ("equal weights", [4, 1, 12, 12], 0),
    ("equal widths", [4, 2, 7, 8], 0),
    ("equal widths", [4, 1, 7, 8], 0),
    ("one query head", [1, 1, 30, 30], 0),
];

/// Every setting with every seed.
pub fn runs() -> Result<Vec<Value>> {
    let loudness = pilot()?;
    let mut runs = Vec::new();
    for (kind, setting, first) in SETTINGS {
        runs.extend(of_seeds(|seed| run(kind, setting, loudness, first + seed))?);
    }
    Ok(runs)
}

/// How loud roles are, by three seeds that are not used again.
fn pilot() -> Result<f64> {
    for halvings in 2..=10 {
        let loudness = 0.5f64.powi(halvings);
        let scores =
            (100..103).map(|seed| Ok(Reader::score(&scores(OWN, loudness, seed)?)));
        let median = median(scores.collect::<Result<Vec<f64>>>()?);
        println!("pilot, loudness {loudness}: {:.1} %", 100.0 * median);
        if (0.6..=0.95).contains(&median) {
            return Ok(loudness);
        }
    }
    None.context("no loudness leaves room on both sides")
}

fn run(kind: &str, setting: Setting, loudness: f64, seed: u64) -> Result<Value> {
    let scores = scores(setting, loudness, seed)?;
    let [heads, kv_heads, d_k, d_v] = setting;
    Ok(json!({
        "kind": kind,
        "heads": heads,
        "kv_heads": kv_heads,
        "d_k": d_k,
        "d_v": d_v,
        "loudness": loudness,
        "seed": seed,
        "scores": rounded(&scores),
        "score": round(Reader::score(&scores)),
    }))
}

fn scores(setting: Setting, loudness: f64, seed: u64) -> Result<Vec<f64>> {
    let [heads, kv_heads, d_k, d_v] = setting;
    let task = Lookups::coded(Code::Added, loudness, 0);
    let trainer = Trainer::new(task, Lookups::schedule(seed), |task, rng| {
        Reader::random(task, [heads, kv_heads], [d_k, d_v], rng)
    })?;
    Ok(trainer.finish()?.last().clone())
}
