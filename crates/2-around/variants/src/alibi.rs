//! Attention with linear biases: less for what is far.
//!
//! The line `scores = q kᵀ / √d_k` is followed by `scores_ij −= slope · |i − j|`, with a
//! slope per head.
//!
//! **Why.** A model should read texts longer than it was trained on. **Buys** that: a
//! distance beyond the training continues a line. **Costs** that no head can look at a far
//! token as easily as at a near one; those with small slopes come close.

use attention::{Error, Real, Result};

/// A slope per head.
///
/// ```
/// use variants::Alibi;
///
/// assert_eq!(Alibi::new(4)?.slopes, [0.25, 0.0625, 0.015625, 0.00390625]);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Press et al. 2022, "Train Short, Test Long", section 3. Differs: keys ahead of a query,
/// which the paper has none of, count by their distance too.
#[derive(Debug, Clone, PartialEq)]
pub struct Alibi {
    /// What a head's scores lose per token of distance, `[n_heads]`.
    pub slopes: Vec<f64>,
}

impl Alibi {
    /// The paper's slopes, 2^(−8/h), 2^(−16/h), …, 2^(−8). Where h is no power of two: those
    /// of the next lower one, and then every other one of the next higher.
    ///
    /// # Errors
    /// [`Error`] for 0 heads.
    pub fn new(n_heads: usize) -> Result<Self> {
        attention::Error::expect_positive("n_heads", n_heads)?;
        let below = 1 << n_heads.ilog2();
        let steps =
            |n: usize| (1..=n).map(move |i| 2f64.powf(-8.0 * i as f64 / n as f64));
        let slopes = steps(below).chain(steps(2 * below).step_by(2)).take(n_heads);
        Ok(Self { slopes: slopes.collect() })
    }

    /// What is added to a score of a head at this distance.
    // ANCHOR: bias
    pub(crate) fn bias<T: Real>(&self, head: usize, distance: i64) -> T {
        T::of(-self.slopes[head] * distance.unsigned_abs() as f64)
    }
    // ANCHOR_END: bias

    pub(crate) fn check(&self, n_heads: usize) -> Result<()> {
        Error::expect_per_head("the list of slopes", self.slopes.len(), n_heads)
    }
}
