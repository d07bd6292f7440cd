//! A projection: `x · W + b`.

use rand::Rng;

use crate::{Error, Matrix, Real, Result, RowVector, random_matrix};

/// A linear map of tokens, `x · W + b`, with or without the bias.
///
/// W is stored `[in, out]`. PyTorch's `nn.Linear` stores `[out, in]` and computes
/// `x · Wᵀ + b`: the same map, its matrix transposed.
///
/// ```
/// use attention::{Linear, Matrix, RowVector};
///
/// let weight = Matrix::from_row_slice(2, 3, &[1.0, 0.0, 2.0, 0.0, 1.0, 3.0]);
/// let linear = Linear::new(weight, Some(RowVector::from_vec(vec![0.5, 0.0, -1.0])))?;
/// let token = Matrix::from_row_slice(1, 2, &[10.0, 100.0]);
/// let projected = linear.forward(&token)?; // [1, 3]
/// assert_eq!(projected.as_slice(), [10.5, 100.0, 319.0]);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Linear<T: Real = f64> {
    /// W, `[d_in, d_out]`.
    pub weight: Matrix<T>,
    /// b, `[d_out]`, added to every token.
    pub bias: Option<RowVector<T>>,
}

impl<T: Real> Linear<T> {
    /// A projection from its parts.
    ///
    /// # Shapes
    /// `weight` is `[d_in, d_out]`, `bias` is `[d_out]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if the bias has another length; [`Error::ZeroSize`].
    pub fn new(weight: Matrix<T>, bias: Option<RowVector<T>>) -> Result<Self> {
        Error::expect_positive("the input width of a projection", weight.nrows())?;
        Error::expect_positive("the output width of a projection", weight.ncols())?;
        if let Some(bias) = &bias {
            Error::expect_shape("the bias", (1, weight.ncols()), bias.shape())?;
        }
        Ok(Self { weight, bias })
    }

    /// Compares the bias's length with the weight's width: both fields are open to change.
    pub(crate) fn check_bias(&self, what: &str) -> Result<()> {
        let Some(bias) = &self.bias else { return Ok(()) };
        let expected = (1, self.d_out());
        Error::expect_shape(format!("the bias of {what}"), expected, bias.shape())
    }

    /// Random weights of the size that keeps the spread of numbers alike on both sides,
    /// `2 / (d_in + d_out)` for the variance; small random biases, not zeros, so that a
    /// forgotten bias shows.
    ///
    /// # Source
    /// Glorot and Bengio 2010, equation 16, as in PyTorch's `MultiheadAttention`.
    /// Differs: PyTorch starts biases at zero.
    pub fn random(d_in: usize, d_out: usize, bias: bool, rng: &mut impl Rng) -> Self {
        let std_dev = (2.0 / (d_in + d_out) as f64).sqrt();
        let weight = random_matrix(d_in, d_out, std_dev, rng);
        let bias = bias.then(|| random_matrix(1, d_out, 0.1, rng).row(0).into_owned());
        Self { weight, bias }
    }

    /// `x · W + b`.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_in]`, the result `[n_tokens, d_out]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if `x` has another width, or the bias.
    pub fn forward(&self, x: &Matrix<T>) -> Result<Matrix<T>> {
        let expected = (x.nrows(), self.d_in());
        Error::expect_shape("the input of a projection", expected, x.shape())?;
        self.check_bias("a projection")?;
        if x.nrows() == 1 {
            return Ok(self.forward_token(x));
        }
        let mut out = x * &self.weight; // [n_tokens, d_out]
        if let Some(bias) = &self.bias {
            for (mut feature, &b) in out.column_iter_mut().zip(bias.iter()) {
                feature.add_scalar_mut(b);
            }
        }
        Ok(out)
    }

    /// The same for one token, column by column, as the weight lies in memory. nalgebra's
    /// product of one row is many times slower, which a model that writes would feel.
    fn forward_token(&self, x: &Matrix<T>) -> Matrix<T> {
        let mut out = self.weight.tr_mul(&x.transpose()).transpose(); // [1, d_out]
        if let Some(bias) = &self.bias {
            out += bias;
        }
        out
    }

    /// The entries to be changed in place: those of the weight, column by column, and
    /// those of the bias if there is one.
    pub fn entries_mut(&mut self) -> Vec<&mut [T]> {
        let bias = self.bias.as_mut().map(|bias| bias.as_mut_slice());
        [Some(self.weight.as_mut_slice()), bias].into_iter().flatten().collect()
    }

    /// The entries, in the order of [`entries_mut`](Self::entries_mut).
    pub fn entries(&self) -> Vec<&[T]> {
        let bias = self.bias.as_ref().map(|bias| bias.as_slice());
        [Some(self.weight.as_slice()), bias].into_iter().flatten().collect()
    }

    /// The width of a token that goes in.
    pub fn d_in(&self) -> usize {
        self.weight.nrows()
    }

    /// The width of a token that comes out.
    pub fn d_out(&self) -> usize {
        self.weight.ncols()
    }

    /// The same projection in another precision.
    pub fn cast<U: Real>(&self) -> Linear<U> {
        let cast = |x: T| U::of(x.to_f64());
        Linear {
            weight: self.weight.map(cast),
            bias: self.bias.as_ref().map(|bias| bias.map(cast)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_projected_and_moved_by_the_bias() {
        let weight = Matrix::from_row_slice(2, 3, &[1.0, 0.0, 2.0, 0.0, 1.0, 3.0]);
        let bias = RowVector::from_row_slice(&[0.5, 0.0, -1.0]);
        let linear = Linear::new(weight, Some(bias)).unwrap();
        let x = Matrix::from_row_slice(1, 2, &[10.0, 100.0]);
        assert_eq!(linear.forward(&x).unwrap().as_slice(), [10.5, 100.0, 319.0]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused_with_both_shapes() {
        let weight = Matrix::<f64>::zeros(2, 3);
        let refused = Linear::new(weight.clone(), Some(RowVector::zeros(2)));
        insta::assert_snapshot!(refused.unwrap_err(), @"the bias has shape (1, 2), expected (1, 3)");
        let linear = Linear::new(weight, None).unwrap();
        insta::assert_snapshot!(linear.forward(&Matrix::zeros(5, 4)).unwrap_err(), @"the input of a projection has shape (5, 4), expected (5, 2)");
    }
}
