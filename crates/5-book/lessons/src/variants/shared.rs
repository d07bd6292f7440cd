//! Ten seeds of each way to share keys and values, at equal numbers of weights.

use anyhow::{Result, ensure};
use serde_json::Value;
use training::SHARED;

/// The two tasks.
pub const TASKS: [&str; 2] = ["lookups", "repeats"];
/// Heads of keys and values for four query heads.
pub const KV_HEADS: [usize; 3] = [4, 2, 1];

/// The scores of ten seeds of a task, with so many heads of keys and values.
///
/// # Errors
/// If the file has other runs than it should.
pub fn shared(task: &str, n_kv_heads: usize) -> Result<Vec<f64>> {
    let all: Vec<Value> = serde_json::from_str(SHARED)?;
    let is_of = |run: &&Value| run["task"] == task && run["kv_heads"] == n_kv_heads;
    let scores: Vec<f64> =
        all.iter().filter(is_of).filter_map(|run| run["score"].as_f64()).collect();
    ensure!(scores.len() == 10, "{} runs of {task} on {n_kv_heads}", scores.len());
    Ok(scores)
}
