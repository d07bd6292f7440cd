//! What a live figure shows at its settings.

use figures::Figure;

/// A figure with its words, and the facts that its questions and tests ask about.
#[derive(Debug, Clone)]
pub struct LiveView<F> {
    /// The figure.
    pub figure: Figure,
    /// What came out, in a sentence or two: it is read aloud when a control is moved.
    pub words: String,
    /// What the figure and the words were made from, not rounded.
    pub facts: F,
}
