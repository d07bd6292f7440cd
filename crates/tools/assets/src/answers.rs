//! What a page with an exercise loads, which a reader answers in any language.

use crate::Asset;

/// What draws a matrix beside the one that was meant, wherever that is shown.
pub const MAPS: [Asset; 2] = [
    ("matrix-maps.css", include_str!("../answers/matrix-maps.css")),
    ("matrix-maps.js", include_str!("../answers/matrix-maps.js")),
];

/// What the page loads after [`MAPS`], in this order.
pub const LOADED: [Asset; 2] = [
    ("answers.css", include_str!("../answers/answers.css")),
    ("answers.js", include_str!("../answers/answers.js")),
];

/// What `answers.js` starts.
pub const WORKER: Asset = (
    "answers-worker.js",
    concat!(include_str!("../live/host.js"), include_str!("../answers/worker.js")),
);
