//! Where the tokens and the heads' numbers stand.

use crate::Heads;
use crate::axis::Axis;
use crate::layout::label_width;
use crate::spec::{Axes, Layout, Legend};

/// Pixels from one token to the next.
const PITCH: f64 = 24.0;
const EDGE: f64 = 10.0;
/// Between a token and its dot.
const STANDOFF: f64 = 6.0;

/// For a page: figures.js makes a button a head.
pub(super) fn wide(heads: &Heads) -> Layout {
    with_buttons(heads, 13)
}

/// The same in smaller letters.
pub(super) fn narrow(heads: &Heads) -> Layout {
    with_buttons(heads, 12)
}

/// For a notebook: plotly's legend beside the lines. A click adds or removes a head.
pub(super) fn notebook(heads: &Heads) -> Layout {
    const NUMBERS: f64 = 70.0;
    let lines = rows(heads).max(heads.count() as f64); // a number needs most of a token
    let below = (lines - rows(heads)) * PITCH;
    Layout { legend: Legend::Beside, ..lines_between(heads, 13, NUMBERS, below) }
}

fn with_buttons(heads: &Heads, font_size: usize) -> Layout {
    Layout { choose: Some("head"), ..lines_between(heads, font_size, 0.0, 0.0) }
}

fn rows(heads: &Heads) -> f64 {
    heads.queries.len().max(heads.keys.len()) as f64
}

/// Tokens on both sides, with so much more room to the right and below.
fn lines_between(heads: &Heads, font_size: usize, right: f64, below: f64) -> Layout {
    let side = |tokens: &[String]| label_width(tokens, font_size) + STANDOFF;
    let margin = [side(&heads.queries), side(&heads.keys) + right, EDGE, EDGE + below];
    let tokens = |tokens: &[String]| {
        Axis::names(tokens, font_size)
            .range([rows(heads) - 0.5, -0.5]) // token 0 at the top
            .apart(STANDOFF)
    };
    let side = |tokens_of: &[String], over: Option<bool>| Axes {
        x: Axis::hidden([-0.015, 1.015]),
        y: tokens(tokens_of),
        place: None,
        over,
    };
    let panels = vec![side(&heads.queries, None), side(&heads.keys, Some(true))];
    let height = rows(heads) * PITCH + 2.0 * EDGE + below;
    Layout { panels, ..Layout::new(height, margin) }
}
