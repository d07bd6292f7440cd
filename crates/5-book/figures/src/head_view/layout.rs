//! Where the tokens and the heads' numbers stand.

use plotly::common::{Anchor, AxisSide, Side, Title};
use plotly::layout::{Axis, ItemSizing, Layout, Legend, Margin};
use serde_json::{Value, json, to_value};

use crate::Heads;
use crate::layout::{base, label_width, token_axis, with};

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
    let legend = Legend::new()
        .x(1.0)
        .x_anchor(Anchor::Right)
        .y(1.0)
        .title(Title::with_text("head").side(Side::Top))
        .item_sizing(ItemSizing::Constant)
        .trace_group_gap(0);
    let layout = lines_between(heads, 13, NUMBERS, below);
    with(
        to_value(layout.show_legend(true).legend(legend)),
        [
            ("yaxis.ticklabelstandoff", json!(STANDOFF)),
            ("yaxis2.ticklabelstandoff", json!(STANDOFF)),
            ("legend.entrywidth", json!(20)),
            ("legend.xref", json!("container")), // clear of the tokens at any width
        ],
    )
}

fn with_buttons(heads: &Heads, font_size: usize) -> Value {
    let layout = lines_between(heads, font_size, 0.0, 0.0).show_legend(false);
    with(
        to_value(layout),
        [
            ("yaxis.ticklabelstandoff", json!(STANDOFF)),
            ("yaxis2.ticklabelstandoff", json!(STANDOFF)),
            ("meta.choose", json!("head")), // what figures.js calls the buttons
        ],
    )
}

fn rows(heads: &Heads) -> f64 {
    heads.queries.len().max(heads.keys.len()) as f64
}

/// Tokens on both sides, with so much more room to the right and below.
fn lines_between(heads: &Heads, font_size: usize, right: f64, below: f64) -> Layout {
    let side = |tokens: &[String]| label_width(tokens, font_size) + STANDOFF;
    let margin = Margin::new()
        .left(side(&heads.queries) as usize)
        .right((side(&heads.keys) + right) as usize)
        .top(EDGE as usize)
        .bottom((EDGE + below) as usize);
    let down = vec![rows(heads) - 0.5, -0.5]; // token 0 at the top
    let hidden = Axis::new().visible(false).fixed_range(true).range(vec![-0.015, 1.015]);
    let keys = token_axis(&heads.keys, font_size)
        .side(AxisSide::Right)
        .overlaying("y")
        .range(down.clone());
    base(rows(heads) * PITCH + 2.0 * EDGE + below, margin)
        .x_axis(hidden)
        .y_axis(token_axis(&heads.queries, font_size).range(down))
        .y_axis2(keys)
}
