//! The feed-forward layers of decoders.

use attention::{Linear, Matrix, Real, Result as SizeResult};
use block::Activation;

/// `FFN(x) = (act(x W_gate) ⊙ x W_up) W_down`: what one projection finds decides how much
/// of the other goes on.
///
/// # Source
/// Shazeer 2020, "GLU Variants Improve Transformer", equation 6 (SwiGLU with SiLU, GeGLU
/// with GELU).
#[derive(Debug, Clone, PartialEq)]
pub struct GatedFeedForward<T: Real = f64> {
    /// W_gate, `[d_model, d_ff]`.
    pub gate: Linear<T>,
    /// What bends its entries.
    pub activation: Activation,
    /// W_up, `[d_model, d_ff]`.
    pub up: Linear<T>,
    /// W_down, `[d_ff, d_model]`.
    pub down: Linear<T>,
}

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
            Self::Gated(GatedFeedForward { gate, activation, up, down }) => {
                let gate = activation.forward(&gate.forward(x)?); // [n_tokens, d_ff]
                down.forward(&gate.component_mul(&up.forward(x)?))
            }
        }
    }
}
