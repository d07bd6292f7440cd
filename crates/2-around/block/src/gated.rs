//! A feed-forward layer whose units are products of two projections.

use attention::{Error, Linear, Matrix, Real, Result, Rng};
use gradients::linear_backward;

use crate::Activation;

/// `FFN(x) = (act(x W_gate) ⊙ x W_up) W_down`: what one projection finds decides how much
/// of the other goes on.
///
/// # Source
/// Shazeer 2020, "GLU Variants Improve Transformer", equation 6 (SwiGLU with SiLU, GeGLU
/// with GELU, bilinear without an activation).
///
/// ```
/// use attention::{Rng, SeedableRng, random_matrix};
/// use block::GatedFeedForward;
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let swiglu: GatedFeedForward = GatedFeedForward::random(8, 20, rng);
/// assert_eq!(swiglu.forward(&random_matrix(5, 8, 1.0, rng))?.shape(), (5, 8));
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GatedFeedForward<T: Real = f64> {
    /// W_gate, `[d_model, d_ff]`.
    pub gate: Linear<T>,
    /// What bends the entries of the gate.
    pub activation: Activation,
    /// W_up, `[d_model, d_ff]`.
    pub up: Linear<T>,
    /// W_down, `[d_ff, d_model]`.
    pub down: Linear<T>,
}

/// What a pass keeps, each `[n_tokens, d_ff]`.
#[derive(Debug, Clone, PartialEq)]
pub struct GatedPass<T: Real = f64> {
    /// `x W_gate`, before the activation.
    pub gate: Matrix<T>,
    /// `x W_up`.
    pub up: Matrix<T>,
}

/// The gradients of a gated feed-forward layer.
#[derive(Debug, Clone, PartialEq)]
pub struct GatedGradients<T: Real = f64> {
    /// Of W_gate, W_up and W_down.
    pub d_projections: [Linear<T>; 3],
    /// What goes on to the tokens, `[n_tokens, d_model]`.
    pub d_x: Matrix<T>,
}

impl<T: Real> GatedFeedForward<T> {
    /// A layer from its parts.
    ///
    /// # Errors
    /// [`Error::Shape`] if W_up is not as W_gate, or W_down does not lead back.
    pub fn new(
        gate: Linear<T>,
        activation: Activation,
        up: Linear<T>,
        down: Linear<T>,
    ) -> Result<Self> {
        Error::expect_shape("W_up", gate.weight.shape(), up.weight.shape())?;
        let expected = (gate.d_out(), gate.d_in());
        Error::expect_shape("W_down", expected, down.weight.shape())?;
        Ok(Self { gate, activation, up, down })
    }

