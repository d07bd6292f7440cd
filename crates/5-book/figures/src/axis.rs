//! The axes of a panel: names, numbers, factors.

use serde::Serialize;
use serde_json::{Number, Value};

use crate::escaped;
use crate::layout::{Values, formula, rounded};
use crate::log_axis::ten_to;

/// An axis of a panel. It cannot be dragged or zoomed, so that a finger on the figure
/// scrolls the page.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Axis {
    #[serde(skip)]
    pub(crate) kind: Kind,
    /// Powers of ten where each step is a factor.
    pub(crate) range: Option<[f64; 2]>,
    /// Whether each step is a factor.
    pub(crate) log: Option<bool>,
    /// Whether it is not seen.
    pub(crate) hidden: Option<bool>,
    /// Whether there are lines across the panel.
    pub(crate) lines: bool,
    /// About how many, where they have no places.
    pub(crate) n_lines: Option<usize>,
    /// Where lines and names are.
    pub(crate) places: Option<Vec<Number>>,
    pub(crate) names: Option<Vec<String>>,
    /// Of the letters of the names.
    pub(crate) size: Option<usize>,
    /// Whether the names are seen.
    pub(crate) labelled: Option<bool>,
    /// How the names are turned.
    pub(crate) angle: Option<f64>,
    /// More pixels between the panel and the names.
    pub(crate) standoff: Option<Number>,
    /// What it measures, as a page reads it.
    pub(crate) title: Option<String>,
    /// The same, as it was given.
    #[serde(skip)]
    plain: String,
    #[serde(skip)]
    tick_names: Option<Vec<String>>,
    #[serde(skip)]
    pub(crate) has_dark_zero: bool,
}

/// What an axis was made for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    Names,
    Numbers,
    Factors,
    #[default]
    Bare,
    Hidden,
}

impl Axis {
    /// Names at 0, 1, 2, … and nothing else.
    pub fn names(names: &[String], font_size: usize) -> Self {
        let places = (0..names.len()).map(|at| at as f64);
        let axis = Self { size: Some(font_size), ..Self::of(Kind::Names) };
        let axis = axis.at(places, names.iter().map(|name| escaped(name)));
        Self { tick_names: Some(names.to_vec()), ..axis }
    }

    fn of(kind: Kind) -> Self {
        let has_lines = matches!(kind, Kind::Numbers | Kind::Factors);
        Self {
            kind,
            log: (kind == Kind::Factors).then_some(true),
            hidden: (kind == Kind::Hidden).then_some(true),
            lines: has_lines,
            n_lines: (kind == Kind::Numbers).then_some(5),
            size: has_lines.then_some(11),
            ..Self::default()
        }
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
        Self::of(Kind::Numbers).titled("").range([rounded(from), rounded(to)])
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
        Self::of(Kind::Factors).at(places, names)
    }

    /// An axis without lines, for places that are not numbers.
    pub fn bare(range: [f64; 2]) -> Self {
        Self::of(Kind::Bare).range(range)
    }

    /// An axis that is not seen.
    pub fn hidden(range: [f64; 2]) -> Self {
        Self::of(Kind::Hidden).range(range)
    }

    /// With what it measures, in small letters.
    pub fn titled(self, plain: &str) -> Self {
        Self { title: Some(formula(plain)), plain: plain.to_owned(), ..self }
    }

    /// From one end to the other, of which the second may be the smaller.
    pub fn range(self, range: [f64; 2]) -> Self {
        Self { range: Some(range), ..self }
    }

    /// With lines at these places, and their names.
    pub fn at(self, places: impl Values, names: impl Values) -> Self {
        Self { names: Some(names.texts()), ..self.numbered_at(places) }
    }

    /// With lines at these places, each named by its number.
    pub fn numbered_at(self, places: impl Values) -> Self {
        Self { places: Some(places.column().into_iter().flatten().collect()), ..self }
    }

    /// With its names from the bottom up, where they have no room side by side.
    pub fn upright(self) -> Self {
        Self { angle: Some(-90.0), ..self }
    }

    /// With its names side by side, however many there are.
    pub fn level(self) -> Self {
        Self { angle: Some(0.0), ..self }
    }

    /// With or without its names.
    pub fn labelled(self, is_labelled: bool) -> Self {
        Self { labelled: Some(is_labelled), ..self }
    }

    /// With numbers in as few letters as it can be: `20k`.
    pub fn in_short(self) -> Self {
        Self { n_lines: Some(4), ..self }
    }

    /// Without lines across the panel.
    pub fn without_lines(self) -> Self {
        Self { lines: false, ..self }
    }

    /// With a line at 0 that is seen before the others.
    pub(crate) fn dark_zero(self) -> Self {
        Self { has_dark_zero: true, ..self }
    }

    /// With so many more pixels between the panel and the names.
    pub(crate) fn apart(self, pixels: impl Into<Value>) -> Self {
        Self { standoff: crate::layout::as_number(pixels), ..self }
    }

    /// Whether each step is a factor.
    pub(crate) fn is_log(&self) -> bool {
        self.kind == Kind::Factors
    }

    pub(crate) fn title(&self) -> &str {
        &self.plain
    }

    /// The names at 0, 1, 2, …, if it has names.
    pub(crate) fn tick_names(&self) -> Option<&[String]> {
        self.tick_names.as_deref()
    }
}
