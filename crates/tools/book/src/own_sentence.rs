//! A reader's own sentence in a reader's own model: `{{#own-sentence}}`.

use live_encoder::page::{COMMAND, LOADED, WORKER};

use pages::{Asset, address};

/// What pages with it load.
pub(crate) const ASSETS: [Asset; 4] = [LOADED[0], LOADED[1], LOADED[2], WORKER];

/// The element, on a page that needs `up` to get to the book's root: the command that does
/// the same, which is all there is where the module cannot run. `own-sentence.js` puts
/// what can be done in the page before it.
pub(crate) fn element(id: &str, up: &str) -> String {
    let [style, heads, own] = LOADED.map(|asset| address(&asset));
    let (worker, command) = (address(&WORKER), COMMAND.replace('"', "&quot;"));
    format!(
        "<div class=\"own-sentence live\" id=\"{id}\" data-own-sentence \
         data-figure-scripts=\"{heads} {own}\" data-encoder-worker=\"{worker}\">\
         <link rel=\"stylesheet\" href=\"{up}{style}\">\
         <p>In a terminal:</p><pre><code class=\"language-sh\">{command}\n</code></pre></div>"
    )
}
