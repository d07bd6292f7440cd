//! Axes as plotly reads them: names, numbers, factors.

use serde_json::{Value, json};

use crate::escaped;
use crate::layout::{FAINT, Values, formula, rounded, set};
use crate::log_axis::ten_to;

/// An axis of a panel. It cannot be dragged or zoomed, so that a finger on the figure
/// scrolls the page.
#[derive(Debug, Clone)]
pub(crate) struct Axis(Value);

impl Axis {
    /// Names at 0, 1, 2, … and nothing else.
    pub(crate) fn names(names: &[String], font_size: usize) -> Self {
        let places = (0..names.len()).map(|at| at as f64);
        let axis = json!({
            "tickfont": { "size": font_size }, "ticklen": 0, "showgrid": false,
            "showline": false, "zeroline": false, "fixedrange": true,
        });
        Self(axis).at(places, names.iter().map(|name| escaped(name)))
    }

    /// Names from left to right.
    pub(crate) fn across(names: &[String], font_size: usize) -> Self {
        Self::names(names, font_size).range([-0.5, names.len() as f64 - 0.5])
    }

    /// Names from the top down.
    pub(crate) fn down(names: &[String], font_size: usize) -> Self {
        Self::names(names, font_size).range([names.len() as f64 - 0.5, -0.5])
    }

    /// Numbers from 0 to `end`, with faint lines across the panel.
    pub(crate) fn numbers(end: f64) -> Self {
        Self::between([0.0, end])
    }

    /// Numbers from one end to the other.
    pub(crate) fn between([from, to]: [f64; 2]) -> Self {
        let axis = json!({
            "nticks": 5, "tickfont": { "size": 11 }, "ticklen": 0, "gridcolor": FAINT,
            "zerolinecolor": FAINT, "fixedrange": true,
        });
        Self(axis).titled("").range([rounded(from), rounded(to)])
    }

    /// From the power of ten below `least` to the one above `most`, with at most seven
    /// lines, each named by its power. Each step is a factor.
    pub(crate) fn decades([least, most]: [f64; 2], name: fn(i32) -> String) -> Self {
        let first = least.log10().floor() as i32;
        let last = (most.log10().ceil() as i32).max(first + 1);
        let step = (last - first + 5) / 6;
        let powers: Vec<i32> =
            (0..7).map(|nth| last - nth * step).filter(|&power| power >= first).collect();
        let names = powers.iter().map(|&power| name(power));
        let places = powers.iter().map(|&power| ten_to(power));
        Self::factors(places, names).range([f64::from(first), f64::from(last)])
    }

    /// With these lines, each step a factor. Its range is given in powers of ten.
    pub(crate) fn factors(places: impl Values, names: impl Values) -> Self {
        let axis = json!({
            "type": "log", "tickfont": { "size": 11 }, "ticklen": 0, "gridcolor": FAINT,
            "fixedrange": true,
        });
        Self(axis).at(places, names)
    }

    /// An axis without lines, for places that are not numbers.
    pub(crate) fn bare(range: [f64; 2]) -> Self {
        let axis = json!({
            "showgrid": false, "zeroline": false, "ticklen": 0, "fixedrange": true,
        });
        Self(axis).range(range)
    }

    /// An axis that is not seen.
    pub(crate) fn hidden(range: [f64; 2]) -> Self {
        Self(json!({ "visible": false, "fixedrange": true })).range(range)
    }

    /// With what it measures, in small letters.
    pub(crate) fn titled(self, plain: &str) -> Self {
        let title = json!({ "text": formula(plain), "font": { "size": 11 } });
        self.with("title", title)
    }

    /// From one end to the other, of which the second may be the smaller.
    pub(crate) fn range(self, range: [f64; 2]) -> Self {
        self.with("range", range.to_vec())
    }

    /// With lines at these places, and their names.
    pub(crate) fn at(self, places: impl Values, names: impl Values) -> Self {
        self.with("tickvals", places.json()).with("ticktext", names.json())
    }

    /// With its names from the bottom up, where they have no room side by side.
    pub(crate) fn upright(self) -> Self {
        self.with("tickangle", -90.0)
    }

    /// With or without its names.
    pub(crate) fn labelled(self, is_labelled: bool) -> Self {
        self.with("showticklabels", is_labelled)
    }

    /// With a field of plotly's.
    pub(crate) fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        set(&mut self.0, path, value.into());
        self
    }

    pub(crate) fn into_json(self) -> Value {
        self.0
    }
}

/// How a trace names its axis: `x`, `x2`, …
pub(crate) fn axis_name(letter: &str, nth: usize) -> String {
    if nth == 0 { letter.to_owned() } else { format!("{letter}{}", nth + 1) }
}

/// How the layout names it: `xaxis`, `xaxis2`, …
pub(crate) fn layout_key(letter: &str, nth: usize) -> String {
    axis_name(&format!("{letter}axis"), nth)
}
