//! What a token computes by itself.

use attention::{Error, Linear, Matrix, Real, Result, Rng};
use gradients::{LayerGradients, LinearGradients, linear_backward};

use crate::Activation;

/// `FFN(x) = act(x W₁ + b₁) W₂ + b₂`, or with a gate `FFN(x) = (act(x W_gate) ⊙ x W₁) W₂`,
/// where what one projection finds decides how much of the other goes on. The same for every
/// token: no token sees another.
///
/// # Source
/// Vaswani et al. 2017, section 3.3; with a gate Shazeer 2020, "GLU Variants Improve
/// Transformer", equation 6 (SwiGLU with SiLU, GeGLU with GELU, bilinear without an
/// activation).
///
/// ```
/// use attention::{Rng, SeedableRng, random_matrix};
/// use block::FeedForward;
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let x = random_matrix(5, 8, 1.0, rng);
/// let feed_forward: FeedForward = FeedForward::random(8, 32, rng);
/// assert_eq!(feed_forward.forward(&x)?.shape(), (5, 8));
/// let swiglu: FeedForward = FeedForward::random_gated(8, 20, rng);
/// assert_eq!(swiglu.forward(&x)?.shape(), (5, 8));
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FeedForward<T: Real = f64> {
    /// W_gate, `[d_model, d_ff]`, if there is a gate.
    pub gate: Option<Linear<T>>,
    /// W₁ and b₁, `[d_model, d_ff]`: four times as wide, as a rule. Behind a gate it is W_up.
    pub w_1: Linear<T>,
    /// What bends each of the `d_ff` entries, of the gate where there is one.
    pub activation: Activation,
    /// W₂ and b₂, `[d_ff, d_model]`. Behind a gate it is W_down.
    pub w_2: Linear<T>,
}

gradients::entries!([T: Real] T, FeedForward<T>: gate, w_1, w_2);

/// What a pass keeps, each `[n_tokens, d_ff]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Hidden<T: Real = f64> {
    /// `x W_gate`, before the activation.
    pub gate: Option<Matrix<T>>,
    /// `x W₁ + b₁`, before the activation if there is no gate.
    pub inner: Matrix<T>,
}

impl<T: Real> FeedForward<T> {
    /// A layer from its parts.
    ///
    /// # Errors
    /// [`Error::Shape`] if W₂ does not lead back from where W₁ leads to.
    pub fn new(w_1: Linear<T>, activation: Activation, w_2: Linear<T>) -> Result<Self> {
        let expected = (w_1.d_out(), w_1.d_in());
        Error::expect_shape("W_2", expected, w_2.weight.shape())?;
        Ok(Self { gate: None, w_1, activation, w_2 })
    }

    /// A layer with a gate.
    ///
    /// # Errors
    /// [`Error::Shape`] if W_up is not as W_gate, or W_down does not lead back.
    pub fn gated(
        gate: Linear<T>,
        activation: Activation,
        up: Linear<T>,
        down: Linear<T>,
    ) -> Result<Self> {
        Error::expect_shape("W_up", gate.weight.shape(), up.weight.shape())?;
        let expected = (gate.d_out(), gate.d_in());
        Error::expect_shape("W_down", expected, down.weight.shape())?;
        Ok(Self { gate: Some(gate), w_1: up, activation, w_2: down })
    }

    /// Random parameters, with GELU.
    pub fn random(d_model: usize, d_ff: usize, rng: &mut Rng) -> Self {
        let w_1 = Linear::random(d_model, d_ff, true, rng);
        let w_2 = Linear::random(d_ff, d_model, true, rng);
        Self { gate: None, w_1, activation: Activation::Gelu, w_2 }
    }

    /// Random parameters without biases, with a gate and SiLU: SwiGLU.
    pub fn random_gated(d_model: usize, d_ff: usize, rng: &mut Rng) -> Self {
        let [gate, w_1] = [0, 1].map(|_| Linear::random(d_model, d_ff, false, rng));
        let w_2 = Linear::random(d_ff, d_model, false, rng);
        Self { gate: Some(gate), w_1, activation: Activation::Silu, w_2 }
    }

    /// The projections: W_gate, if there is one, W₁ and W₂.
    pub fn projections(&self) -> impl Iterator<Item = &Linear<T>> {
        self.gate.iter().chain([&self.w_1, &self.w_2])
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

    /// `FFN(x)`, and what [`backward`](Self::backward) needs of the pass.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn pass(&self, x: &Matrix<T>) -> Result<(Matrix<T>, Hidden<T>)> {
        let gate = self.gate.as_ref().map(|gate| gate.forward(x)).transpose()?;
        let hidden = Hidden { gate, inner: self.w_1.forward(x)? }; // [n_tokens, d_ff]
        Ok((self.w_2.forward(&self.units(&hidden))?, hidden)) // [n_tokens, d_model]
    }

    fn units(&self, hidden: &Hidden<T>) -> Matrix<T> {
        match &hidden.gate {
            None => self.activation.forward(&hidden.inner),
            Some(gate) => self.activation.forward(gate).component_mul(&hidden.inner),
        }
    }

    /// The gradients from that of what came out; `hidden` is what [`pass`](Self::pass)
    /// kept.
    ///
    /// # Shapes
    /// `x` and `d_y` are `[n_tokens, d_model]`; `hidden` is of the same `x`.
    ///
    /// # Errors
    /// [`Error::Shape`] if they are not.
    pub fn backward(
        &self,
        x: &Matrix<T>,
        hidden: &Hidden<T>,
        d_y: &Matrix<T>,
    ) -> Result<LayerGradients<Self, T>> {
        let Hidden { gate, inner } = hidden;
        let expected = (x.nrows(), self.w_1.d_out());
        Error::expect_shape("what a feed-forward layer kept", expected, inner.shape())?;
        // self.w_2.forward(&self.units(&hidden))
        let LinearGradients { d_linear: w_2, d_x: d_units } =
            linear_backward(&self.w_2, &self.units(hidden), d_y)?;
        let (of_gate, d_inner) = match (&self.gate, gate) {
            (Some(linear), Some(gate)) => {
                // self.activation.forward(gate).component_mul(&hidden.inner): each factor
                // gets the other.
                let d_active = d_units.component_mul(inner);
                let d_gate = self.activation.backward(gate, &d_active);
                let d_inner = d_units.component_mul(&self.activation.forward(gate));
                (Some(linear_backward(linear, x, &d_gate)?), d_inner)
            }
            // self.activation.forward(&hidden.inner)
            _ => (None, self.activation.backward(inner, &d_units)),
        };
        let LinearGradients { d_linear: w_1, d_x } =
            linear_backward(&self.w_1, x, &d_inner)?;
        let (gate, d_x) = match of_gate {
            Some(d) => (Some(d.d_linear), d.d_x + d_x),
            None => (None, d_x),
        };
        let d_layer = Self { gate, w_1, activation: self.activation, w_2 };
        Ok(LayerGradients { d_layer, d_x })
    }
}

#[cfg(test)]
mod tests;
