//! Panels of traces, and the figure that they make.
//!
//! ```text
//! Axis, Axis ─▶ Panel ─┐
//! Trace ───────────────┴▶ Chart ─┐
//! Table ─▶ Text ─────────────────┴▶ Figure
//! ```
//!
//! A figure says what it has of its own: its panels, its traces, its tables and a sentence.
//! Where panels lie, what a phone shows, and how a table is sketched follow. What does not
//! fit is set as a field of plotly's, by `with` or in [`Chart::fields`].

use serde_json::Value;

use crate::layout::{legend_lines, with};
use crate::panels::{self, NARROW, Panel, Place, WIDE};
use crate::trace::Trace;
use crate::{Figure, Table, sketch};

/// Panels side by side where there is room, one above the other on a phone.
pub(crate) struct Chart {
    pub(crate) panels: Vec<Panel>,
    pub(crate) traces: Vec<Trace>,
    /// Where there is room; a phone has one.
    pub(crate) n_columns: usize,
    /// For the labels of a panel's y axis, in pixels.
    pub(crate) left: f64,
    /// Whether a panel's title stands over its plot, and not over its labels too.
    pub(crate) left_once: bool,
    /// For the labels of a panel's x axis.
    pub(crate) below: f64,
    /// For a legend over all panels, where there is room and on a phone.
    pub(crate) above: [f64; 2],
    /// Fields of the layout, in both.
    pub(crate) fields: Vec<(&'static str, Value)>,
}

impl Default for Chart {
    fn default() -> Self {
        Self {
            panels: Vec::new(),
            traces: Vec::new(),
            n_columns: 1,
            left: Place::default().left,
            left_once: false,
            below: Place::default().below,
            above: [0.0; 2],
            fields: Vec::new(),
        }
    }
}

/// What a figure says without being drawn.
pub(crate) struct Text {
    pub(crate) alternative: String,
    pub(crate) sketch: String,
    pub(crate) tables: Vec<Table>,
}

impl Text {
    /// The sketch is the tables.
    pub(crate) fn of_tables(alternative: String, tables: Vec<Table>) -> Self {
        Self { alternative, sketch: sketch::tables(&tables), tables }
    }

    /// The sketch is the tables under their captions.
    pub(crate) fn of_captioned(alternative: String, tables: Vec<Table>) -> Self {
        Self { alternative, sketch: sketch::captioned(&tables), tables }
    }
}

impl Chart {
    pub(crate) fn figure(self, title: impl Into<String>, text: Text) -> Figure {
        let layouts = [0, 1].map(|at| self.layout(at));
        figure(title, text, self.traces, layouts)
    }

    /// Where there is room (0), and on a phone (1).
    fn layout(&self, at: usize) -> Value {
        let place = Place {
            width: [WIDE, NARROW][at],
            n_columns: [self.n_columns, 1][at],
            left: self.left,
            left_once: self.left_once,
            below: self.below,
            above: self.above[at],
        };
        with(panels::layout(self.panels.clone(), &place), self.fields.iter().cloned())
    }
}

/// A figure whose two layouts, wide and narrow, differ in more than a [`Chart`]'s.
pub(crate) fn figure(
    title: impl Into<String>,
    Text { alternative, sketch, tables }: Text,
    traces: Vec<Trace>,
    [wide, narrow]: [Value; 2],
) -> Figure {
    Figure {
        title: title.into(),
        alternative,
        sketch,
        tables,
        traces: traces.into_iter().map(Trace::into_json).collect(),
        wide,
        narrow,
        notebook: None,
    }
}

/// Room for a legend of these names, where there is room and on a phone.
pub(crate) fn above_for<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    around: f64,
) -> [f64; 2] {
    [WIDE, NARROW].map(|width| around + 20.0 * legend_lines(names.clone(), width))
}
