//! By which paths the answer comes: margins split, one path cut alone, and their controls.

use attention::Matrix;
use lessons::numbers::ends;
use lessons::seeds::{numbers, rows};
use lessons::two_layers::runs;
use serde_json::Value;
use training::repeats::{Attribution, Composition, Margins};

use super::{number, percent};
use crate::quote::{Table, assert_quote, values};

/// The ends of a path.
const ENDS: [&str; 4] = ["queries", "keys", "values", "logits"];

/// The margins of a model, as they are kept.
fn margins(composed: &Value) -> Margins {
    let [scores, logits] = ["scores", "logits"].map(|key| {
        let rows = rows(&composed[key]).unwrap();
        Matrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
    });
    Margins { scores, logits, apart: f64::NAN }
}

/// The margin of scores from neither, Q-composition, K-composition and both.
fn by_composition(composed: &Value) -> [f64; 4] {
    let Composition { none, q, k, both } = margins(composed).by_composition();
    [none, q, k, both]
}

/// The margin of logits through no head, the first layer's, the second's and both.
fn by_layer(composed: &Value) -> [f64; 4] {
    let Attribution { none, first, second, both } = margins(composed).by_layer();
    [none, first, second, both]
}

/// What `carried` says of the needed head: a note is read by keys, a place by queries.
fn hands_on(run: &Value) -> (&'static str, usize) {
    let [which, place] = ["which", "place"].map(|half| number(&run["carried"], half));
    if which > place { ("token", 2) } else { ("place", 1) }
}

/// The score without each head in one kind of reader.
fn cut(run: &Value, end: &str) -> Vec<f64> {
    numbers(&run["without_path"][end]).unwrap()
}

fn largest(parts: [f64; 4]) -> usize {
    (0..4).max_by(|&a, &b| parts[a].total_cmp(&parts[b])).unwrap()
}

fn of_whole(part: f64, parts: [f64; 4]) -> String {
    format!("{:.0} %", 100.0 * part / parts.iter().sum::<f64>())
}

#[test]
fn the_paths_of_every_seed() {
    let mut table = Table::new([
        "seed",
        "hands on",
        "second layer",
        "neither",
        "Q",
        "K",
        "both",
        "queries",
        "keys",
        "values",
        "logits",
    ]);
    let runs = runs("two layers").unwrap();
    let [mut through, mut by_scores, mut by_cuts] = [0, 0, 0];
    for run in &runs {
        let (name, expected) = hands_on(run);
        let (logits, scores) =
            (by_layer(&run["composed"]), by_composition(&run["composed"]));
        let head = run["carried"]["head"].as_u64().unwrap() as usize;
        let cuts = ENDS.map(|end| cut(run, end)[head]);
        through += usize::from(logits[2] > 0.5 * logits.iter().sum::<f64>());
        by_scores += usize::from(largest(scores) == expected);
        // Q is read by queries, K by keys.
        by_cuts += usize::from(largest(cuts.map(|score| -score)) == expected - 1);
        let mut cells = vec![run["seed"].to_string(), name.to_owned()];
        cells.push(of_whole(logits[2], logits));
        cells.extend(scores.map(|part| of_whole(part, scores)));
        cells.extend(cuts.map(percent));
        let cells: [String; 11] = cells.try_into().unwrap();
        table.row(cells);
    }
    assert_quote!("two_layers_paths", table.text());
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
        let (_, expected) = hands_on(run);
        let (logits, scores) =
            (by_layer(&run["composed"]), by_composition(&run["composed"]));
        let part = largest(scores);
        for draw in run["rotated"].as_array().unwrap() {
            let [of_draw, scores_of_draw] =
                ["logits", "scores"].map(|key| numbers(&draw[key]).unwrap());
            of_logits.push(of_draw[2] / logits[2]);
            of_scores.push(scores_of_draw[part] / scores[part]);
        }
        let before = by_composition(&run["composed_before"]);
        fresh.extend(before.map(|of_fresh| of_fresh.abs() / scores[part]));
        let head = run["carried"]["head"].as_u64().unwrap() as usize;
        let same_path = cut(run, ENDS[expected - 1]);
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
