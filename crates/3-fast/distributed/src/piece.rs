//! A softmax over some of the keys, and how two of them become one.

use attention::{Matrix, Real};

/// The attention of some queries to some of their keys, with what is needed to merge it
/// with the attention to others.
///
/// ```text
/// l   = Σ_j exp(s_j − m)              the sum of shares, relative to a reference m
/// o   = Σ_j exp(s_j − m) · v_j        the values with these shares, not divided by l
///
/// m'' = max(m, m')                    two pieces become one:
/// l'' = exp(m − m'') · l + exp(m' − m'') · l'
/// o'' = exp(m − m'') · o + exp(m' − m'') · o'
/// ```
///
/// After the last piece the output is `o / l`. The two numbers m and l are the piece's
/// log-sum-exp, `m + ln l`, in two parts: no exponential here is above 1, so none
/// overflows. Which piece comes first makes no difference but rounding.
///
/// # Source
/// Milakov and Gimelshein 2018, section 3.1; Liu et al. 2023, "Ring attention with
/// blockwise transformers".
#[derive(Debug, Clone, PartialEq)]
pub struct Piece<T: Real = f64> {
    /// m of each query and head, `[n_q, h]`; −∞ where no key was seen.
    pub references: Matrix<T>,
    /// l of each query and head, `[n_q, h]`.
    pub sums: Matrix<T>,
    /// o of each query, heads side by side, `[n_q, h · d_v]`.
    pub out: Matrix<T>,
}

impl<T: Real> Piece<T> {
    /// Before any key is seen.
    pub fn nothing(n_queries: usize, n_heads: usize, d_v: usize) -> Self {
        Self {
            references: Matrix::from_element(
                n_queries,
                n_heads,
                T::of(f64::NEG_INFINITY),
            ),
            sums: Matrix::zeros(n_queries, n_heads),
            out: Matrix::zeros(n_queries, n_heads * d_v),
        }
    }

    /// Takes in what the queries from row `first` on see of other keys.
    ///
    /// # Shapes
    /// `other` has as many heads and no more rows than there are from `first` on.
    ///
    /// # Panics
    /// If it has.
    pub fn merge(&mut self, first: usize, other: &Self) {
        let (n_rows, n_heads) = other.references.shape();
        let d_v = self.out.ncols() / n_heads.max(1);
        let (mut ours, mut theirs) = (vec![T::zero(); n_rows], vec![T::zero(); n_rows]);
        for head in 0..n_heads {
            for row in 0..n_rows {
                let place = (first + row, head);
                let (m, m_other) =
                    (self.references[place], other.references[(row, head)]);
                let larger = if m_other > m { m_other } else { m };
                // Where nothing was seen, m is −∞, and −∞ − (−∞) would be NaN.
                let is_nothing = larger == T::of(f64::NEG_INFINITY);
                let shift = if is_nothing { T::zero() } else { larger };
                (ours[row], theirs[row]) = ((m - shift).exp(), (m_other - shift).exp());
                self.references[place] = larger;
                self.sums[place] =
                    ours[row] * self.sums[place] + theirs[row] * other.sums[(row, head)];
            }
            for column in head * d_v..(head + 1) * d_v {
                let mut outs = self.out.column_mut(column);
                let outs = &mut outs.as_mut_slice()[first..first + n_rows];
                let others = other.out.column(column);
                for (row, (out, &other)) in outs.iter_mut().zip(&others).enumerate() {
                    *out = zero_wins(ours[row], *out) + zero_wins(theirs[row], other);
                }
            }
        }
    }

    /// `o / l`, `[n_q, h · d_v]`; zeros for a query that may attend to nothing.
    pub fn finish(mut self) -> Matrix<T> {
        let d_v = self.out.ncols() / self.sums.ncols().max(1);
        for (column, mut out) in self.out.column_iter_mut().enumerate() {
            for (x, &sum) in out.iter_mut().zip(&self.sums.column(column / d_v)) {
                *x /= if sum == T::zero() { T::one() } else { sum };
            }
        }
        self.out
    }
}

/// A value that is not finite counts only where it has a share, as on one machine.
fn zero_wins<T: Real>(factor: T, x: T) -> T {
    if factor == T::zero() { T::zero() } else { factor * x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query's piece of one key: share 1, relative to its score.
    fn one(score: f64, value: f64) -> Piece {
        let entry = |x| Matrix::from_element(1, 1, x);
        Piece { references: entry(score), sums: entry(1.0), out: entry(value) }
    }

    fn merged(keys: &[(f64, f64)]) -> f64 {
        let mut all = Piece::nothing(1, 1, 1);
        for &(score, value) in keys {
            all.merge(0, &one(score, value));
        }
        all.finish()[0]
    }

    #[test]
    fn small_numbers_step_by_step() {
        let [two, four] = [2f64, 4.0].map(f64::ln);
        assert!((merged(&[(0.0, 10.0), (two, 40.0)]) - 30.0).abs() < 1e-14);
        assert!((merged(&[(0.0, 7.0), (two, 0.0), (four, 14.0)]) - 9.0).abs() < 1e-14);
        assert_eq!(merged(&[]), 0.0);
    }

    #[test]
    fn scores_far_apart_overflow_nothing() {
        for far in [1e3, 1e4, 1e300] {
            assert_eq!(merged(&[(far, 1.0), (-far, 2.0)]), 1.0);
            assert_eq!(merged(&[(-far, 2.0), (far, 1.0)]), 1.0);
            assert_eq!(merged(&[(far, 1.0), (far, 2.0)]), 1.5);
            assert_eq!(merged(&[(-far, 1.0), (-far, 2.0)]), 1.5);
        }
    }

    #[test]
    fn what_is_not_finite_counts_where_it_has_a_share() {
        assert_eq!(merged(&[(0.0, f64::NAN), (1e4, 3.0)]), 3.0);
        assert!(merged(&[(0.0, f64::NAN), (1.0, 3.0)]).is_nan());
        assert!(merged(&[(f64::INFINITY, 1.0), (1.0, 3.0)]).is_nan());
        let nan_sum =
            Piece { sums: Matrix::from_element(1, 1, f64::NAN), ..one(0.0, 1.0) };
        let mut all = one(1e4, 3.0);
        all.merge(0, &nan_sum);
        assert!(all.finish()[0].is_nan());
    }
}
