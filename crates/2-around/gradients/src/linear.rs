//! Backwards through a projection.

use attention::{Error, Linear, Matrix, Real, Result};

use crate::product::product;

/// The gradients of a projection `y = x · W + b`.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearGradients<T: Real = f64> {
    /// d_W, `[d_in, d_out]`, and d_b, `[d_out]`, if there is a b.
    pub d_linear: Linear<T>,
    /// What goes on to the tokens, `[n_tokens, d_in]`.
    pub d_x: Matrix<T>,
}

/// The gradients of `y = x · W + b` from the gradient of y:
/// `d_W = xᵀ · d_y`, `d_b = Σ_t d_y_t`, `d_x = d_y · Wᵀ`.
///
/// `y_tb = Σ_a x_ta W_ab + b_b`, so W_ab meets x_ta in every token t and moves y_tb: its
/// gradient is `Σ_t x_ta d_y_tb`. The bias is added to every token, so it gathers from
/// every token.
///
/// # Shapes
/// `x` is `[n_tokens, d_in]`, `d_y` is `[n_tokens, d_out]`.
///
/// # Errors
/// [`Error::Shape`] if `x` or `d_y` has another shape.
///
/// ```
/// use attention::{Linear, Matrix};
/// use gradients::linear_backward;
///
/// let linear = Linear::new(Matrix::from_row_slice(2, 1, &[3.0, 5.0]), None)?;
/// let x = Matrix::from_row_slice(2, 2, &[1.0, 10.0, 2.0, 20.0]);
/// let d = linear_backward(&linear, &x, &Matrix::from_element(2, 1, 1.0))?;
/// assert_eq!(d.d_linear.weight.as_slice(), [1.0 + 2.0, 10.0 + 20.0]);
/// assert_eq!(d.d_x.row(0), Matrix::from_row_slice(1, 2, &[3.0, 5.0]).row(0));
/// # Ok::<(), attention::Error>(())
/// ```
// ANCHOR: linear_backward
pub fn linear_backward<T: Real>(
    linear: &Linear<T>,
    x: &Matrix<T>,
    d_y: &Matrix<T>,
) -> Result<LinearGradients<T>> {
    let (n_tokens, d_in, d_out) = (x.nrows(), linear.d_in(), linear.d_out());
    Error::expect_shape("the input of a projection", (n_tokens, d_in), x.shape())?;
    let what = "the gradient of a projection's output";
    Error::expect_shape(what, (n_tokens, d_out), d_y.shape())?;

    // feature.add_scalar_mut(b);
    // A sum over tokens, as a product with ones: added in several lanes, it keeps more
    // digits.
    let ones = Matrix::from_element(n_tokens, 1, T::one());
    let d_b = d_y.tr_mul(&ones).column(0).transpose(); // [d_out]

    // let mut out = x * &self.weight;
    let (x_t, w_t) = (x.transpose(), linear.weight.transpose());
    let d_w = product(x_t.as_view(), d_y.as_view()); // [d_in, d_out]
    let d_x = product(d_y.as_view(), w_t.as_view()); // [n_tokens, d_in]

    let bias = linear.bias.as_ref().map(|_| d_b);
    Ok(LinearGradients { d_linear: Linear { weight: d_w, bias }, d_x })
}
// ANCHOR_END: linear_backward

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_gathers_from_every_token_that_it_met() {
        let weight = Matrix::from_row_slice(2, 1, &[3.0, 5.0]);
        let linear = Linear::new(weight, Some(vec![7.0].into())).unwrap();
        let x = Matrix::from_row_slice(2, 2, &[1.0, 10.0, 2.0, 20.0]);
        let d_y = Matrix::from_row_slice(2, 1, &[1.0, -1.0]);
        let LinearGradients { d_linear, d_x } =
            linear_backward(&linear, &x, &d_y).unwrap();
        assert_eq!(d_linear.weight.as_slice(), [1.0 - 2.0, 10.0 - 20.0]);
        assert_eq!(d_linear.bias.unwrap().as_slice(), [0.0]);
        assert_eq!(d_x, Matrix::from_row_slice(2, 2, &[3.0, 5.0, -3.0, -5.0]));
    }

    #[test]
    fn without_a_bias_there_is_no_gradient_for_one() {
        let linear = Linear::new(Matrix::<f64>::zeros(2, 3), None).unwrap();
        let d = linear_backward(&linear, &Matrix::zeros(4, 2), &Matrix::zeros(4, 3));
        assert_eq!(d.unwrap().d_linear.bias, None);
    }

    #[test]
    fn no_tokens_ask_for_nothing() {
        let bias = Some(vec![1.0; 3].into());
        let linear = Linear::new(Matrix::<f64>::zeros(2, 3), bias).unwrap();
        let d = linear_backward(&linear, &Matrix::zeros(0, 2), &Matrix::zeros(0, 3));
        let LinearGradients { d_linear, d_x } = d.unwrap();
        assert_eq!(d_linear.weight, Matrix::zeros(2, 3));
        assert_eq!(d_linear.bias.unwrap().as_slice(), [0.0; 3]);
        assert_eq!(d_x.shape(), (0, 2));
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused_with_both() {
        let linear = Linear::new(Matrix::<f64>::zeros(2, 3), None).unwrap();
        let refused = |x: (usize, usize), d_y: (usize, usize)| {
            let zeros = |(rows, cols)| Matrix::zeros(rows, cols);
            linear_backward(&linear, &zeros(x), &zeros(d_y)).unwrap_err()
        };
        insta::assert_snapshot!(refused((4, 3), (4, 3)), @"the input of a projection has shape (4, 3), expected (4, 2)");
        insta::assert_snapshot!(refused((4, 2), (4, 2)), @"the gradient of a projection's output has shape (4, 2), expected (4, 3)");
        insta::assert_snapshot!(refused((4, 2), (5, 3)), @"the gradient of a projection's output has shape (5, 3), expected (4, 3)");
    }
}
