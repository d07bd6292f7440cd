//! Where the tokens and the heads' numbers stand.

use serde_json::{Value, json};

use crate::Heads;
use crate::axis::Axis;
use crate::layout::{base, label_width, with};

/// Pixels from one token to the next.
const PITCH: f64 = 24.0;
const EDGE: f64 = 10.0;
/// Between a token and its dot.
const STANDOFF: f64 = 6.0;

/// For a page: figures.js makes a button a head.
pub(super) fn wide(heads: &Heads) -> Value {
    with_buttons(heads, 13)
}

/// The same in smaller letters.
pub(super) fn narrow(heads: &Heads) -> Value {
    with_buttons(heads, 12)
}

/// For a notebook: plotly's legend beside the lines. A click adds or removes a head.
pub(super) fn notebook(heads: &Heads) -> Value {
    const NUMBERS: f64 = 70.0;
    let lines = rows(heads).max(heads.count() as f64); // a number needs most of a token
    let below = (lines - rows(heads)) * PITCH;
    let legend = json!({
        "x": 1.0, "xanchor": "right", "y": 1.0, "title": { "text": "head", "side": "top" },
        "itemsizing": "constant", "tracegroupgap": 0, "entrywidth": 20,
        "xref": "container", // clear of the tokens at any width
    });
    let layout = lines_between(heads, 13, NUMBERS, below);
    with(layout, [("showlegend", json!(true)), ("legend", legend)])
}

fn with_buttons(heads: &Heads, font_size: usize) -> Value {
    let choose = ("meta.choose", json!("head")); // what figures.js calls the buttons
    let layout = lines_between(heads, font_size, 0.0, 0.0);
    with(layout, [("showlegend", json!(false)), choose])
}

fn rows(heads: &Heads) -> f64 {
    heads.queries.len().max(heads.keys.len()) as f64
}

/// Tokens on both sides, with so much more room to the right and below.
fn lines_between(heads: &Heads, font_size: usize, right: f64, below: f64) -> Value {
    let side = |tokens: &[String]| label_width(tokens, font_size) + STANDOFF;
    let margin = [side(&heads.queries), side(&heads.keys) + right, EDGE, EDGE + below];
    let tokens = |tokens: &[String]| {
        Axis::names(tokens, font_size)
            .range([rows(heads) - 0.5, -0.5]) // token 0 at the top
            .with("ticklabelstandoff", STANDOFF)
    };
    let queries = tokens(&heads.queries);
    let keys = tokens(&heads.keys).with("side", "right").with("overlaying", "y");
    let axes = [
        ("xaxis", Axis::hidden([-0.015, 1.015]).into_json()),
        ("yaxis", queries.into_json()),
        ("yaxis2", keys.into_json()),
    ];
    with(base(rows(heads) * PITCH + 2.0 * EDGE + below, margin), axes)
}
