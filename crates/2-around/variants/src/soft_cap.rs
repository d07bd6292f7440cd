//! Scores that cannot grow beyond a bound.
//!
//! The line `scores = q kᵀ / √d_k` is followed by `scores = cap · tanh(scores / cap)`.
//!
//! **Why.** As [`QkNorm`](crate::QkNorm): nothing else bounds a score. **Buys** a bound, and
//! hardly changes scores well below it. **Costs** a tanh per score, and kernels that know
//! of it. It comes **before** the mask: after it, −∞ would become −cap, and what is blocked
//! would get a share.

use attention::{Error, Matrix, Real, Result};

/// A bound for scores.
///
/// ```
/// use attention::Matrix;
/// use variants::SoftCap;
///
/// let scores = Matrix::from_row_slice(1, 3, &[0.1, 50.0, -1e9]);
/// let capped = SoftCap::new(50.0)?.apply(scores);
/// assert!((capped[(0, 0)] - 0.1f64).abs() < 1e-6);
/// assert_eq!(capped[(0, 1)], 50.0 * 1f64.tanh());
/// assert_eq!(capped[(0, 2)], -50.0);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Gemma Team 2024, "Gemma 2", section 2: 50 for scores, 30 for logits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftCap(f64);

impl SoftCap {
    /// A bound.
    ///
    /// # Errors
    /// [`NotPositive`](attention::Error::NotPositive).
    pub fn new(cap: f64) -> Result<Self> {
        Error::expect_above_zero("the soft cap", cap)?;
        Ok(Self(cap))
    }

    /// The bound.
    pub fn bound(&self) -> f64 {
        self.0
    }

    /// `cap · tanh(x / cap)`, entry by entry.
    // ANCHOR: apply
    pub fn apply<T: Real>(&self, scores: Matrix<T>) -> Matrix<T> {
        let cap = T::of(self.0);
        scores.map(|score| cap * (score / cap).tanh())
    }
    // ANCHOR_END: apply
}
