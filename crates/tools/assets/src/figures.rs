//! What a page loads once, whatever the number of its figures.
//!
//! A page loads the style sheet and the scripts, deferred and in this order; what draws
//! along axes only where a figure has axes. Nothing is fetched from another host.

use crate::Asset;

/// What draws along axes, as SVG, in the order that it is loaded in, before [`LOADED`].
pub const PLOT: [Asset; 6] = [
    ("figure-axes.js", include_str!("../figures/axes.js")),
    ("figure-svg.js", include_str!("../figures/svg.js")),
    ("figure-marks.js", include_str!("../figures/marks.js")),
    ("figure-grips.js", include_str!("../figures/grips.js")),
    ("figure-plot.js", include_str!("../figures/plot.js")),
    ("figure-tip.js", include_str!("../figures/tip.js")),
];

/// Lets the diagrams of a page move, before [`LOADED`]: where figures are live.
pub const MOTION: Asset = ("figure-motion.js", include_str!("../figures/motion.js"));

/// Writes out the sum of a product's entry: where a diagram has such, or a live one may.
pub const SUMS: Asset = ("figure-sums.js", include_str!("../figures/sums.js"));

/// What every page with a figure loads: sizes and spacing before and after it is drawn, and
/// what shows it in the colours of the page's theme, to fit its width, or the whole screen.
pub const LOADED: [Asset; 3] = [
    ("figures.css", include_str!("../figures/figures.css")),
    ("figures.js", include_str!("../figures/figures.js")),
    ("figure-full-screen.js", include_str!("../figures/full-screen.js")),
];
