//! Panels side by side where there is room, one above the other on a phone.
//!
//! Axes are placed by parts of the area within the margin, which take no account of their
//! labels: here every panel gets its room in pixels first.

use crate::axis::Axis;
use crate::layout::{formula, rounded};
use crate::spec::{Axes, Extent, Label, Layout, Legend};

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
    /// Whether it has a row of its own, as wide as all.
    pub is_whole: bool,
}

impl Panel {
    /// As wide as its column; `height` is in pixels.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, height: f64) -> Self {
        Self { title: title.into(), x, y, width: None, height, is_whole: false }
    }

    /// In a row of its own.
    pub fn whole(self) -> Self {
        Self { is_whole: true, ..self }
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

/// The panels in reading order.
pub(crate) fn layout(panels: Vec<Panel>, place: &Place) -> Layout {
    let column = place.column();
    let width = place.width - place.left - GAP;
    let row_of = rows(&panels, place.n_columns);
    let mut rows = vec![0.0; row_of.last().map_or(0, |last| last + 1)];
    for (panel, &row) in panels.iter().zip(&row_of) {
        rows[row] = panel.height.max(rows[row]);
    }
    let around = PANEL_TITLE + place.below + GAP; // a panel's share of the height
    let height =
        rows.iter().sum::<f64>() + rows.len() as f64 * around - place.below - GAP;

    let margin = [place.left, GAP, place.above, place.below + GAP];
    let mut layout = Layout::new(height + place.above + place.below + GAP, margin);
    if place.above > 0.0 {
        let at = rounded(1.0 + place.above / height);
        layout.legend = Legend::Above { at, is_shown: true, in_order: false };
    }
    let mut x = 0.0;
    let mut row_before = None;
    for (panel, row) in panels.into_iter().zip(row_of) {
        let Panel { title, x: x_axis, y: y_axis, width: own, height: tall, is_whole } =
            panel;
        if row_before.replace(row) != Some(row) {
            x = 0.0;
        }
        let over: f64 = rows[..row].iter().sum::<f64>() + row as f64 * around;
        let y = height - over - PANEL_TITLE; // from the bottom
        let right = x + own.unwrap_or(if is_whole { width } else { column });
        let [across, up] = [span(x, right, width), span(y - tall, y, height)];
        let place_of = Some(Extent { across, up });
        layout.panels.push(Axes { x: x_axis, y: y_axis, place: place_of, over: None });
        // Where each panel has labels of its own, its title stands over them too.
        let outdent = if place.left_once { 0.0 } else { place.left };
        let text = formula(&shortened(&title, right - x + outdent));
        let [left, top] = [(x - outdent) / width, y / height].map(rounded);
        layout.labels.push(Label { text, x: left, y: top });
        x = right + place.apart();
    }
    layout
}

/// The row of each panel: so many to a row, but for those that have one of their own.
fn rows(panels: &[Panel], n_columns: usize) -> Vec<usize> {
    let (mut row, mut n_in_row) = (0, 0);
    let row_of = |panel: &Panel| {
        if n_in_row > 0 && (panel.is_whole || n_in_row >= n_columns) {
            (row, n_in_row) = (row + 1, 0);
        }
        n_in_row += if panel.is_whole { n_columns } else { 1 };
        row
    };
    panels.iter().map(row_of).collect()
}

/// From pixels to the parts of the whole that axes are placed by.
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
