//! Every token on the same scale.

use attention::{Error, Matrix, Real, Result, RowVector};
use gradients::LayerGradients;

/// `norm(x) = gain ⊙ (x − mean(x)) / √(var(x) + eps) + bias`, token by token: mean and
/// variance are those of the token's own `d_model` entries.
///
/// The variance divides by `d_model`, and `eps` stands within the root.
///
/// # Source
/// Ba, Kiros and Hinton 2016, equation 4.
///
/// ```
/// use attention::Matrix;
/// use block::LayerNorm;
///
/// let loud_and_quiet = Matrix::from_row_slice(2, 2, &[100.0, 300.0, 1.0, 3.0]);
/// let norm = LayerNorm { eps: 0.0, ..LayerNorm::identity(2) };
/// let x = norm.forward(&loud_and_quiet)?;
/// assert_eq!(x, Matrix::from_row_slice(2, 2, &[-1.0, 1.0, -1.0, 1.0]));
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LayerNorm<T: Real = f64> {
    /// What each feature is multiplied by, `[d_model]`.
    pub gain: RowVector<T>,
    /// What is added to each feature, `[d_model]`.
    pub bias: RowVector<T>,
    /// What keeps a token of equal entries from a division of 0 by 0.
    pub eps: f64,
}

gradients::entries!([T: Real] T, LayerNorm<T>: gain, bias);

impl<T: Real> LayerNorm<T> {
    /// A norm from its parts.
    ///
    /// # Errors
    /// [`Error::Shape`] if gain and bias differ in length.
    pub fn new(gain: RowVector<T>, bias: RowVector<T>, eps: f64) -> Result<Self> {
        Error::expect_shape("the bias of a norm", gain.shape(), bias.shape())?;
        Ok(Self { gain, bias, eps })
    }

    /// The norm with which a training begins: gain 1, bias 0, eps 10⁻⁵.
    pub fn identity(d_model: usize) -> Self {
        let gain = RowVector::from_element(d_model, T::one());
        Self { gain, bias: RowVector::zeros(d_model), eps: 1e-5 }
    }

    /// The width of a token.
    pub fn d_model(&self) -> usize {
        self.gain.len()
    }

    /// `norm(x)`.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the result too.
    ///
    /// # Errors
    /// [`Error::Shape`] if `x` has another width, or the bias.
    pub fn forward(&self, x: &Matrix<T>) -> Result<Matrix<T>> {
        let (mut y, _) = self.standardize(x)?;
        for mut token in y.row_iter_mut() {
            token.component_mul_assign(&self.gain);
            token += &self.bias;
        }
        Ok(y)
    }

    /// `x̂ = (x − mean) / √(var + eps)`, and `1 / √(var + eps)` of each token.
    fn standardize(&self, x: &Matrix<T>) -> Result<(Matrix<T>, Vec<T>)> {
        let width = self.d_model();
        Error::expect_shape("the bias of a norm", (1, width), self.bias.shape())?;
        Error::expect_shape("the input of a norm", (x.nrows(), width), x.shape())?;
        let mut x_hat = x.clone();
        let mut rates = Vec::with_capacity(x.nrows());
        for mut token in x_hat.row_iter_mut() {
            token.add_scalar_mut(-token.mean());
            let variance = token.norm_squared() / T::of(width as f64);
            let rate = T::one() / (variance + T::of(self.eps)).sqrt();
            token *= rate;
            rates.push(rate);
        }
        Ok((x_hat, rates))
    }
}

/// The gradients of `y = norm(x)` from the gradient of y.
///
/// Write x̂ for the token with mean 0 and variance 1 and r for `1 / √(var + eps)`:
///
/// ```text
/// y = gain ⊙ x̂ + bias    d_gain = Σ_t d_y_t ⊙ x̂_t    d_bias = Σ_t d_y_t
///                        d_x̂ = d_y ⊙ gain
/// x̂ = (x − mean) r       d_x = r (d_x̂ − mean(d_x̂) − x̂ · mean(d_x̂ ⊙ x̂))
/// ```
///
/// The two means are what the token's scale takes away: a step that only shifts the token,
/// or only makes it louder, changes nothing behind the norm, and so has no gradient.
///
/// # Shapes
/// `x` and `d_y` are `[n_tokens, d_model]`.
///
/// # Errors
/// [`Error::Shape`] if they are not.
// ANCHOR: layer_norm_backward
pub fn layer_norm_backward<T: Real>(
    norm: &LayerNorm<T>,
    x: &Matrix<T>,
    d_y: &Matrix<T>,
) -> Result<LayerGradients<LayerNorm<T>, T>> {
    let (x_hat, rates) = norm.standardize(x)?;
    Error::expect_shape("the gradient of a norm's output", x.shape(), d_y.shape())?;

    // token.component_mul_assign(&self.gain);  token += &self.bias;
    let gain = d_y.component_mul(&x_hat).row_sum(); // d_gain
    let bias = d_y.row_sum(); // d_bias

    // token.add_scalar_mut(-token.mean());  token *= rate;
    let mut d_x = d_y.clone();
    for (t, mut d) in d_x.row_iter_mut().enumerate() {
        d.component_mul_assign(&norm.gain); // d_x̂
        let shift = d.mean();
        let louder = d.component_mul(&x_hat.row(t)).mean();
        d.add_scalar_mut(-shift);
        d -= x_hat.row(t) * louder;
        d *= rates[t];
    }
    Ok(LayerGradients { d_layer: LayerNorm { gain, bias, eps: norm.eps }, d_x })
}
// ANCHOR_END: layer_norm_backward

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Rng, SeedableRng, random_matrix};

    fn random_norm(rng: &mut Rng) -> LayerNorm {
        let row = |rng: &mut Rng| random_matrix(1, 6, 1.0, rng).row(0).into_owned();
        LayerNorm::new(row(rng), row(rng), 1e-5).unwrap()
    }

    #[test]
    fn a_token_has_mean_0_and_variance_1_behind_it() {
        let rng = &mut Rng::seed_from_u64(1);
        let x: Matrix = random_matrix(4, 6, 30.0, rng).add_scalar(7.0);
        let y = LayerNorm::identity(6).forward(&x).unwrap();
        for token in y.row_iter() {
            let (mean, variance) = (token.mean(), token.norm_squared() / 6.0);
            assert!(mean.abs() < 1e-14 && (variance - 1.0).abs() < 1e-6, "{token}");
        }
    }

    #[test]
    fn a_token_of_equal_entries_becomes_the_bias() {
        let norm = random_norm(&mut Rng::seed_from_u64(2));
        let y = norm.forward(&Matrix::from_element(2, 6, 5.0)).unwrap();
        assert_eq!(y.row(1), norm.bias);
    }

    /// d_x along the token itself and along (1, …, 1) is 0, but for eps.
    #[test]
    fn shifting_and_scaling_a_token_has_no_gradient() {
        let rng = &mut Rng::seed_from_u64(3);
        let norm = LayerNorm { eps: 0.0, ..random_norm(rng) };
        let (x, d_y) = (random_matrix(4, 6, 1.0, rng), random_matrix(4, 6, 1.0, rng));
        let d_x = layer_norm_backward(&norm, &x, &d_y).unwrap().d_x;
        for (x, d) in x.row_iter().zip(d_x.row_iter()) {
            assert!(d.sum().abs() < 1e-14 && d.dot(&x).abs() < 1e-14);
        }
    }
}
