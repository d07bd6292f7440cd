//! What “Heads that specialise” quotes: many seeds as `training` keeps them, and some trained again.

mod ablation;
mod again;
mod codes;
mod lookups;
mod needed;
mod windows;

use lessons::seeds;
use serde_json::Value;

const ROLES: [&str; 3] = ["agent", "object", "place"];

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// In points of a hundred, with a true minus; no −0.
fn points(lost: f64) -> String {
    format!("{:.1}", (1000.0 * lost).round() / 10.0 + 0.0).replace('-', "−")
}

fn numbers(list: &Value) -> Vec<f64> {
    seeds::numbers(list).unwrap()
}

fn rows(list: &Value) -> Vec<Vec<f64>> {
    seeds::rows(list).unwrap()
}

/// What each word loses with each head that is replaced by its mean.
fn lost(run: &Value) -> Vec<Vec<f64>> {
    rows(&run["removed"]["mean"]["heads"])
}
