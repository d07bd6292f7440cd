//! What one head can do depends on how tokens are written.

use anyhow::Result;
use serde_json::{Value, json};
use training::Schedule;
use training::lookups::{Code, EqualShares, Lookups, Over};

use crate::lookups::sizes;
use crate::run::{SEEDS, kept, rounded, trained};

/// Both codes: one head with shares of its own, one whose shares were equal from the
/// start, over the three words and over all ten; and three heads.
pub fn runs() -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for (name, code) in [("added", Code::Added), ("bound", Code::Bound)] {
        let task = Lookups::coded(code, Lookups::LOUDNESS, 0);
        for seed in SEEDS {
            for n_heads in [1, 3] {
                let schedule = Schedule { n_looks: 10, ..Lookups::schedule(seed) };
                let trained = trained(name, &task, n_heads, &schedule)?;
                let mut run = kept(&schedule, &trained)?;
                run["code"] = json!(name);
                run["shares"] = json!("own");
                if n_heads == 1 {
                    run["sizes"] = sizes(&trained)?;
                }
                runs.push(run);
            }
            for (shares, over) in [("three", Over::Three), ("all", Over::All)] {
                let task = EqualShares { task: task.clone(), over };
                let schedule = Schedule { n_looks: 1, ..Lookups::schedule(seed) };
                let trained = trained(&format!("{name}, {shares}"), &task, 1, &schedule)?;
                runs.push(json!({
                    "code": name,
                    "shares": shares,
                    "heads": 1,
                    "seed": seed,
                    "scores": rounded(&trained.last().scores),
                }));
            }
        }
    }
    Ok(runs)
}
