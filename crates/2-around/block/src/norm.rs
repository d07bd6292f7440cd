//! Every token on the same scale without taking its mean away; either norm, and where norms stand
//! around a layer.

use attention::{Error, Matrix, Real, Result, RowVector};
use gradients::{Entries, LayerGradients};

use crate::{LayerNorm, layer_norm_backward};

/// Either norm.
#[derive(Debug, Clone, PartialEq)]
pub enum Norm<T: Real = f64> {
    /// By mean and variance.
    Layer(LayerNorm<T>),
    /// By the root mean square.
    Rms(RmsNorm<T>),
    /// By the root mean square, which is computed in f32 whatever the rest is in: T5's. Its
    /// own code does so, and a model in f64 without it differs in the sixth digit.
    RmsInF32(RmsNorm<T>),
}

impl<T: Real> From<LayerNorm<T>> for Norm<T> {
    fn from(norm: LayerNorm<T>) -> Self {
        Self::Layer(norm)
    }
}

impl<T: Real> From<RmsNorm<T>> for Norm<T> {
    fn from(norm: RmsNorm<T>) -> Self {
        Self::Rms(norm)
    }
}

impl<T: Real> Norm<T> {
    /// What each feature is multiplied by, `[d_model]`.
    pub fn gain(&self) -> &RowVector<T> {
        match self {
            Self::Layer(norm) => &norm.gain,
            Self::Rms(norm) | Self::RmsInF32(norm) => &norm.gain,
        }
    }

    /// `norm(x)`.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the result too.
    ///
    /// # Errors
    /// [`Error::Shape`](attention::Error::Shape) if `x` has another width.
    pub fn forward(&self, x: &Matrix<T>) -> Result<Matrix<T>> {
        match self {
            Self::Layer(norm) => norm.forward(x),
            Self::Rms(norm) => norm.forward(x),
            Self::RmsInF32(norm) => norm.forward_in_f32(x),
        }
    }

    /// The gradients of `y = norm(x)` from that of y.
    ///
    /// # Shapes
    /// `x` and `d_y` are `[n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`](attention::Error::Shape) if they are not.
    pub fn backward(
        &self,
        x: &Matrix<T>,
        d_y: &Matrix<T>,
    ) -> Result<LayerGradients<Self, T>> {
        Ok(match self {
            Self::Layer(norm) => {
                let LayerGradients { d_layer, d_x } = layer_norm_backward(norm, x, d_y)?;
                LayerGradients { d_layer: Self::Layer(d_layer), d_x }
            }
            Self::Rms(norm) | Self::RmsInF32(norm) => {
                let LayerGradients { d_layer, d_x } = norm.backward(x, d_y)?;
                LayerGradients { d_layer: Self::Rms(d_layer), d_x }
            }
        })
    }
}

impl<T: Real> Entries<T> for Norm<T> {
    fn entries(&self) -> Vec<&[T]> {
        match self {
            Self::Layer(norm) => norm.entries(),
            Self::Rms(norm) | Self::RmsInF32(norm) => norm.entries(),
        }
    }

    fn entries_mut(&mut self) -> Vec<&mut [T]> {
        match self {
            Self::Layer(norm) => norm.entries_mut(),
            Self::Rms(norm) | Self::RmsInF32(norm) => norm.entries_mut(),
        }
    }
}

/// The norms around a layer f, each of which can be missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Norms<T: Real = f64> {
    /// `x + f(norm(x))`, "pre-norm": x itself goes through untouched.
    pub before: Option<Norm<T>>,
    /// `x + norm(f(x))`, of what f gives, before it is added: with one before, Gemma 2's.
    pub of_output: Option<Norm<T>>,
    /// `norm(x + f(x))`, "post-norm": the paper's, and BERT's.
    pub after: Option<Norm<T>>,
}

impl<T: Real> Norms<T> {
    /// No norm.
    pub fn none() -> Self {
        Self { before: None, of_output: None, after: None }
    }

    /// One before the layer.
    pub fn before(norm: impl Into<Norm<T>>) -> Self {
        Self { before: Some(norm.into()), ..Self::none() }
    }

    /// One after the sum.
    pub fn after(norm: impl Into<Norm<T>>) -> Self {
        Self { after: Some(norm.into()), ..Self::none() }
    }

    /// Those that are there.
    pub fn iter(&self) -> impl Iterator<Item = &Norm<T>> {
        [&self.before, &self.of_output, &self.after].into_iter().flatten()
    }
}

gradients::entries!([T: Real] T, Norms<T>: before, of_output, after);

/// `norm(x) = gain ⊙ x / √(mean(x²) + eps)`, token by token: the layer norm without its
/// mean and its bias.
///
/// # Source
/// Zhang and Sennrich 2019, equation 4.
///
/// ```
/// use attention::Matrix;
/// use block::RmsNorm;
///
/// let norm = RmsNorm { eps: 0.0, ..RmsNorm::identity(2) };
/// let x = Matrix::from_row_slice(1, 2, &[70.0, 10.0]);
/// assert_eq!(norm.forward(&x)?.as_slice(), [1.4, 0.2]); // a mean square of 1
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RmsNorm<T: Real = f64> {
    /// What each feature is multiplied by, `[d_model]`.
    pub gain: RowVector<T>,
    /// What keeps a token of zeros from a division of 0 by 0.
    pub eps: f64,
}

gradients::entries!([T: Real] T, RmsNorm<T>: gain);

