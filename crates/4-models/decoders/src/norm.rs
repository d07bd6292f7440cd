//! The norms of decoders.

use attention::{Error as SizeError, Matrix, Real, Result as SizeResult, RowVector};
use block::LayerNorm;

/// `norm(x) = gain ⊙ x / √(mean(x²) + eps)`, token by token: the layer norm without its
/// mean and its bias.
///
/// # Source
/// Zhang and Sennrich 2019, equation 4.
///
/// ```
/// use attention::{Matrix, RowVector};
/// use decoders::RmsNorm;
///
/// let norm = RmsNorm { gain: RowVector::repeat(2, 1.0), eps: 0.0 };
/// let x = Matrix::from_row_slice(1, 2, &[70.0, 10.0]);
/// assert_eq!(norm.forward(&x)?.as_slice(), [1.4, 0.2]); // a mean square of 1
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RmsNorm<T: Real = f64> {
    /// What each feature is multiplied by, `[d_model]`.
    pub gain: RowVector<T>,
    /// What keeps a token of zeros from a division of 0 by 0.
    pub eps: f64,
}

impl<T: Real> RmsNorm<T> {
    /// `norm(x)`.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the result too.
    ///
    /// # Errors
    /// [`SizeError::Shape`] if `x` has another width.
    pub fn forward(&self, x: &Matrix<T>) -> SizeResult<Matrix<T>> {
        let width = self.gain.len();
        SizeError::expect_shape("the input of a norm", (x.nrows(), width), x.shape())?;
        let mut y = x.clone();
        for mut token in y.row_iter_mut() {
            let mean_square = token.norm_squared() / T::of(width as f64);
            token /= (mean_square + T::of(self.eps)).sqrt();
            token.component_mul_assign(&self.gain);
        }
        Ok(y)
    }
}

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
    /// [`SizeError::Shape`] if `x` has another width.
    pub fn forward(&self, x: &Matrix<T>) -> SizeResult<Matrix<T>> {
        match self {
            Self::Layer(norm) => norm.forward(x),
            Self::Rms(norm) => norm.forward(x),
        }
    }
}
