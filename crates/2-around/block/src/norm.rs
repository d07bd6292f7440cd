//! Either norm, and where norms stand around a layer.

use attention::{Matrix, Real, Result, RowVector};
use gradients::{Entries, LayerGradients};

use crate::{LayerNorm, RmsNorm, layer_norm_backward};

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
