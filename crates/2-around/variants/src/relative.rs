//! Relative positions: a learned number per head and distance.
//!
//! The line `scores = q kᵀ` is followed by `scores_ij += B[bucket(i − j), head]`. Near
//! distances have a bucket each, far ones share buckets that widen with the logarithm, and
//! from `max_distance` on all are in the last one. T5 also leaves √d_k out, which is
//! [`Changes::scale`](crate::Changes::scale) = 1: its training makes W^Q smaller instead.
//!
//! **Why.** What a head wants is often so many tokens back, wherever in the text that is.
//! **Buys** that a distance means the same everywhere, and no table of positions that ends.
//! **Costs** a number per head and bucket, and an addition per score. A layer's bias is often
//! that of all: T5 has one for its encoder and one for its decoder.
//!
//! With a mask of numbers that are added, one per head ([`Mask::Heads`](attention::Mask)),
//! the same can be said to any stage, for one number of tokens; a cache grows, and asks by
//! distance.

use attention::{Error, Matrix, Real, Result};

/// A number per bucket of distances and head.
///
/// ```
/// use attention::Matrix;
/// use variants::RelativeBias;
///
/// let bias = RelativeBias::new(Matrix::<f64>::zeros(8, 1), 16, true)?;
/// let found: Vec<usize> = [-3, 0, 3, 4, 8, 15, 99].map(|d| bias.bucket(d)).into();
/// assert_eq!(found, [0, 0, 3, 4, 6, 7, 7]);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Raffel et al. 2020, "Exploring the Limits of Transfer Learning", section 2.1; the buckets
/// as `_relative_position_bucket` of Hugging Face's transformers.
#[derive(Debug, Clone, PartialEq)]
pub struct RelativeBias<T: Real = f64> {
    table: Matrix<T>,
    max_distance: usize,
    is_causal: bool,
}

impl<T: Real> RelativeBias<T> {
    /// A bias. Where no token sees later ones (`is_causal`), all buckets are for distances
    /// behind; else half of them are for distances ahead.
    ///
    /// # Shapes
    /// `table` is `[n_buckets, n_heads]`.
    ///
    /// # Errors
    /// [`Error::Buckets`] for fewer than two buckets of a direction, or a `max_distance` that
    /// those with a distance each reach already.
    pub fn new(table: Matrix<T>, max_distance: usize, is_causal: bool) -> Result<Self> {
        let bias = Self { table, max_distance, is_causal };
        let n_buckets = bias.table.nrows();
        let n_exact = bias.n_exact();
        match n_exact > 0 && max_distance > n_exact {
            true => Ok(bias),
            false => Err(Error::Buckets { n_buckets, n_exact, max_distance }),
        }
    }

    /// The numbers, `[n_buckets, n_heads]`.
    pub fn table(&self) -> &Matrix<T> {
        &self.table
    }

    /// The bucket of a key so many tokens behind its query; negative: ahead.
    // ANCHOR: bucket
    pub fn bucket(&self, distance: i64) -> usize {
        let n = self.n_of_direction();
        let first = if distance < 0 && !self.is_causal { n } else { 0 };
        let far = match self.is_causal {
            true => distance.max(0).unsigned_abs() as usize,
            false => distance.unsigned_abs() as usize,
        };
        let n_exact = self.n_exact();
        if far < n_exact {
            return first + far;
        }
        // In f32, as the models were trained: at an edge the rounding decides.
        let log = |x: f64| (x / n_exact as f64).ln();
        let part =
            (far as f32 / n_exact as f32).ln() / log(self.max_distance as f64) as f32;
        let wide = n_exact + (part * (n - n_exact) as f32) as usize;
        first + wide.min(n - 1)
    }
    // ANCHOR_END: bucket

    pub(crate) fn bias(&self, head: usize, distance: i64) -> T {
        self.table[(self.bucket(distance), head)]
    }

    pub(crate) fn check(&self, n_heads: usize) -> Result<()> {
        Error::expect_per_head(
            "the table of relative positions",
            self.table.ncols(),
            n_heads,
        )
    }

    fn n_of_direction(&self) -> usize {
        let n = self.table.nrows();
        if self.is_causal { n } else { n / 2 }
    }

    /// How many buckets of a direction are of one distance.
    fn n_exact(&self) -> usize {
        self.n_of_direction() / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(n: usize, max: usize, is_causal: bool, distances: &[i64]) -> Vec<usize> {
        let bias = RelativeBias::new(Matrix::<f64>::zeros(n, 1), max, is_causal).unwrap();
        distances.iter().map(|&distance| bias.bucket(distance)).collect()
    }

    /// By `T5Attention._relative_position_bucket` of transformers 5.24.
    #[test]
    fn buckets_are_those_of_another_library() {
        let far = [-200, -64, -17, -8, -1, 0, 1, 7, 8, 16, 31, 32, 63, 64, 127, 128];
        assert_eq!(
            buckets(32, 128, false, &far),
            [31, 30, 26, 24, 17, 0, 1, 7, 8, 10, 11, 12, 13, 14, 15, 15]
        );
        assert_eq!(
            buckets(32, 128, true, &far),
            [0, 0, 0, 0, 0, 0, 1, 7, 8, 16, 21, 21, 26, 26, 31, 31]
        );
        assert_eq!(
            buckets(8, 6, false, &far),
            [7, 7, 7, 7, 5, 0, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3]
        );
        assert_eq!(
            buckets(8, 6, true, &far),
            [0, 0, 0, 0, 0, 0, 1, 7, 7, 7, 7, 7, 7, 7, 7, 7]
        );
        assert_eq!(
            buckets(16, 20, false, &far),
            [15, 15, 15, 13, 9, 0, 1, 5, 5, 7, 7, 7, 7, 7, 7, 7]
        );
    }

    #[test]
    fn buckets_that_are_none_are_refused() {
        let refused = |n, max, is_causal| {
            let table = Matrix::<f64>::zeros(n, 1);
            RelativeBias::new(table, max, is_causal).unwrap_err()
        };
        insta::assert_snapshot!(refused(3, 128, false), @"3 buckets, of which 0 of a direction are of one distance each, for distances to 128: a direction needs 2 buckets, and distances beyond those");
        insta::assert_snapshot!(refused(8, 4, true), @"8 buckets, of which 4 of a direction are of one distance each, for distances to 4: a direction needs 2 buckets, and distances beyond those");
    }
}
