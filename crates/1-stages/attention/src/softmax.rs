//! From scores to weights, and from weights to an average.

use crate::{Matrix, Real, View};

/// `softmax(s)_ij = exp(s_ij − max_j s_ij) / Σ_j exp(s_ij − max_j s_ij)`, row by row.
///
/// Subtracting the row's maximum changes nothing in exact arithmetic and keeps every
/// exponential at most 1, so scores of 10⁴ do no harm. A row in which every score is −∞
/// (a query that may attend to nothing) becomes zeros. A score of NaN or +∞ makes its
/// row NaN.
///
/// # Shapes
/// `[n_q, n_kv]` to `[n_q, n_kv]`; every row sums to 1, or is all zeros.
///
/// # Source
/// Vaswani et al. 2017, equation 1.
///
/// ```
/// use attention::{Matrix, softmax_rows};
///
/// let scores = Matrix::from_row_slice(1, 3, &[0.0, 2f64.ln(), f64::NEG_INFINITY]);
/// let attn = softmax_rows(scores);
/// assert!((attn[(0, 1)] - 2.0 / 3.0).abs() < 1e-15);
/// assert_eq!(attn[(0, 2)], 0.0); // a blocked key
/// ```
// ANCHOR: softmax_rows
pub fn softmax_rows<T: Real>(mut scores: Matrix<T>) -> Matrix<T> {
    let minus_infinity = T::of(f64::NEG_INFINITY);
    let n_q = scores.nrows();

    // Column by column, since that is how they lie in memory.
    let mut maxima = vec![minus_infinity; n_q];
    for column in scores.column_iter() {
        for (maximum, &score) in maxima.iter_mut().zip(&column) {
            *maximum = if score > *maximum { score } else { *maximum };
        }
    }
    // −∞ − (−∞) is NaN, and exp(−∞ − 0) is the 0 that an empty row is made of.
    for maximum in maxima.iter_mut().filter(|maximum| **maximum == minus_infinity) {
        *maximum = T::zero();
    }

    let mut sums = vec![T::zero(); n_q];
    for mut column in scores.column_iter_mut() {
        for ((score, &maximum), sum) in column.iter_mut().zip(&maxima).zip(&mut sums) {
            *score = (*score - maximum).exp();
            *sum += *score;
        }
    }
    for sum in sums.iter_mut().filter(|sum| **sum == T::zero()) {
        *sum = T::one();
    }

    for mut column in scores.column_iter_mut() {
        for (weight, &sum) in column.iter_mut().zip(&sums) {
            *weight /= sum;
        }
    }
    scores
}
// ANCHOR_END: softmax_rows

/// The weighted average of values: `out_i = Σ_j attn_ij · v_j`.
///
/// A term whose weight is exactly 0 is left out of the sum. That differs from the plain
/// product only where a value is not finite: 0 · NaN is NaN, so without this a NaN in a
/// token would reach every query, also those that may not attend to it.
///
/// # Shapes
/// `attn` is `[n_q, n_kv]`, `v` is `[n_kv, d_v]`, the result `[n_q, d_v]`.
///
/// # Panics
/// Unless there is one weight for each value.
///
/// ```
/// use attention::{Matrix, weighted_values};
///
/// let attn = Matrix::from_row_slice(1, 2, &[0.25, 0.75]);
/// let v = Matrix::from_row_slice(2, 1, &[0.0, 8.0]);
/// assert_eq!(weighted_values(&attn, v.as_view())[(0, 0)], 6.0);
/// ```
// ANCHOR: weighted_values
pub fn weighted_values<T: Real>(attn: &Matrix<T>, v: View<'_, T>) -> Matrix<T> {
    debug_assert_eq!(attn.ncols(), v.nrows(), "one weight a value");
    if v.iter().all(|x| x.is_finite()) {
        return attn * v;
    }
    let mut finite = v.clone_owned();
    let mut rest = Matrix::zeros(attn.nrows(), v.ncols()); // [n_q, d_v]
    for (j, v_j) in v.row_iter().enumerate() {
        if v_j.iter().all(|x| x.is_finite()) {
            continue;
        }
        finite.row_mut(j).fill(T::zero());
        for (i, &weight) in attn.column(j).iter().enumerate() {
            if weight != T::zero() {
                rest.row_mut(i).zip_apply(&v_j, |out, x| *out += weight * x);
            }
        }
    }
    attn * finite + rest
}
// ANCHOR_END: weighted_values

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, SeedableRng, max_abs_diff, random_matrix};

    #[test]
    fn rows_sum_to_one() {
        let scores: Matrix = random_matrix(20, 30, 5.0, &mut Rng::seed_from_u64(3));
        for row in softmax_rows(scores).row_iter() {
            assert!((row.sum() - 1.0).abs() < 1e-14, "{}", row.sum());
        }
    }

    #[test]
    fn adding_a_number_to_a_row_changes_nothing() {
        let scores: Matrix = random_matrix(4, 6, 2.0, &mut Rng::seed_from_u64(4));
        let moved = softmax_rows(scores.add_scalar(1e4));
        let diff = max_abs_diff(&softmax_rows(scores), &moved).unwrap();
        assert!(diff < 1e-11, "{diff}");
    }

    #[test]
    fn huge_scores_stay_finite_and_equal_ones_share() {
        let scores = Matrix::from_row_slice(2, 3, &[1e4, 1e4, -1e4, 0.0, 0.0, 0.0]);
        let third = 1.0 / 3.0;
        let expected =
            Matrix::from_row_slice(2, 3, &[0.5, 0.5, 0.0, third, third, third]);
        assert_eq!(max_abs_diff(&softmax_rows(scores), &expected), Ok(0.0));
    }

    #[test]
    fn a_row_with_nothing_to_attend_to_is_zero_and_a_nan_row_is_nan() {
        let (no, nan) = (f64::NEG_INFINITY, f64::NAN);
        let attn = softmax_rows(Matrix::from_row_slice(2, 2, &[no, no, nan, no]));
        assert_eq!(attn.row(0).iter().copied().collect::<Vec<_>>(), [0.0, 0.0]);
        assert!(attn.row(1).iter().all(|x| x.is_nan()));
    }

    #[test]
    fn a_nan_reaches_only_the_queries_that_attend_to_it() {
        let attn = Matrix::from_row_slice(2, 2, &[1.0, 0.0, 0.5, 0.5]);
        let v = Matrix::from_row_slice(2, 2, &[1.0, 2.0, f64::NAN, 3.0]);
        let out = weighted_values(&attn, v.as_view());
        assert_eq!((out[(0, 0)], out[(0, 1)], out[(1, 1)]), (1.0, 2.0, 2.5));
        assert!(out[(1, 0)].is_nan());
    }
}
