//! What makes a page's figures live.

use crate::Asset;

/// Looks of the controls.
pub const LIVE_CSS: &str = include_str!("../live/live.css");

/// Makes controls.
pub const CONTROLS_JS: &str = include_str!("../live/controls.js");

/// Opens the module, once in a page.
pub const MODULE_JS: &str = include_str!("../live/module.js");

/// Asks questions, one at a time.
pub const QUESTIONS_JS: &str = include_str!("../live/questions.js");

/// Lets arrows be dragged.
pub const HANDLES_JS: &str = include_str!("../live/handles.js");

/// Paints on maps.
pub const BRUSH_JS: &str = include_str!("../live/brush.js");

/// Makes the figures of a page live.
pub const LIVE_JS: &str = include_str!("../live/live.js");

/// Runs the module, beside the page.
pub const WORKER_JS: &str =
    concat!(include_str!("../live/host.js"), include_str!("../live/live-worker.js"));

/// What every page loads that asks the module.
pub const MODULE: Asset = ("live-module.js", MODULE_JS);

/// What a page with live figures loads, after [`MODULE`] and in this order, with the names
/// to load it by.
pub const LOADED: [Asset; 6] = [
    ("live.css", LIVE_CSS),
    ("live-controls.js", CONTROLS_JS),
    ("live-questions.js", QUESTIONS_JS),
    ("live-handles.js", HANDLES_JS),
    ("live-brush.js", BRUSH_JS),
    ("live.js", LIVE_JS),
];

/// What `live-module.js` starts.
pub const WORKER: Asset = ("live-worker.js", WORKER_JS);

/// Where pages look for the modules, and what they find before there is one.
pub const NO_MODULE: Asset = ("live.json", "{}");
