//! Heads that share keys and values, at equal numbers of weights.

use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};
use training::{Follower, FollowerPlan, Lookups, Reader, Repeats, Schedule, Trainer};

use crate::run::{SEEDS, round, rounded};

/// Heads of keys and values for four query heads, and the width at which the matrices of all
/// three have as many entries: d_model · width · 2 (4 + heads) is d_model · 240.
const SHARED: [[usize; 2]; 3] = [[4, 15], [2, 20], [1, 24]];

/// Both tasks with every way to share and every seed.
pub fn runs() -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for task in ["lookups", "repeats"] {
        for [n_kv_heads, d_head] in SHARED {
            for seed in SEEDS {
                let start = Instant::now();
                let scores = match task {
                    "lookups" => lookups(n_kv_heads, d_head, seed)?,
                    _ => repeats(n_kv_heads, d_head, seed)?,
                };
                let score = scores.iter().sum::<f64>() / scores.len() as f64;
                println!(
                    "{task}, 4 heads of {d_head} on {n_kv_heads}, seed {seed}: {:5.1} %  {:.1} s",
                    100.0 * score,
                    start.elapsed().as_secs_f64()
                );
                runs.push(json!({
                    "task": task,
                    "kv_heads": n_kv_heads,
                    "width": d_head,
                    "seed": seed,
                    "scores": rounded(&scores),
                    "score": round(score),
                }));
            }
        }
    }
    Ok(runs)
}

fn lookups(n_kv_heads: usize, d_head: usize, seed: u64) -> Result<Vec<f64>> {
    let trainer =
        Trainer::new(Lookups::default(), Lookups::schedule(seed), |task, rng| {
            Reader::random(task, [4, n_kv_heads, d_head], rng)
        })?;
    Ok(trainer.finish()?.last().clone())
}

fn repeats(n_kv_heads: usize, d_head: usize, seed: u64) -> Result<Vec<f64>> {
    let plan = FollowerPlan { n_kv_heads, d_head, ..FollowerPlan::TWO_LAYERS };
    let trainer =
        Trainer::new(Repeats::default(), Schedule::usual(seed), |task, rng| {
            Follower::random(plan, task.n_vocabulary, rng)
        })?;
    Ok(vec![*trainer.finish()?.last()])
}