impl<T: Real> RmsNorm<T> {
    /// The norm with which a training begins: gain 1, eps 10⁻⁵.
    pub fn identity(d_model: usize) -> Self {
        Self { gain: RowVector::from_element(d_model, T::one()), eps: 1e-5 }
    }

    /// `norm(x)`.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the result too.
    ///
    /// # Errors
    /// [`Error::Shape`] if `x` has another width.
    pub fn forward(&self, x: &Matrix<T>) -> Result<Matrix<T>> {
        let mut y = x.clone();
        for (mut token, root) in y.row_iter_mut().zip(self.roots(x)?) {
            token /= root;
            token.component_mul_assign(&self.gain);
        }
        Ok(y)
    }

    /// `√(mean(x²) + eps)` of each token.
    fn roots(&self, x: &Matrix<T>) -> Result<Vec<T>> {
        let width = self.gain.len();
        Error::expect_shape("the input of a norm", (x.nrows(), width), x.shape())?;
        let (n, eps) = (T::of(width as f64), T::of(self.eps));
        Ok(x.row_iter().map(|token| (token.norm_squared() / n + eps).sqrt()).collect())
    }

    /// The same with roots that are computed in f32, as T5's own code does, and their
    /// inverses too.
    ///
    /// # Source
    /// `T5LayerNorm` of Hugging Face's transformers.
    pub(crate) fn forward_in_f32(&self, x: &Matrix<T>) -> Result<Matrix<T>> {
        let width = self.gain.len();
        Error::expect_shape("the input of a norm", (x.nrows(), width), x.shape())?;
        let mut y = x.clone();
        for mut token in y.row_iter_mut() {
            let squares = token.iter().map(|entry| (entry.to_f64() as f32).powi(2));
            let mean = in_lanes(squares) / width as f32;
            let factor = T::of(f64::from((mean + self.eps as f32).sqrt().recip()));
            token *= factor;
            token.component_mul_assign(&self.gain);
        }
        Ok(y)
    }

    /// The gradients of `y = norm(x)` from that of y.
    ///
    /// Write r for `√(mean(x²) + eps)` and x̂ for `x / r`:
    ///
    /// ```text
    /// y = gain ⊙ x̂    d_gain = Σ_t d_y_t ⊙ x̂_t    d_x̂ = d_y ⊙ gain
    /// x̂ = x / r       d_x = (d_x̂ − x̂ · mean(d_x̂ ⊙ x̂)) / r
    /// ```
    ///
    /// One mean less than the layer norm's: a step that shifts all entries of a token
    /// passes.
    ///
    /// # Shapes
    /// `x` and `d_y` are `[n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if they are not.
    pub fn backward(
        &self,
        x: &Matrix<T>,
        d_y: &Matrix<T>,
    ) -> Result<LayerGradients<Self, T>> {
        let roots = self.roots(x)?;
        Error::expect_shape("the gradient of a norm's output", x.shape(), d_y.shape())?;
        let mut d_gain = RowVector::zeros(self.gain.len());
        let mut d_x = d_y.clone();
        for (t, (mut d, root)) in d_x.row_iter_mut().zip(roots).enumerate() {
            let x_hat = x.row(t) / root;
            // token.component_mul_assign(&self.gain);
            d_gain += d.component_mul(&x_hat);
            d.component_mul_assign(&self.gain); // d_x̂
            // token /= root;
            let louder = d.component_mul(&x_hat).mean();
            d -= x_hat * louder;
            d /= root;
        }
        Ok(LayerGradients { d_layer: Self { gain: d_gain, eps: self.eps }, d_x })
    }
}

/// A sum in eight lanes, as vectors make it: in f32 the order is a part of the result.
fn in_lanes(entries: impl Iterator<Item = f32>) -> f32 {
    let mut lanes = [0.0; 8];
    for (i, entry) in entries.enumerate() {
        lanes[i % 8] += entry;
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Rng, SeedableRng, random_matrix};

    fn random_norm(rng: &mut Rng) -> RmsNorm {
        RmsNorm { gain: random_matrix(1, 6, 1.0, rng).row(0).into_owned(), eps: 1e-5 }
    }

    /// On tokens whose mean is 0 the two norms are one.
    #[test]
    fn a_token_with_mean_0_is_normed_as_by_the_layer_norm() {
        let rng = &mut Rng::seed_from_u64(1);
        let mut x: Matrix = random_matrix(4, 6, 3.0, rng);
        let rms = random_norm(rng);
        let layer =
            LayerNorm::new(rms.gain.clone(), RowVector::zeros(6), rms.eps).unwrap();
        let apart =
            |x: &Matrix| (rms.forward(x).unwrap() - layer.forward(x).unwrap()).amax();
        assert!(apart(&x) > 0.1);
        x.row_iter_mut().for_each(|mut token| token.add_scalar_mut(-token.mean()));
        assert!(apart(&x) < 1e-14, "{:e}", apart(&x));
    }

    /// Louder tokens give the same, so d_x has nothing along the token; a shift is seen.
    #[test]
    fn scaling_a_token_has_no_gradient_and_shifting_it_has() {
        let rng = &mut Rng::seed_from_u64(3);
        let norm = RmsNorm { eps: 0.0, ..random_norm(rng) };
        let [x, d_y] = [0, 1].map(|_| random_matrix::<f64>(4, 6, 1.0, rng));
        let d_x = norm.backward(&x, &d_y).unwrap().d_x;
        for (x, d) in x.row_iter().zip(d_x.row_iter()) {
            assert!(d.dot(&x).abs() < 1e-14 && d.sum().abs() > 1e-3);
        }
    }
}
