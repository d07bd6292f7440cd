//! By which paths the answer comes: margins split, one path cut alone, and their controls.

use lessons::numbers::ends;
use lessons::seeds::numbers;
use lessons::two_layers::measured::{self, by_composition};
use lessons::two_layers::runs;
use serde_json::Value;
use training::repeats::Attribution;

use super::{number, percent};
use crate::quote::{assert_quote, values};

/// The ends of a path.
const ENDS: [&str; 4] = ["queries", "keys", "values", "logits"];

/// The margin of logits through no head, the first layer's, the second's and both.
fn by_layer(composed: &Value) -> [f64; 4] {
    let margins = measured::margins(composed).unwrap();
    let Attribution { none, first, second, both } = margins.by_layer();
    [none, first, second, both]
}

/// Which part of the scores its note should be: a note is read by keys, a place by queries.
fn expected(run: &Value) -> usize {
    if measured::notes_which(run) { 2 } else { 1 }
}

/// The score without each head in one kind of reader.
fn cut(run: &Value, end: &str) -> Vec<f64> {
    numbers(&run["without_path"][end]).unwrap()
}

fn largest(parts: [f64; 4]) -> usize {
    (0..4).max_by(|&a, &b| parts[a].total_cmp(&parts[b])).unwrap()
}

#[test]
fn the_paths_of_every_seed() {
    let runs = runs("two layers").unwrap();
    let [mut through, mut by_scores, mut by_cuts] = [0, 0, 0];
    for run in &runs {
        let logits = by_layer(&run["composed"]);
        let scores = by_composition(&run["composed"]).unwrap();
        let cuts = ENDS.map(|end| cut(run, end)[measured::needed(run)]);
        through += usize::from(logits[2] > 0.5 * logits.iter().sum::<f64>());
        by_scores += usize::from(largest(scores) == expected(run));
        // Q is read by queries, K by keys.
        by_cuts += usize::from(largest(cuts.map(|score| -score)) == expected(run) - 1);
    }
    let whole = |run: &Value| {
        let logits = by_layer(&run["composed"]);
        logits[2] / logits.iter().sum::<f64>()
    };
    let [least, _, most] =
        ends(runs.iter().map(whole)).map(|x| format!("{:.0}", 100.0 * x));
    let apart = ends(runs.iter().map(|run| number(&run["composed"], "apart")))[2];
    assert!(apart < 1e-4, "{apart}");
    assert_quote!(
        "two_layers_paths_values",
        values(&[
            ("through", through.to_string()),
            ("by_scores", by_scores.to_string()),
            ("by_cuts", by_cuts.to_string()),
            ("second_least", least),
            ("second_most", most),
        ])
    );
}

/// Fresh models, what heads write rotated, and the same path of the other heads.
#[test]
fn the_controls_of_the_paths() {
    let runs = runs("two layers").unwrap();
    let (mut of_logits, mut of_scores) = (Vec::new(), Vec::new());
    let (mut fresh, mut others) = (Vec::new(), Vec::new());
    for run in &runs {
        let logits = by_layer(&run["composed"]);
        let scores = by_composition(&run["composed"]).unwrap();
        let part = largest(scores);
        for draw in run["rotated"].as_array().unwrap() {
            let [of_draw, scores_of_draw] =
                ["logits", "scores"].map(|key| numbers(&draw[key]).unwrap());
            of_logits.push(of_draw[2] / logits[2]);
            of_scores.push(scores_of_draw[part] / scores[part]);
        }
        let before = by_composition(&run["composed_before"]).unwrap();
        fresh.extend(before.map(|of_fresh| of_fresh.abs() / scores[part]));
        let head = measured::needed(run);
        let same_path = cut(run, ENDS[expected(run) - 1]);
        others.extend((0..4).filter(|&i| i != head).map(|i| same_path[i]));
    }
    // Fixed before the runs: less than half as much in each draw.
    let rotated = of_logits.iter().chain(&of_scores).map(|part: &f64| part.abs());
    let rotated_most = ends(rotated)[2];
    assert!(rotated_most < 0.5, "{rotated_most}");
    assert_quote!(
        "two_layers_paths_controls",
        values(&[
            ("draws", of_logits.len().to_string()),
            ("rotated_most", format!("{:.0} %", 100.0 * rotated_most)),
            ("fresh_most", format!("{:.0} %", 100.0 * ends(fresh)[2])),
            ("others_least", percent(ends(others)[0])),
        ])
    );
}
