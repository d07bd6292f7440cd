//! Questions in a chapter's page, figures that the reader draws first, and what is remembered.

use crate::Asset;

/// What was answered and drawn, on every page: the contents show it.
pub const PROGRESS: Asset = ("progress.js", include_str!("../predict/progress.js"));

/// What a page with questions loads, after [`PROGRESS`] and in this order.
pub const LOADED: [Asset; 3] = [
    ("predict.css", include_str!("../predict/predict.css")),
    ("predict-read.js", include_str!("../predict/read.js")),
    ("predict.js", include_str!("../predict/predict.js")),
];

/// What a page with a figure to draw loads, after the figures.
pub const DRAW: [Asset; 2] = [
    ("draw.css", include_str!("../predict/draw.css")),
    ("draw.js", include_str!("../predict/draw.js")),
];
