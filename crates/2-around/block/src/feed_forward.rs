//! What a token computes by itself.

use attention::{Error, Linear, Matrix, Real, Result, Rng};
use gradients::{LinearGradients, linear_backward};

use crate::Activation;

/// `FFN(x) = act(x W₁ + b₁) W₂ + b₂`, the same for every token: no token sees another.
///
/// # Source
/// Vaswani et al. 2017, section 3.3.
///
/// ```
/// use attention::{Rng, SeedableRng, random_matrix};
/// use block::FeedForward;
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let feed_forward: FeedForward = FeedForward::random(8, 32, rng);
/// assert_eq!(feed_forward.forward(&random_matrix(5, 8, 1.0, rng))?.shape(), (5, 8));
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FeedForward<T: Real = f64> {
    /// W₁ and b₁, `[d_model, d_ff]`: four times as wide, as a rule.
    pub w_1: Linear<T>,
    /// What bends each of the `d_ff` entries.
    pub activation: Activation,
    /// W₂ and b₂, `[d_ff, d_model]`.
    pub w_2: Linear<T>,
}

/// The gradients of a feed-forward layer.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedForwardGradients<T: Real = f64> {
    /// Of W₁ and b₁.
    pub d_w_1: Linear<T>,
    /// Of W₂ and b₂.
    pub d_w_2: Linear<T>,
    /// What goes on to the tokens, `[n_tokens, d_model]`.
    pub d_x: Matrix<T>,
}

impl<T: Real> FeedForward<T> {
    /// A layer from its parts.
    ///
    /// # Errors
    /// [`Error::Shape`] if W₂ does not lead back from where W₁ leads to.
    pub fn new(w_1: Linear<T>, activation: Activation, w_2: Linear<T>) -> Result<Self> {
        let expected = (w_1.d_out(), w_1.d_in());
        Error::expect_shape("W_2", expected, w_2.weight.shape())?;
        Ok(Self { w_1, activation, w_2 })
    }

    /// Random parameters, with GELU.
    pub fn random(d_model: usize, d_ff: usize, rng: &mut Rng) -> Self {
        let w_1 = Linear::random(d_model, d_ff, true, rng);
        let w_2 = Linear::random(d_ff, d_model, true, rng);
        Self { w_1, activation: Activation::Gelu, w_2 }
    }

    /// `FFN(x)`.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the result too.
    ///
    /// # Errors
    /// [`Error::Shape`] if `x` has another width.
    pub fn forward(&self, x: &Matrix<T>) -> Result<Matrix<T>> {
        Ok(self.pass(x)?.0)
    }

    /// `FFN(x)`, and what the activation was given, `[n_tokens, d_ff]`, which
    /// [`backward`](Self::backward) needs.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    // ANCHOR: pass
    pub fn pass(&self, x: &Matrix<T>) -> Result<(Matrix<T>, Matrix<T>)> {
        let hidden = self.w_1.forward(x)?; // [n_tokens, d_ff]
        let active = self.activation.forward(&hidden); // [n_tokens, d_ff]
        Ok((self.w_2.forward(&active)?, hidden)) // [n_tokens, d_model]
    }
    // ANCHOR_END: pass

    /// The gradients from that of what came out; `hidden` is what [`pass`](Self::pass)
    /// kept.
    ///
    /// # Shapes
    /// `x` and `d_y` are `[n_tokens, d_model]`, `hidden` is `[n_tokens, d_ff]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if one is not.
    // ANCHOR: backward
    pub fn backward(
        &self,
        x: &Matrix<T>,
        hidden: &Matrix<T>,
        d_y: &Matrix<T>,
    ) -> Result<FeedForwardGradients<T>> {
        let expected = (x.nrows(), self.w_1.d_out());
        Error::expect_shape("the input of the activation", expected, hidden.shape())?;
        let active = self.activation.forward(hidden);
        let LinearGradients { d_linear: d_w_2, d_x: d_active } =
            linear_backward(&self.w_2, &active, d_y)?;
        let d_hidden = self.activation.backward(hidden, &d_active);
        let LinearGradients { d_linear: d_w_1, d_x } =
            linear_backward(&self.w_1, x, &d_hidden)?;
        Ok(FeedForwardGradients { d_w_1, d_w_2, d_x })
    }
    // ANCHOR_END: backward

    /// What is learned, to be changed in place: W₁, b₁, W₂, b₂.
    pub fn entries_mut(&mut self) -> Vec<&mut [T]> {
        let both = [&mut self.w_1, &mut self.w_2].into_iter();
        both.flat_map(Linear::entries_mut).collect()
    }
}

impl<T: Real> FeedForwardGradients<T> {
    /// The gradients, in the order of [`FeedForward::entries_mut`].
    pub fn entries(&self) -> Vec<&[T]> {
        [&self.d_w_1, &self.d_w_2].into_iter().flat_map(Linear::entries).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{SeedableRng, random_matrix};

    #[test]
    fn each_token_is_alone() {
        let rng = &mut Rng::seed_from_u64(1);
        let layer: FeedForward = FeedForward::random(4, 16, rng);
        let x = random_matrix(3, 4, 1.0, rng);
        let mut other = x.clone();
        other.row_mut(1).fill(9.0);
        let (y, changed) = (layer.forward(&x).unwrap(), layer.forward(&other).unwrap());
        assert_eq!((y.row(0), y.row(2)), (changed.row(0), changed.row(2)));
        assert_ne!(y.row(1), changed.row(1));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let rng = &mut Rng::seed_from_u64(1);
        let mut linear = |d_in, d_out| Linear::<f64>::random(d_in, d_out, true, rng);
        let refused = FeedForward::new(linear(4, 8), Activation::Relu, linear(8, 5));
        insta::assert_snapshot!(refused.unwrap_err(), @"W_2 has shape (8, 5), expected (8, 4)");
    }
}
