//! The files that a page needs once, whatever the number of its figures.
//!
//! A builder writes each to its name and loads the style sheet and the two scripts, both
//! deferred and in this order. Nothing is fetched from another host.

/// plotly.js, the bundle of cartesian traces (scatter, bar, heat map, …), MIT licence.
///
/// Its version is the one that the `plotly` crate writes figures for.
pub const PLOTLY_JS: &str = include_str!("../assets/plotly-cartesian-3.0.1.min.js");

/// The licence that must lie beside [`PLOTLY_JS`].
pub const PLOTLY_LICENCE: &str = include_str!("../assets/plotly-LICENSE.txt");

/// Draws every figure of a page, in the colours of its theme and to fit its width.
pub const FIGURES_JS: &str = include_str!("../assets/figures.js");

/// Sizes and spacing of a figure, before and after it is drawn.
pub const FIGURES_CSS: &str = include_str!("../assets/figures.css");

/// Each asset with the file name that pages should load it by.
pub const ALL: [(&str, &str); 4] = [
    ("figures.css", FIGURES_CSS),
    ("plotly-cartesian-3.0.1.min.js", PLOTLY_JS),
    ("figures.js", FIGURES_JS),
    ("plotly-LICENSE.txt", PLOTLY_LICENCE),
];
