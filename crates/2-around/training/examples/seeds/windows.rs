//! Sensor windows: eight heads, and which of the source's specialisations appear.

use anyhow::Result;
use serde_json::{Value, json};
use training::windows::{SPECIALISATIONS, Windows, specialisations};

use crate::run::{SEEDS, kept, trained};

/// Eight heads, and one.
pub fn runs() -> Result<Vec<Value>> {
    let task = Windows::default();
    let mut runs = Vec::new();
    for n_heads in [8, 1] {
        for seed in SEEDS {
            let schedule = Windows::schedule(seed);
            let trained = trained("windows", &task, n_heads, &schedule)?;
            let mut run = kept(&schedule, &trained)?;
            for (key, model) in
                [("found_before", &trained.before), ("found", &trained.model)]
            {
                let found = specialisations(&task, model, 1000 + seed)?;
                println!("    {key}: {found:?}");
                run[key] = json!(found);
            }
            runs.push(run);
        }
    }
    println!("\nOf ten seeds with 8 heads, in how many does some head …");
    for (i, (name, criterion)) in SPECIALISATIONS.iter().enumerate() {
        let [before, after] = ["found_before", "found"].map(|key| {
            let is_found = |run: &&Value| run["heads"] == 8 && run[key][i] != json!([]);
            runs.iter().filter(is_found).count()
        });
        println!("  {name:15} before {before:2}, after {after:2}   {criterion}");
    }
    Ok(runs)
}
