//! What a chapter shows in which a reader chooses a model's files, and what that loads.

use crate::Asset;

/// What stands in the chapter by itself, and all there is where the module cannot run.
pub const COMMAND: &str = "cargo learn look \"Your own sentence.\"";

/// Looks, next to those of the live figures' controls.
pub const OWN_SENTENCE_CSS: &str = include_str!("../own-sentence/own-sentence.css");

/// Draws maps: `headMaps`, also for a page that stands alone.
pub const HEADS_JS: &str = include_str!("../own-sentence/heads.js");

/// Shows all heads.
pub const OWN_HEADS_JS: &str = concat!(
    include_str!("../own-sentence/heads.js"),
    include_str!("../own-sentence/own-heads.js")
);

/// Takes files and sentences.
pub const OWN_SENTENCE_JS: &str = include_str!("../own-sentence/own-sentence.js");

/// Runs the module, beside the page.
pub const WORKER_JS: &str =
    concat!(include_str!("../live/host.js"), include_str!("../own-sentence/worker.js"));

/// What a page with it loads, in this order, with the names to load it by.
pub const LOADED: [Asset; 3] = [
    ("own-sentence.css", OWN_SENTENCE_CSS),
    ("own-heads.js", OWN_HEADS_JS),
    ("own-sentence.js", OWN_SENTENCE_JS),
];

/// What `own-sentence.js` starts.
pub const WORKER: Asset = ("encoder-worker.js", WORKER_JS);
