//! “Two layers”: two layers, from many seeds of seven settings, and a small training.

pub mod together;

use crate::seeds::{curve, training_curves};
use crate::{Args, Entry};
use anyhow::{Result, ensure};
use attention::Matrix;
use figures::{Figure, MapOverSteps, map_over_steps};
use serde_json::Value;
use training::repeats::REPEATS;

use together::{ShownHead, shown_heads};

pub(crate) const FIGURES: &[Entry] = &[("repeats-curves", curves), ("repeats-map", map)];

/// The settings with the task of the chapter, and those with the small one.
pub const SETTINGS: [&str; 7] = [
    "two layers",
    "one layer",
    "one layer, 32 heads",
    "no positions",
    "no residual",
    "two layers, small",
    "one layer, small",
];

/// The settings of the curves.
const DRAWN: [&str; 4] = ["two layers", "one layer", "no positions", "no residual"];

/// How many seeds a setting was trained with: half as many where it is four times as large.
fn n_seeds(setting: &str) -> usize {
    if setting == "one layer, 32 heads" { 5 } else { 10 }
}

/// The runs of a setting, by seed.
///
/// # Errors
/// If the file has other runs than it should.
pub fn runs(setting: &str) -> Result<Vec<Value>> {
    let all: Vec<Value> = serde_json::from_str(REPEATS)?;
    let of: Vec<Value> = all.into_iter().filter(|run| run["built"] == setting).collect();
    ensure!(of.len() == n_seeds(setting), "{} runs of {setting}", of.len());
    Ok(of)
}

fn curves(_: &Args) -> Result<Figure> {
    let mut curves = Vec::new();
    for setting in DRAWN {
        for run in runs(setting)? {
            curves.push(curve(setting, &run)?);
        }
    }
    let title =
        "Two layers know what comes next with every seed, and one layer with none";
    training_curves(title, &curves)
}

/// The head of the second layer that comes to look after the last same token.
fn map(_: &Args) -> Result<Figure> {
    let trained = together::first()?;
    let [_, ShownHead { layer, head, .. }] = shown_heads(trained.last());
    let looks: Vec<(usize, Matrix)> = trained
        .looks
        .iter()
        .map(|look| (look.step, look.maps[layer][head].clone()))
        .collect();
    let tokens = together::tokens(&trained.test);
    let map = MapOverSteps { looks: &looks, rows: &tokens, columns: &tokens };
    let title = format!("Head {head} of layer {layer} comes to look after the last same");
    Ok(map_over_steps(title, map)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_titles_are_true() {
        let scores = |setting| -> Vec<f64> {
            let score = |run: &Value| run["score"].as_f64().unwrap();
            runs(setting).unwrap().iter().map(score).collect()
        };
        let [two, one] = ["two layers", "one layer"].map(scores);
        assert!(two.iter().all(|&score| score >= 0.99), "{two:?}");
        assert!(one.iter().all(|&score| score <= 0.6), "{one:?}");
        let [first, last] = shown_heads(together::first().unwrap().last());
        assert_eq!(first.looks_at, "the token before");
        assert!(last.layer == 1 && last.share > 0.5, "{last:?}");
    }
}
