//! What the page shows in which a reader asks what is wrong with a layer, and what it loads.

use crate::Asset;

/// What stands in the page by itself, and all there is where the module cannot run.
pub const COMMAND: &str = "cargo learn diagnose layer.safetensors --heads 8";

/// What the page loads beside the live figures' looks, in this order. The worker is that of
/// a reader's own sentence.
pub const LOADED: [Asset; 2] = [
    ("wrong-layer.css", include_str!("../wrong-layer/wrong-layer.css")),
    ("wrong-layer.js", include_str!("../wrong-layer/wrong-layer.js")),
];
