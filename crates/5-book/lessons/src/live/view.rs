//! What a live figure shows at its settings.

use figures::Figure;
use serde_json::{Value, json};

/// A figure with its words and numbers.
#[derive(Debug, Clone)]
pub struct LiveView {
    /// The figure.
    pub figure: Figure,
    /// What came out, in a sentence or two: it is read aloud when a control is moved.
    pub words: String,
    /// What the figure and the words were made from, not rounded, in an order of its own.
    pub numbers: Vec<f64>,
}

impl LiveView {
    /// What a page shows. A number that is none, or infinite, is null.
    pub fn to_json(&self) -> Value {
        let Self { figure, words, numbers } = self;
        json!({ "figure": figure.to_page(), "words": words, "numbers": numbers })
    }
}
