//! Axes as plotly reads them: names, numbers, factors.

use serde_json::{Value, json};

use crate::escaped;
use crate::layout::{FAINT, Values, formula, rounded, set};
use crate::log_axis::ten_to;

/// An axis of a panel. It cannot be dragged or zoomed, so that a finger on the figure
/// scrolls the page.
#[derive(Debug, Clone)]
pub struct Axis {
    json: Value,
    title: String,
    names: Option<Vec<String>>,
}

impl Axis {
    /// Names at 0, 1, 2, … and nothing else.
    pub fn names(names: &[String], font_size: usize) -> Self {
        let places = (0..names.len()).map(|at| at as f64);
        let axis = json!({
            "tickfont": { "size": font_size }, "ticklen": 0, "showgrid": false,
            "showline": false, "zeroline": false, "fixedrange": true,
        });
        let axis = Self::of(axis).at(places, names.iter().map(|name| escaped(name)));
        Self { names: Some(names.to_vec()), ..axis }
    }

    fn of(json: Value) -> Self {
        Self { json, title: String::new(), names: None }
    }

    /// Names from left to right.
    pub fn across(names: &[String], font_size: usize) -> Self {
        Self::names(names, font_size).range([-0.5, names.len() as f64 - 0.5])
    }

    /// Names from the top down.
    pub fn down(names: &[String], font_size: usize) -> Self {
        Self::names(names, font_size).range([names.len() as f64 - 0.5, -0.5])
    }

    /// Numbers from 0 to `end`, with faint lines across the panel.
    pub fn numbers(end: f64) -> Self {
        Self::between([0.0, end])
    }

    /// Numbers from one end to the other.
    pub fn between([from, to]: [f64; 2]) -> Self {
        let axis = json!({
            "nticks": 5, "tickfont": { "size": 11 }, "ticklen": 0, "gridcolor": FAINT,
            "zerolinecolor": FAINT, "fixedrange": true,
        });
        Self::of(axis).titled("").range([rounded(from), rounded(to)])
    }

    /// From the power of ten below `least` to the one above `most`, with at most seven
    /// lines, each named by its power. Each step is a factor. Where there is nothing with a
    /// logarithm, there is still an axis, from 0.1 to 1.
    pub fn decades([least, most]: [f64; 2], name: fn(i32) -> String) -> Self {
        let are_ends = 0.0 < least && least <= most && most.is_finite();
        let [least, most] = if are_ends { [least, most] } else { [0.1, 1.0] };
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
    pub fn factors(places: impl Values, names: impl Values) -> Self {
        let axis = json!({
            "type": "log", "tickfont": { "size": 11 }, "ticklen": 0, "gridcolor": FAINT,
            "fixedrange": true,
        });
        Self::of(axis).at(places, names)
    }

    /// An axis without lines, for places that are not numbers.
    pub fn bare(range: [f64; 2]) -> Self {
        let axis = json!({
            "showgrid": false, "zeroline": false, "ticklen": 0, "fixedrange": true,
        });
        Self::of(axis).range(range)
    }

    /// An axis that is not seen.
    pub fn hidden(range: [f64; 2]) -> Self {
        Self::of(json!({ "visible": false, "fixedrange": true })).range(range)
    }

    /// With what it measures, in small letters.
    pub fn titled(mut self, plain: &str) -> Self {
        plain.clone_into(&mut self.title);
        let title = json!({ "text": formula(plain), "font": { "size": 11 } });
        self.with("title", title)
    }

    /// From one end to the other, of which the second may be the smaller.
    pub fn range(self, range: [f64; 2]) -> Self {
        self.with("range", range.to_vec())
    }

    /// With lines at these places, and their names.
    pub fn at(self, places: impl Values, names: impl Values) -> Self {
        self.with("tickvals", places.json()).with("ticktext", names.json())
    }

    /// With its names from the bottom up, where they have no room side by side.
    pub fn upright(self) -> Self {
        self.with("tickangle", -90.0)
    }

    /// With or without its names.
    pub fn labelled(self, is_labelled: bool) -> Self {
        self.with("showticklabels", is_labelled)
    }

    /// With a field of plotly's.
    pub fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        set(&mut self.json, path, value.into());
        self
    }

    /// Whether each step is a factor.
    pub(crate) fn is_log(&self) -> bool {
        self.json["type"] == "log"
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// The names at 0, 1, 2, …, if it has names.
    pub(crate) fn tick_names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    pub(crate) fn into_json(self) -> Value {
        self.json
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
