//! What a page loads once, whatever the number of its figures.
//!
//! A page loads the style sheet and the scripts, deferred and in this order; plotly.js only
//! where a figure has axes. Nothing is fetched from another host.

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

/// What draws along axes, with the file names that a page with such a figure loads it by,
/// before [`LOADED`].
pub const PLOTLY: [Asset; 2] = [
    ("plotly-cartesian-3.0.1.min.js", PLOTLY_JS),
    ("plotly-LICENSE.txt", PLOTLY_LICENCE),
];

/// What every page with a figure loads.
pub const LOADED: [Asset; 2] = [("figures.css", FIGURES_CSS), ("figures.js", FIGURES_JS)];
