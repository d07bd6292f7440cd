//! The feed-forward layers of decoders.

use attention::{Matrix, Real, Result as SizeResult};
use block::GatedFeedForward;

/// Either feed-forward layer.
#[derive(Debug, Clone, PartialEq)]
pub enum FeedForward<T: Real = f64> {
    /// Two projections: GPT-2, GPT-NeoX.
    Plain(block::FeedForward<T>),
    /// Three: the others.
    Gated(GatedFeedForward<T>),
}

impl<T: Real> FeedForward<T> {
    /// `FFN(x)`.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the result too.
    ///
    /// # Errors
    /// [`attention::Error::Shape`] if `x` has another width.
    pub fn forward(&self, x: &Matrix<T>) -> SizeResult<Matrix<T>> {
        match self {
            Self::Plain(layer) => layer.forward(x),
            Self::Gated(layer) => layer.forward(x),
        }
    }
}
