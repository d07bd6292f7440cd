//! Bars that lie under one another, each with its name before it and its number written in
//! it, or beside it where it is short.

use serde_json::{Result, Value, json};

use crate::layout::{formula, number_axis, token_axis, with};
use crate::panels::{self, Panel, Place};

/// Bars, with their texts in them where they fit.
pub(crate) fn written_in(bars: Result<Value>) -> Value {
    with(
        bars,
        [
            ("textposition", json!("auto")), // inside where it fits
            ("textangle", json!(0)),
            ("insidetextanchor", json!("start")),
            ("insidetextfont.color", json!("#fff")),
            ("cliponaxis", json!(false)),
        ],
    )
}

/// The panel of bars of these names, on an axis up to `most`.
pub(crate) fn panel<'a>(
    title: String,
    names: impl Iterator<Item = &'a str>,
    most: f64,
) -> Panel {
    let names: Vec<String> = names.map(formula).collect();
    let n = names.len() as f64;
    let y = token_axis(&[], 13)
        .tick_values((0..names.len()).map(|at| at as f64).collect())
        .tick_text(names)
        .range(vec![n - 0.5, -0.5]); // the first on top
    let x = number_axis(most * 1.02, "").tick_format("~s").n_ticks(4);
    Panel { title, x, y, width: None, height: n * 26.0 }
}

/// Such panels, `left` pixels for the names.
pub(crate) fn layout(
    panels: Vec<Panel>,
    width: f64,
    most_columns: usize,
    left: f64,
) -> Value {
    let place = Place {
        width,
        n_columns: most_columns.min(panels.len()),
        left,
        left_once: false,
        below: 20.0,
        above: 0.0,
    };
    let mut layout = panels::layout(panels, &place);
    layout["bargap"] = json!(0.25);
    layout
}
