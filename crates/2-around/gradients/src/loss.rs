//! How wrong an answer is, and the gradient with which the backward pass begins.

use attention::{Error, Matrix, Real, Result, softmax_rows};

/// A loss and its gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss<T: Real = f64> {
    /// How wrong the answer is: one number, 0 at best.
    pub value: T,
    /// How the loss changes with each number of the answer: of the answer's shape.
    pub gradient: Matrix<T>,
}

/// The cross-entropy of rows of logits with the right classes, the mean over rows:
/// `loss = −(1/n) Σ_i ln p_i,class(i)`, where `p = softmax(logits)`.
///
/// Its gradient is `(p − 1 at the right class, 0 elsewhere) / n`: what was said minus
/// what is right.
///
/// No logarithm is taken of a softmax, which may be 0: `−ln p_c = ln Σ_j exp(l_j − l_c)`
/// is computed as `m − l_c + ln Σ_j exp(l_j − m)`, with m the largest logit of the row.
///
/// # Shapes
/// `logits` is `[n, n_classes]`, `classes` has n entries, the gradient is
/// `[n, n_classes]`.
///
/// # Errors
/// [`Error::Class`] for a class that the logits do not have; without rows, or for another
/// number of classes than rows, [`Error`].
///
/// ```
/// use attention::Matrix;
/// use gradients::cross_entropy;
///
/// let logits = Matrix::from_row_slice(1, 2, &[0.0, 3f64.ln()]); // p = (1/4, 3/4)
/// let loss = cross_entropy(&logits, &[1])?;
/// assert!((loss.value - (4f64 / 3.0).ln()).abs() < 1e-15); // −ln 3/4
/// assert!((loss.gradient[(0, 0)] - 0.25).abs() < 1e-15);
/// # Ok::<(), attention::Error>(())
/// ```
// ANCHOR: cross_entropy
pub fn cross_entropy<T: Real>(
    logits: &Matrix<T>,
    classes: &[usize],
) -> Result<Loss<T>, Error> {
    let (n, n_classes) = logits.shape();
    check_rows("logits", logits)?;
    Error::expect_length("the list of classes", n, classes.len())?;
    let outside = classes.iter().position(|&class| class >= n_classes);
    if let Some(row) = outside {
        return Err(Error::Class { row, class: classes[row], n_classes });
    }

    let one_over_n = T::of(1.0 / n as f64);
    let mut value = T::zero();
    let mut gradient = softmax_rows(logits.clone()); // [n, n_classes]
    for (i, &class) in classes.iter().enumerate() {
        let row = logits.row(i);
        let m = row.iter().copied().fold(row[0], |m, l| if l > m { l } else { m });
        let sum = row.iter().fold(T::zero(), |sum, &l| sum + (l - m).exp());
        value += (m - row[class] + sum.ln()) * one_over_n;
        gradient[(i, class)] -= T::one();
    }
    gradient *= one_over_n;
    Ok(Loss { value, gradient })
}
// ANCHOR_END: cross_entropy

/// The squared error, the mean over all numbers: `loss = (1/N) Σ (out − target)²`, with
/// N the number of entries. Its gradient is `2 (out − target) / N`.
///
/// # Shapes
/// `out` and `target` have the same shape, and so has the gradient.
///
/// # Errors
/// [`attention::Error::EmptySequence`] without rows; [`attention::Error::Shape`] if the
/// shapes differ.
///
/// ```
/// use attention::Matrix;
/// use gradients::mean_squared_error;
///
/// let out = Matrix::from_row_slice(1, 2, &[1.0, 3.0]);
/// let loss = mean_squared_error(&out, &Matrix::zeros(1, 2))?;
/// assert_eq!((loss.value, loss.gradient), (5.0, out)); // (1 + 9) / 2 and 2 · out / 2
/// # Ok::<(), attention::Error>(())
/// ```
pub fn mean_squared_error<T: Real>(
    out: &Matrix<T>,
    target: &Matrix<T>,
) -> Result<Loss<T>> {
    check_rows("out", out)?;
    Error::expect_shape("target", out.shape(), target.shape())?;
    let n = T::of(out.len() as f64);
    let error = out - target;
    Ok(Loss { value: error.norm_squared() / n, gradient: error * (T::of(2.0) / n) })
}

