//! Sensor windows: eight heads, and which of the source's specialisations appear.

use anyhow::Result;
use serde_json::{Value, json};
use training::windows::{SPECIALISATIONS, Windows, specialisations};

use crate::run::{SEEDS, kept, trained};

/// Eight heads, and one.
pub fn runs() -> Result<Vec<Value>> {
    let task = Windows::default();
    let mut runs = Vec::new();
    let mut seeds_with = [[0; 8]; 2];
    for n_heads in [8, 1] {
        for seed in SEEDS {
            let schedule = Windows::schedule(seed);
            let trained = trained("windows", &task, n_heads, &schedule)?;
            let mut run = kept(&schedule, &trained)?;
            for (nth, (key, model)) in
                [("found_before", &trained.before), ("found", &trained.model)]
                    .into_iter()
                    .enumerate()
            {
                let found = specialisations(&task, model, 1000 + seed)?;
                println!("    {key}: {found:?}");
                if n_heads == 8 {
                    for (count, heads) in seeds_with[nth].iter_mut().zip(&found) {
                        *count += usize::from(!heads.is_empty());
                    }
                }
                run[key] = json!(found);
            }
            runs.push(run);
        }
    }
    println!("\nOf ten seeds with 8 heads, in how many does some head …");
    for (i, (name, criterion)) in SPECIALISATIONS.iter().enumerate() {
        let [before, after] = [0, 1].map(|nth| seeds_with[nth][i]);
        println!("  {name:15} before {before:2}, after {after:2}   {criterion}");
    }
    Ok(runs)
}
