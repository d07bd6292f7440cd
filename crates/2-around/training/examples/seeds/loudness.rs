//! How loud roles may be: where they are louder, heads settle sooner, and two of them may
//! settle on one word.

use anyhow::Result;
use serde_json::{Value, json};
use training::Schedule;
use training::lookups::{Code, Lookups};
use training::one_layer::strongest;

use crate::run::{rounded, rows, trained};

/// Seeds of no other table.
const SEEDS: std::ops::Range<u64> = 1000..1020;

/// The squared length of a role's vector over that of an identity's.
const LOUDNESSES: [f64; 6] = [0.25, Lookups::LOUDNESS, 1.0, 2.0, 4.0, 9.0];

/// Three heads; of each run its scores and what its heads attend to.
pub fn runs() -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for loudness in LOUDNESSES {
        let task = Lookups::coded(Code::Added, loudness, 0);
        for seed in SEEDS {
            let schedule = Schedule { n_looks: 1, ..Lookups::schedule(seed) };
            let what = format!("loudness {loudness}");
            let trained = trained(&what, &task, 3, &schedule)?;
            let last = trained.last();
            runs.push(json!({
                "loudness": loudness,
                "seed": seed,
                "scores": rounded(&last.scores),
                "focus": rows(&last.focus),
                "attending": strongest(&last.focus),
            }));
        }
    }
    Ok(runs)
}
