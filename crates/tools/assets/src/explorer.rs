//! The explorer of heads, wherever heads are shown.

use crate::Asset;

/// Its looks.
pub const EXPLORER_CSS: &str = include_str!("../explorer/explorer.css");

/// `headExplorer`: what it says of maps, how it draws them, and the explorer itself; and
/// `headKept`, which reads maps that come with the book. A page that stands alone has it too.
pub const EXPLORER_JS: &str = concat!(
    include_str!("../explorer/measures.js"),
    include_str!("../explorer/words.js"),
    include_str!("../explorer/controls.js"),
    include_str!("../explorer/drawing.js"),
    include_str!("../explorer/grid.js"),
    include_str!("../explorer/take.js"),
    include_str!("../explorer/bars.js"),
    include_str!("../explorer/small.js"),
    include_str!("../explorer/adds.js"),
    include_str!("../explorer/off.js"),
    include_str!("../explorer/large.js"),
    include_str!("../explorer/packed.js"),
    include_str!("../explorer/explorer.js"),
    include_str!("../explorer/kept.js")
);

/// Shows the trained layer's heads, computed by the live figures' module.
pub const TRAINED_LAYER_JS: &str = include_str!("../explorer/trained-layer.js");

/// What a page with an explorer loads, in this order, with the names to load it by.
pub const LOADED: [Asset; 2] =
    [("explorer.css", EXPLORER_CSS), ("explorer.js", EXPLORER_JS)];

/// What the page with the trained layer's heads loads too, after [`crate::live::MODULE`].
pub const TRAINED_LAYER: Asset = ("trained-layer.js", TRAINED_LAYER_JS);
