//! The norms of decoders.

use attention::{Matrix, Real, Result as SizeResult};
use block::{LayerNorm, RmsNorm};

/// Either norm.
#[derive(Debug, Clone, PartialEq)]
pub enum Norm<T: Real = f64> {
    /// By mean and variance: GPT-2, GPT-NeoX.
    Layer(LayerNorm<T>),
    /// By the root mean square: the others.
    Rms(RmsNorm<T>),
}

impl<T: Real> Norm<T> {
    /// `norm(x)`.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the result too.
    ///
    /// # Errors
    /// [`attention::Error::Shape`] if `x` has another width.
    pub fn forward(&self, x: &Matrix<T>) -> SizeResult<Matrix<T>> {
        match self {
            Self::Layer(norm) => norm.forward(x),
            Self::Rms(norm) => norm.forward(x),
        }
    }
}
