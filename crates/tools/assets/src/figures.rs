//! What a page loads once, whatever the number of its figures.
//!
//! A page loads the style sheet and the two scripts, both deferred and in this order.
//! Nothing is fetched from another host.

use crate::Asset;

/// plotly.js, the bundle of cartesian traces (scatter, bar, heat map, …), MIT licence.
///
/// Its version is the one that the crate `figures` writes figures for.
pub const PLOTLY_JS: &str = include_str!("../figures/plotly-cartesian-3.0.1.min.js");

/// The licence that must lie beside [`PLOTLY_JS`].
pub const PLOTLY_LICENCE: &str = include_str!("../figures/plotly-LICENSE.txt");

/// Draws every figure of a page, in the colours of its theme and to fit its width.
pub const FIGURES_JS: &str = include_str!("../figures/figures.js");

/// Sizes and spacing of a figure, before and after it is drawn.
pub const FIGURES_CSS: &str = include_str!("../figures/figures.css");

/// Each asset with the file name that pages should load it by.
pub const ALL: [Asset; 4] = [
    ("figures.css", FIGURES_CSS),
    ("plotly-cartesian-3.0.1.min.js", PLOTLY_JS),
    ("figures.js", FIGURES_JS),
    ("plotly-LICENSE.txt", PLOTLY_LICENCE),
];