    /// Random parameters without biases, with SiLU: SwiGLU.
    pub fn random(d_model: usize, d_ff: usize, rng: &mut Rng) -> Self {
        let [gate, up] = [0, 1].map(|_| Linear::random(d_model, d_ff, false, rng));
        let down = Linear::random(d_ff, d_model, false, rng);
        Self { gate, activation: Activation::Silu, up, down }
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
    // ANCHOR: pass
    pub fn pass(&self, x: &Matrix<T>) -> Result<(Matrix<T>, GatedPass<T>)> {
        let (gate, up) = (self.gate.forward(x)?, self.up.forward(x)?); // [n_tokens, d_ff]
        let gated = self.activation.forward(&gate).component_mul(&up);
        Ok((self.down.forward(&gated)?, GatedPass { gate, up })) // [n_tokens, d_model]
    }
    // ANCHOR_END: pass

    /// The gradients from that of what came out.
    ///
    /// # Shapes
    /// `x` and `d_y` are `[n_tokens, d_model]`; `kept` is of the same `x`.
    ///
    /// # Errors
    /// [`Error::Shape`] if they are not.
    pub fn backward(
        &self,
        x: &Matrix<T>,
        kept: &GatedPass<T>,
        d_y: &Matrix<T>,
    ) -> Result<GatedGradients<T>> {
        let GatedPass { gate, up } = kept;
        let expected = (x.nrows(), self.gate.d_out());
        Error::expect_shape("the gate before its activation", expected, gate.shape())?;
        Error::expect_shape("what the gate is multiplied by", expected, up.shape())?;
        let active = self.activation.forward(gate);
        // self.down.forward(&gated)
        let down = linear_backward(&self.down, &active.component_mul(up), d_y)?;
        // self.activation.forward(&gate).component_mul(&up): each factor gets the other.
        let d_up = down.d_x.component_mul(&active);
        let d_gate = self.activation.backward(gate, &down.d_x.component_mul(up));
        // (self.gate.forward(x)?, self.up.forward(x)?)
        let gate = linear_backward(&self.gate, x, &d_gate)?;
        let up = linear_backward(&self.up, x, &d_up)?;
        Ok(GatedGradients {
            d_projections: [gate.d_linear, up.d_linear, down.d_linear],
            d_x: gate.d_x + up.d_x,
        })
    }

    /// What is learned, to be changed in place: W_gate, W_up, W_down.
    pub fn entries_mut(&mut self) -> Vec<&mut [T]> {
        let all = [&mut self.gate, &mut self.up, &mut self.down].into_iter();
        all.flat_map(Linear::entries_mut).collect()
    }
}

impl<T: Real> GatedGradients<T> {
    /// The gradients, in the order of [`GatedFeedForward::entries_mut`].
    pub fn entries(&self) -> Vec<&[T]> {
        self.d_projections.iter().flat_map(Linear::entries).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::difference;
    use attention::{SeedableRng, random_matrix};

    /// Entry by entry, with nothing shared with the layer but its parameters.
    #[test]
    fn a_unit_is_a_product_of_two_projections() {
        let rng = &mut Rng::seed_from_u64(1);
        let layer: GatedFeedForward = GatedFeedForward::random(3, 4, rng);
        let x: Matrix = random_matrix(2, 3, 1.0, rng);
        let out = layer.forward(&x).unwrap();
        let dot = |w: &Matrix, t: usize, unit: usize| -> f64 {
            (0..3).map(|a| x[(t, a)] * w[(a, unit)]).sum()
        };
        for (t, column) in [(0, 0), (0, 2), (1, 1)] {
            let unit = |unit: usize| {
                let z = dot(&layer.gate.weight, t, unit);
                let up = dot(&layer.up.weight, t, unit);
                z / (1.0 + (-z).exp()) * up * layer.down.weight[(unit, column)]
            };
            let expected: f64 = (0..4).map(unit).sum();
            assert!((out[(t, column)] - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn every_gradient_is_a_central_difference() {
        for activation in [Activation::Silu, Activation::Gelu, Activation::None] {
            let rng = &mut Rng::seed_from_u64(2);
            let mut layer: GatedFeedForward = GatedFeedForward::random(5, 7, rng);
            layer.activation = activation;
            layer.up = Linear::random(5, 7, true, rng); // biases too
            let [mut x, probe] = [0, 1].map(|_| random_matrix::<f64>(4, 5, 1.0, rng));
            let kept = layer.pass(&x).unwrap().1;
            let d = layer.backward(&x, &kept, &probe).unwrap();
            let value = |layer: &GatedFeedForward, x: &Matrix| {
                layer.forward(x).unwrap().dot(&probe)
            };
            let mut worst: f64 = 0.0;
            for part in 0..d.entries().len() {
                for entry in 0..d.entries()[part].len() {
                    let before = layer.entries_mut()[part][entry];
                    let found = difference(|h| {
                        layer.entries_mut()[part][entry] = before + h;
                        value(&layer, &x)
                    });
                    layer.entries_mut()[part][entry] = before;
                    worst = worst.max((found - d.entries()[part][entry]).abs());
                }
            }
            for entry in 0..x.len() {
                let before = x[entry];
                let found = difference(|h| {
                    x[entry] = before + h;
                    value(&layer, &x)
                });
                x[entry] = before;
                worst = worst.max((found - d.d_x[entry]).abs());
            }
            assert!(worst < 1e-7 * d.d_x.amax(), "{activation:?}: {worst:e}");
        }
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let rng = &mut Rng::seed_from_u64(3);
        let mut linear = |d_in, d_out| Linear::<f64>::random(d_in, d_out, false, rng);
        let silu = Activation::Silu;
        let refused =
            GatedFeedForward::new(linear(4, 8), silu, linear(4, 6), linear(8, 4));
        insta::assert_snapshot!(refused.unwrap_err(), @"W_up has shape (4, 6), expected (4, 8)");
        let refused =
            GatedFeedForward::new(linear(4, 8), silu, linear(4, 8), linear(4, 8));
        insta::assert_snapshot!(refused.unwrap_err(), @"W_down has shape (4, 8), expected (8, 4)");
    }
}
