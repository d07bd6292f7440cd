//! Backwards through the softmax.

use attention::{Error, Matrix, Real, Result};

use crate::product::zero_wins;

/// `d_s_ij = a_ij · (d_a_ij − Σ_k a_ik · d_a_ik)`, where `a = softmax(s)` row by row.
///
/// The derivative of one row is a square matrix, `∂a_j / ∂s_k = a_j (δ_jk − a_k)`, the
/// Jacobian. It is never made: times a row of gradients it is the line above, one dot
/// product a row. The dot product is what the row must share: its shares sum to 1, so
/// none can grow unless others shrink.
///
/// An entry whose share is exactly 0 passes nothing on, whatever arrives: a blocked key
/// was not read. So a row of zeros (a query that may attend to nothing) gives zeros. And
/// where nothing but zeros arrives, zeros leave, whatever the shares are.
///
/// # Shapes
/// `attn` and `d_attn` are `[n_q, n_kv]`, the result too.
///
/// # Errors
/// [`Error::Shape`] if they differ.
///
/// ```
/// use attention::Matrix;
/// use gradients::softmax_rows_backward;
///
/// let attn = Matrix::from_row_slice(1, 3, &[0.5, 0.5, 0.0]);
/// let d_attn = Matrix::from_row_slice(1, 3, &[1.0, 3.0, 7.0]); // the dot product is 2
/// let d_scores = softmax_rows_backward(&attn, d_attn)?;
/// assert_eq!(d_scores.as_slice(), [-0.5, 0.5, 0.0]);
/// # Ok::<(), attention::Error>(())
/// ```
// ANCHOR: softmax_rows_backward
pub fn softmax_rows_backward<T: Real>(
    attn: &Matrix<T>,
    d_attn: Matrix<T>,
) -> Result<Matrix<T>> {
    Error::expect_shape("d_attn", attn.shape(), d_attn.shape())?;

    // Column by column, since that is how they lie in memory.
    let mut dots = vec![T::zero(); attn.nrows()]; // Σ_k a_ik · d_a_ik
    for (a_j, d_a_j) in attn.column_iter().zip(d_attn.column_iter()) {
        let column = dots.iter_mut().zip(a_j.as_slice()).zip(d_a_j.as_slice());
        for ((dot, &a), &d_a) in column {
            *dot += zero_wins(a, d_a);
        }
    }

    let mut d_scores = d_attn;
    for (a_j, mut d_j) in attn.column_iter().zip(d_scores.column_iter_mut()) {
        let column = a_j.as_slice().iter().zip(d_j.as_mut_slice()).zip(&dots);
        for ((&a, d), &dot) in column {
            *d = zero_wins(a, *d - dot);
        }
    }
    Ok(d_scores)
}
// ANCHOR_END: softmax_rows_backward

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Rng, SeedableRng, max_abs_diff, random_matrix, softmax_rows};

    fn random(seed: u64) -> (Matrix, Matrix) {
        let rng = &mut Rng::seed_from_u64(seed);
        (random_matrix(5, 7, 2.0, rng), random_matrix(5, 7, 1.0, rng))
    }

    #[test]
    fn it_is_the_product_with_the_jacobian_of_each_row() {
        let (scores, d_attn) = random(1);
        let attn = softmax_rows(scores);
        let d_scores = softmax_rows_backward(&attn, d_attn.clone()).unwrap();
        let expected = Matrix::from_fn(5, 7, |i, k| {
            let jacobian = |j| {
                let delta = if j == k { 1.0 } else { 0.0 };
                attn[(i, j)] * (delta - attn[(i, k)])
            };
            (0..7).map(|j| d_attn[(i, j)] * jacobian(j)).sum()
        });
        let diff = max_abs_diff(&d_scores, &expected).unwrap();
        assert!(diff < 1e-15, "{diff:e}");
    }

    #[test]
    fn a_number_added_to_a_row_has_no_gradient() {
        let (scores, d_attn) = random(2);
        let d_scores = softmax_rows_backward(&softmax_rows(scores), d_attn).unwrap();
        for row in d_scores.row_iter() {
            assert!(row.sum().abs() < 1e-15, "{:e}", row.sum());
        }
    }

    #[test]
    fn what_was_not_read_passes_nothing_on() {
        let nan = f64::NAN;
        let attn = Matrix::from_row_slice(2, 3, &[0.0, 0.5, 0.5, 0.0, 0.0, 0.0]);
        let d_attn = Matrix::from_row_slice(2, 3, &[nan, 1.0, 3.0, nan, 1.0, 3.0]);
        let d_scores = softmax_rows_backward(&attn, d_attn).unwrap();
        let expected = [0.0, -0.5, 0.5, 0.0, 0.0, 0.0];
        assert_eq!(d_scores, Matrix::from_row_slice(2, 3, &expected));
    }

    #[test]
    fn where_no_gradient_arrives_none_leaves() {
        let attn = Matrix::from_element(1, 3, f64::NAN);
        let d_scores = softmax_rows_backward(&attn, Matrix::zeros(1, 3)).unwrap();
        assert_eq!(d_scores, Matrix::zeros(1, 3));
    }

    #[test]
    fn gradients_of_another_shape_are_refused_with_both() {
        let attn = Matrix::<f64>::zeros(2, 3);
        let refused = softmax_rows_backward(&attn, Matrix::zeros(3, 2)).unwrap_err();
        insta::assert_snapshot!(refused, @"d_attn has shape (3, 2), expected (2, 3)");
    }
}
