//! What a chapter shows of a whole model: sentences whose maps come with it, and a reader's
//! own, in a model that the book's host has or that is chosen from disk.

use crate::Asset;

/// What stands in the chapter by itself, and all there is where no script runs.
pub const COMMAND: &str = "cargo learn look \"Your own sentence.\"";

/// The same where the chapter is about a model that writes.
pub const WRITE: &str = "cargo learn write \"Your own text\"";

/// Looks, next to those of the live figures' controls.
pub const OWN_SENTENCE_CSS: &str = include_str!("../own-sentence/own-sentence.css");

/// Asks the module, for every page that does.
pub const ENCODER_JS: &str = include_str!("../own-sentence/encoder.js");

/// Shows sentences, takes a reader's own and files; and texts of a model that writes.
pub const OWN_SENTENCE_JS: &str = concat!(
    include_str!("../own-sentence/written.js"),
    include_str!("../own-sentence/looks.js"),
    include_str!("../own-sentence/parts.js"),
    include_str!("../own-sentence/names.js"),
    include_str!("../own-sentence/writer.js"),
    include_str!("../own-sentence/own-sentence.js")
);

/// Runs the module, beside the page.
pub const WORKER_JS: &str =
    concat!(include_str!("../live/host.js"), include_str!("../own-sentence/worker.js"));

/// What a page with it loads after the explorer, in this order, with the names to load it
/// by.
pub const LOADED: [Asset; 2] =
    [("own-sentence.css", OWN_SENTENCE_CSS), ("own-sentence.js", OWN_SENTENCE_JS)];

/// What a page loads that asks the module for sentences, after [`crate::live::MODULE`].
pub const ENCODER: Asset = ("encoder.js", ENCODER_JS);

/// What `encoder.js` starts.
pub const WORKER: Asset = ("encoder-worker.js", WORKER_JS);

/// From the workspace, the folder with a file of maps per sentence, `KEY.safetensors`:
/// `maps`, bytes of which 255 is share 1, `[n_layers, n_heads, n, n]`, and the tokens in its
/// metadata. `cargo run -p look --example sentences` writes all of it.
pub const MAPS: &str = "crates/tools/assets/own-sentence/sentences";

/// The key of each sentence, and the sentence, pair by pair.
pub fn sentences() -> impl Iterator<Item = (&'static str, &'static str)> {
    let index = include_str!("../own-sentence/sentences/index.tsv");
    index.lines().filter_map(|line| line.split_once('\t'))
}
