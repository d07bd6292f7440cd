//! “Two layers”: two layers, from many seeds of several settings, and a small training.

pub mod measured;
mod sequence;
pub mod together;

use crate::{Args, Entry};
use anyhow::{Result, ensure};
use attention::Matrix;
use figures::{Figure, MapOverSteps, map_over_steps};
use serde_json::Value;
use training::repeats::REPEATS;

use together::{ShownHead, shown_heads};

pub(crate) const FIGURES: &[Entry] = &[
    ("induction", sequence::induction),
    ("repeats-task", sequence::task),
    ("repeats-seeds", measured::scores),
    ("repeats-patterns", measured::patterns),
    ("which-or-where", measured::halves),
    ("repeats-paths", measured::paths),
    ("repeats-forming", measured::forming),
    ("repeats-map", map),
    ("repeats-removed", measured::removed),
    ("distractors", measured::distractors),
];

/// What was trained on the task of the chapter.
pub const SETTINGS: [&str; 5] =
    ["two layers", "one layer", "one layer, 32 heads", "no positions", "no residual"];

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
    let title = format!(
        "Head {head} of layer {layer} learns to attend to the token to be copied"
    );
    Ok(map_over_steps(title, map)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(setting: &str, of: impl Fn(&Value) -> f64) -> Vec<f64> {
        runs(setting).unwrap().iter().map(of).collect()
    }

    #[test]
    fn the_titles_are_true() {
        let score = |run: &Value| run["score"].as_f64().unwrap();
        let two = numbers("two layers", score);
        assert!(two.iter().all(|&score| score >= 0.99), "{two:?}");
        for one in ["one layer", "one layer, 32 heads"] {
            let one = numbers(one, score);
            assert!(one.iter().all(|&score| score <= 0.9), "{one:?}");
        }
        let [first, last] = shown_heads(together::first().unwrap().last());
        assert_eq!(first.looks_at, "the token before");
        assert!(last.layer == 1 && last.share > 0.5, "{last:?}");
    }

    #[test]
    fn distractors_cost_most_with_32_heads() {
        let lost = |run: &Value| {
            let of = |key: &str| run["distractors"][key].as_f64().unwrap();
            of("score_without") - of("score")
        };
        let [two, one, wide] = ["two layers", "one layer", "one layer, 32 heads"]
            .map(|setting| attention::median(numbers(setting, lost)));
        assert!(wide > 2.0 * two.max(one), "{two} {one} {wide}");
    }

    /// Half of the way up to the end, of accuracy and of both heads.
    #[test]
    fn both_heads_form_at_once() {
        let curve = &runs("two layers").unwrap()[0]["curve"];
        let half = ["score", "previous_copied", "after_last_same"].map(|key| {
            let all = crate::seeds::numbers(&curve[key]).unwrap();
            let half = (all[0] + all[all.len() - 1]) / 2.0;
            let nth = all.iter().position(|&x| x >= half).unwrap();
            crate::seeds::numbers(&curve["step"]).unwrap()[nth]
        });
        let [least, _, most] = crate::numbers::ends(half);
        assert!(most - least <= 50.0, "{half:?}");
    }
}
