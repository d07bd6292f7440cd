//! What a chapter shows in which a reader chooses a model's files, and what that loads.

/// What stands in the chapter by itself, and all there is where the module cannot run.
pub const COMMAND: &str = "cargo learn look \"Your own sentence.\"";

/// Looks, next to those of the live figures' controls.
pub const OWN_SENTENCE_CSS: &str = include_str!("../page/own-sentence.css");

/// Draws maps: `headMaps`, also for a page that stands alone.
pub const HEADS_JS: &str = include_str!("../page/heads.js");

/// Shows all heads.
pub const OWN_HEADS_JS: &str =
    concat!(include_str!("../page/heads.js"), include_str!("../page/own-heads.js"));

/// Takes files and sentences.
pub const OWN_SENTENCE_JS: &str = include_str!("../page/own-sentence.js");

/// Runs the module, beside the page.
pub const WORKER_JS: &str =
    concat!(include_str!("../../live/page/host.js"), include_str!("../page/worker.js"));

/// What a page with it loads, in this order, with the names to load it by.
pub const LOADED: [(&str, &str); 3] = [
    ("own-sentence.css", OWN_SENTENCE_CSS),
    ("own-heads.js", OWN_HEADS_JS),
    ("own-sentence.js", OWN_SENTENCE_JS),
];

/// What `own-sentence.js` starts.
pub const WORKER: (&str, &str) = ("encoder-worker.js", WORKER_JS);
