//! The files that a page with live figures loads.

/// Looks of the controls.
pub const LIVE_CSS: &str = include_str!("../page/live.css");

/// Makes controls.
pub const CONTROLS_JS: &str = include_str!("../page/controls.js");

/// Makes the figures of a page live.
pub const LIVE_JS: &str = include_str!("../page/live.js");

/// Runs the module, beside the page.
pub const WORKER_JS: &str =
    concat!(include_str!("../page/host.js"), include_str!("../page/live-worker.js"));

/// What a page loads, in this order, with the names to load it by.
pub const LOADED: [(&str, &str); 3] =
    [("live.css", LIVE_CSS), ("live-controls.js", CONTROLS_JS), ("live.js", LIVE_JS)];

/// What `live.js` starts.
pub const WORKER: (&str, &str) = ("live-worker.js", WORKER_JS);
