//! Where the tokens and the heads' numbers stand.

use plotly::common::{Anchor, AxisSide, Orientation, Side, Title};
use plotly::layout::{Axis, ItemSizing, Legend, Margin};
use serde_json::{Value, json, to_value};

use crate::Heads;
use crate::layout::{base, label_width, rounded, token_axis, with};

/// Pixels from one token to the next.
const PITCH: f64 = 24.0;
const EDGE: f64 = 10.0;
/// Between a token and its dot.
const STANDOFF: f64 = 6.0;

/// The heads' numbers beside the lines.
pub(super) fn wide(heads: &Heads) -> Value {
    const NUMBERS: f64 = 70.0;
    let (left, right) = sides(heads, 13);
    let lines = rows(heads).max(heads.count() as f64); // a number needs most of a token
    let margin = Margin::new()
        .left(left as usize)
        .right((right + NUMBERS) as usize)
        .top(EDGE as usize)
        .bottom((EDGE + (lines - rows(heads)) * PITCH) as usize);
    let legend = Legend::new().x(1.0).x_anchor(Anchor::Right).y(1.0);
    let mut layout = finished(heads, 13, lines * PITCH + 2.0 * EDGE, margin, legend);
    layout["legend"]["xref"] = json!("container"); // clear of the tokens at any width
    layout
}

/// The heads' numbers below the lines.
pub(super) fn narrow(heads: &Heads) -> Value {
    const WIDTH: f64 = 350.0;
    const A_NUMBER: (f64, f64) = (62.0, 19.0); // what plotly takes for it, in pixels
    let (left, right) = sides(heads, 12);
    let (across, down) = (WIDTH - left - right, rows(heads) * PITCH);
    let in_a_line = (across / A_NUMBER.0).max(1.0) as usize;
    let numbers = (heads.count().div_ceil(in_a_line) + 1) as f64 * A_NUMBER.1 + 20.0;
    let margin = Margin::new()
        .left(left as usize)
        .right(right as usize)
        .top(EDGE as usize)
        .bottom(numbers as usize);
    let legend = Legend::new()
        .orientation(Orientation::Horizontal)
        .x(0.0)
        .y(rounded(-EDGE / down))
        .y_anchor(Anchor::Top);
    finished(heads, 12, down + EDGE + numbers, margin, legend)
}

/// Room for the tokens on both sides.
fn sides(heads: &Heads, font_size: usize) -> (f64, f64) {
    let side = |tokens: &[String]| label_width(tokens, font_size) + STANDOFF;
    (side(&heads.queries), side(&heads.keys))
}

fn rows(heads: &Heads) -> f64 {
    heads.queries.len().max(heads.keys.len()) as f64
}

fn finished(
    heads: &Heads,
    font_size: usize,
    height: f64,
    margin: Margin,
    legend: Legend,
) -> Value {
    let down = vec![rows(heads) - 0.5, -0.5]; // token 0 at the top
    let hidden = Axis::new().visible(false).fixed_range(true).range(vec![-0.015, 1.015]);
    let right = token_axis(&heads.keys, font_size)
        .side(AxisSide::Right)
        .overlaying("y")
        .range(down.clone());
    let legend = legend
        .title(Title::with_text("head").side(Side::Top))
        .item_sizing(ItemSizing::Constant)
        .trace_group_gap(0);
    let layout = base(height, margin)
        .x_axis(hidden)
        .y_axis(token_axis(&heads.queries, font_size).range(down))
        .y_axis2(right)
        .show_legend(true)
        .legend(legend);
    with(
        to_value(layout),
        [
            ("yaxis.ticklabelstandoff", json!(STANDOFF)),
            ("yaxis2.ticklabelstandoff", json!(STANDOFF)),
            ("legend.entrywidth", json!(20)),
            // figures.js shows one head at a click; a notebook adds and removes heads.
            ("meta.legend", json!("one")),
        ],
    )
}