/// A mean needs something to be the mean of.
fn check_rows<T: Real>(what: &'static str, matrix: &Matrix<T>) -> Result<()> {
    if matrix.is_empty() {
        return Err(Error::EmptySequence { what, shape: matrix.shape() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Rng, SeedableRng, max_abs_diff, random_matrix};

    const H: f64 = 1e-5;

    /// The gradient of a loss by central differences, `(loss(x + h) − loss(x − h)) / 2h`.
    fn by_differences(x: &Matrix, loss: impl Fn(&Matrix) -> f64) -> Matrix {
        Matrix::from_fn(x.nrows(), x.ncols(), |i, j| {
            let at = |h: f64| {
                let mut moved = x.clone();
                moved[(i, j)] += h;
                loss(&moved)
            };
            (at(H) - at(-H)) / (2.0 * H)
        })
    }

    fn assert_close(a: &Matrix, b: &Matrix) {
        let diff = max_abs_diff(a, b).unwrap();
        assert!(diff < 1e-9, "{diff:e}");
    }

    #[test]
    fn between_two_equal_logits_the_loss_is_the_logarithm_of_two() {
        let loss = cross_entropy(&Matrix::from_element(1, 2, 5.0), &[1]).unwrap();
        assert!((loss.value - 2f64.ln()).abs() < 1e-15, "{}", loss.value);
        assert_eq!(loss.gradient, Matrix::from_row_slice(1, 2, &[0.5, -0.5]));
    }

    #[test]
    fn the_gradient_of_the_cross_entropy_is_that_of_its_differences() {
        let logits = random_matrix(4, 5, 2.0, &mut Rng::seed_from_u64(1));
        let classes = [0, 4, 2, 2];
        let loss = |logits: &Matrix| cross_entropy(logits, &classes).unwrap();
        let expected = by_differences(&logits, |logits| loss(logits).value);
        assert_close(&loss(&logits).gradient, &expected);
    }

    #[test]
    fn the_gradient_of_the_squared_error_is_that_of_its_differences() {
        let rng = &mut Rng::seed_from_u64(2);
        let (out, target) =
            (random_matrix(3, 4, 1.0, rng), random_matrix(3, 4, 1.0, rng));
        let loss = |out: &Matrix| mean_squared_error(out, &target).unwrap();
        let expected = by_differences(&out, |out| loss(out).value);
        assert_close(&loss(&out).gradient, &expected);
    }

    #[test]
    fn a_loss_is_a_mean_so_the_same_rows_twice_are_as_wrong_as_once() {
        let one: Matrix = Matrix::from_row_slice(1, 3, &[1.0, -2.0, 0.5]);
        let two = Matrix::from_fn(2, 3, |_, j| one[(0, j)]);
        let of_one = cross_entropy(&one, &[2]).unwrap();
        let of_two = cross_entropy(&two, &[2, 2]).unwrap();
        assert!((of_one.value - of_two.value).abs() < 1e-15);
        assert_close(&(&of_two.gradient * 2.0).rows(1, 1).into(), &of_one.gradient);

        let of_one = mean_squared_error(&one, &Matrix::zeros(1, 3)).unwrap();
        let of_two = mean_squared_error(&two, &Matrix::zeros(2, 3)).unwrap();
        assert_eq!(of_one.value, (1.0 + 4.0 + 0.25) / 3.0);
        assert!((of_one.value - of_two.value).abs() < 1e-15);
        assert_close(&(&of_two.gradient * 2.0).rows(1, 1).into(), &of_one.gradient);
    }

    #[test]
    fn huge_logits_give_a_huge_loss_and_no_infinity() {
        let logits = Matrix::from_row_slice(2, 2, &[1e4, -1e4, -1e4, 1e4]);
        let loss = cross_entropy(&logits, &[1, 1]).unwrap();
        assert_eq!(loss.value, 1e4); // 20,000 for the first row, 0 for the second
        let expected = Matrix::from_row_slice(2, 2, &[0.5, -0.5, 0.0, 0.0]);
        assert_eq!(loss.gradient, expected);
    }

    #[test]
    fn a_nan_in_the_logits_is_a_nan_in_the_loss() {
        let logits = Matrix::from_row_slice(1, 2, &[0.0, f64::NAN]);
        assert!(cross_entropy(&logits, &[0]).unwrap().value.is_nan());
    }

    #[test]
    fn answers_that_do_not_fit_are_refused_with_their_numbers() {
        let refused = |logits: (usize, usize), classes: &[usize]| {
            cross_entropy(&Matrix::<f64>::zeros(logits.0, logits.1), classes).unwrap_err()
        };
        insta::assert_snapshot!(refused((0, 5), &[]), @"logits has shape (0, 5): it holds no tokens");
        insta::assert_snapshot!(refused((2, 5), &[1]), @"the list of classes has 1 entries, expected 2");
        insta::assert_snapshot!(refused((3, 5), &[1, 0, 5]), @"row 2 is of class 5, and there are 5 classes, from 0");
        let target =
            mean_squared_error(&Matrix::<f64>::zeros(2, 3), &Matrix::zeros(3, 2));
        insta::assert_snapshot!(target.unwrap_err(), @"target has shape (3, 2), expected (2, 3)");
    }
}
