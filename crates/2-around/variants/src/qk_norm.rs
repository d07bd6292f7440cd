//! Queries and keys of one size.
//!
//! The line `scores = q kᵀ / √d_k` becomes the same with `q` and `k` divided by their root
//! mean square, head by head, and each entry multiplied by a learned gain.
//!
//! **Why.** Nothing bounds a score. In large models queries and keys can grow during a
//! training until each row of softmax gives all to one key, where its gradient is 0.
//! **Buys** scores of at most √d_k times the gains, whatever the projections do.
//! **Costs** that a token can no longer say "I matter more" by a longer key.

use attention::{Error, Matrix, Real, Result, RowVector};

/// A norm of queries and keys, per head.
///
/// # Source
/// Henry et al. 2020, "Query-Key Normalization for Transformers"; the root mean square as in
/// Qwen3 and Gemma 3. Differs: the former divides by the length and learns one scale.
#[derive(Debug, Clone, PartialEq)]
pub struct QkNorm<T: Real = f64> {
    /// The gains of a query's entries, `[d_k]`, the same in each head.
    pub q: RowVector<T>,
    /// The gains of a key's entries, `[d_k]`.
    pub k: RowVector<T>,
    /// What is added to the mean square, so that zeros can be divided.
    pub eps: f64,
}

impl<T: Real> QkNorm<T> {
    /// Gains of 1.
    pub fn identity(d_k: usize) -> Self {
        let ones = || RowVector::repeat(d_k, T::one());
        Self { q: ones(), k: ones(), eps: 1e-6 }
    }

    pub(crate) fn check(&self, d_k: usize) -> Result<()> {
        Error::expect_shape("the gains of the queries", (1, d_k), self.q.shape())?;
        Error::expect_shape("the gains of the keys", (1, d_k), self.k.shape())?;
        Ok(())
    }

    /// `gain · x / √(mean(x²) + eps)` in each head of `x`, `[n, n_heads · d_k]`.
    // ANCHOR: normalise
    pub(crate) fn normalise(&self, x: &mut Matrix<T>, gains: &RowVector<T>) {
        let d_k = gains.len();
        for first in (0..x.ncols()).step_by(d_k) {
            for mut token in x.columns_mut(first, d_k).row_iter_mut() {
                let mean_square = token.norm_squared() / T::of(d_k as f64);
                token /= (mean_square + T::of(self.eps)).sqrt();
                token.component_mul_assign(gains);
            }
        }
    }
    // ANCHOR_END: normalise
}
