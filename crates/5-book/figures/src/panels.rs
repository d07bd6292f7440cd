//! Panels side by side where there is room, one above the other on a phone.
//!
//! plotly places axes by fractions of the plot's area and takes no account of their
//! labels: here every panel gets its room in pixels first.

use serde_json::{Value, json};

use crate::axis::{Axis, axis_name, layout_key};
use crate::layout::{base, formula, rounded};

/// What a wide layout is made for, in pixels; it stretches from there.
pub const WIDE: f64 = 750.0;
/// What a narrow one is made for.
pub const NARROW: f64 = 350.0;

/// Between panels, and between a panel and the next thing.
pub(crate) const GAP: f64 = 10.0;
/// The line over a panel.
pub(crate) const PANEL_TITLE: f64 = 20.0;

/// A pair of axes under a line of text.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Stands over it.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From the bottom up.
    pub y: Axis,
    /// In pixels; none is the width of its column.
    pub width: Option<f64>,
    /// In pixels.
    pub height: f64,
}

impl Panel {
    /// As wide as its column; `height` is in pixels.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, height: f64) -> Self {
        Self { title: title.into(), x, y, width: None, height }
    }
}

/// How panels lie and what room is left around each, in pixels.
pub struct Place {
    /// Of the whole figure.
    pub width: f64,
    /// How many panels lie side by side.
    pub n_columns: usize,
    /// For the labels of a panel's y axis.
    pub left: f64,
    /// Whether only the first panel of a row has such labels.
    pub left_once: bool,
    /// For the labels of a panel's x axis.
    pub below: f64,
    /// For a legend or a colour bar over all panels.
    pub above: f64,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            width: WIDE,
            n_columns: 1,
            left: 34.0,
            left_once: false,
            below: 38.0,
            above: 0.0,
        }
    }
}

impl Place {
    /// The width of a column.
    pub fn column(&self) -> f64 {
        let n = self.n_columns as f64;
        (self.width - self.left - (n - 1.0) * self.apart() - GAP) / n
    }

    /// From one column to the next.
    fn apart(&self) -> f64 {
        if self.left_once { GAP } else { GAP + self.left }
    }
}

/// The panels in reading order, the `nth` on the axes `axis_name("x", nth)`.
pub(crate) fn layout(panels: Vec<Panel>, place: &Place) -> Value {
    let column = place.column();
    let width = place.width - place.left - GAP;
    let tallest =
        |row: &[Panel]| row.iter().map(|panel| panel.height).fold(0.0, f64::max);
    let rows: Vec<f64> = panels.chunks(place.n_columns).map(tallest).collect();
    let around = PANEL_TITLE + place.below + GAP; // a panel's share of the height
    let height =
        rows.iter().sum::<f64>() + rows.len() as f64 * around - place.below - GAP;

    let margin = [place.left, GAP, place.above, place.below + GAP];
    let mut layout = base(height + place.above + place.below + GAP, margin);
    layout["showlegend"] = json!(place.above > 0.0);
    if place.above > 0.0 {
        layout["legend"] = legend(place.above / height);
    }

    let mut titles = Vec::new();
    let mut x = 0.0;
    for (nth, panel) in panels.into_iter().enumerate() {
        let row = nth / place.n_columns;
        if nth.is_multiple_of(place.n_columns) {
            x = 0.0;
        }
        let over: f64 = rows[..row].iter().sum::<f64>() + row as f64 * around;
        let y = height - over - PANEL_TITLE; // from the bottom, as plotly counts
        let right = x + panel.width.unwrap_or(column);
        let domains = [span(x, right, width), span(y - panel.height, y, height)];
        let axes = [("x", "y", panel.x), ("y", "x", panel.y)].into_iter().zip(domains);
        for ((letter, other, axis), domain) in axes {
            let axis = axis.with("domain", domain.to_vec());
            let mut axis = axis.with("anchor", axis_name(other, nth)).into_json();
            if axis.get("title").is_some() {
                axis["title"]["standoff"] = json!(6); // plotly's own is wider
            }
            layout[layout_key(letter, nth)] = axis;
        }
        // Where each panel has labels of its own, its title stands over them too.
        let outdent = if place.left_once { 0.0 } else { place.left };
        let title = shortened(&panel.title, right - x + outdent);
        titles.push(label(&title, [(x - outdent) / width, y / height]));
        x = right + place.apart();
    }
    layout["annotations"] = Value::Array(titles);
    layout
}

/// From pixels to the fractions that plotly places axes by.
fn span(from: f64, to: f64, whole: f64) -> [f64; 2] {
    [rounded((from / whole).max(0.0)), rounded((to / whole).min(1.0))]
}

/// As much of a text as has room in so many pixels.
fn shortened(plain: &str, room: f64) -> String {
    let most = (room / 5.4) as usize; // a letter of 12 pixels, on average
    if plain.chars().count() <= most {
        return plain.to_owned();
    }
    plain.chars().take(most.saturating_sub(1)).collect::<String>() + "…"
}

/// Text whose lower left corner is at this place of the plot's area.
pub(crate) fn label(plain: &str, [x, y]: [f64; 2]) -> Value {
    json!({
        "text": formula(plain), "showarrow": false, "font": { "size": 12 },
        "xref": "paper", "x": rounded(x), "xanchor": "left",
        "yref": "paper", "y": rounded(y), "yanchor": "bottom",
    })
}

/// Names in lines over the panels.
fn legend(above: f64) -> Value {
    json!({
        "orientation": "h",
        "x": 0.0, "xanchor": "left",
        "y": rounded(1.0 + above), "yanchor": "top",
    })
}
