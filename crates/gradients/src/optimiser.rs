//! From gradients to a step.

use attention::{Error, Linear, MultiHeadAttention, Real, Result};
use fused_heads::FusedAttention;

use crate::Gradients;
use crate::gradients::cut_into_heads;

/// A rule that turns gradients into a step of the parameters.
///
/// An optimiser may remember something of each parameter. So it is used on the same
/// parameters in the same order in every step; a layer and a readout each have their own,
/// or stand in one list.
pub trait Optimiser<T: Real = f64> {
    /// Changes every parameter by its gradient.
    ///
    /// # Shapes
    /// Each gradient has the shape of its parameter, weight and bias.
    ///
    /// # Errors
    /// [`Error::Shape`] if one has not, or if the optimiser remembers another number of
    /// parameters; then nothing was changed.
    fn step(
        &mut self,
        parameters: &mut [&mut Linear<T>],
        gradients: &[&Linear<T>],
    ) -> Result<()>;

    /// Changes the projections of a layer.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    fn step_layer(
        &mut self,
        layer: &mut FusedAttention<T>,
        gradients: &Gradients<T>,
    ) -> Result<()> {
        let p = layer.parameters();
        let mut w = [p.w_q(), p.w_k(), p.w_v(), p.w_o()].map(Linear::clone);
        self.step(&mut w.each_mut(), &gradients.projections())?;
        *layer = FusedAttention::new(&cut_into_heads(layer.dims(), w.each_ref())?);
        Ok(())
    }
}

/// Plain gradient descent, the SGD of other libraries: `θ ← θ − rate · d_θ`, a step downhill.
#[derive(Debug, Clone, PartialEq)]
pub struct Sgd {
    /// The learning rate: how far a step goes.
    pub lr: f64,
}

impl<T: Real> Optimiser<T> for Sgd {
    // ANCHOR: sgd
    fn step(
        &mut self,
        parameters: &mut [&mut Linear<T>],
        gradients: &[&Linear<T>],
    ) -> Result<()> {
        check(parameters, gradients)?;
        let lr = T::of(self.lr);
        for (theta, d_theta) in pairs(parameters, gradients) {
            *theta -= lr * d_theta;
        }
        Ok(())
    }
    // ANCHOR_END: sgd
}

/// Adam: each parameter has a step length of its own.
///
/// ```text
/// m ← β₁ m + (1 − β₁) d_θ        the gradient, averaged over the last steps
/// v ← β₂ v + (1 − β₂) d_θ²       its square, averaged over more of them
/// θ ← θ − rate · m̂ / (√v̂ + ε)    m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)
/// ```
///
/// m and v start at zero and are too small at first; the divisions by `1 − βᵗ` make up
/// for it. A parameter whose gradient keeps its sign goes about `lr` a step, however
/// small the gradient is.
///
/// # Source
/// Kingma and Ba 2015, algorithm 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam<T: Real = f64> {
    /// The learning rate: how far a step goes.
    pub lr: f64,
    /// β₁: how much of the average gradient stays, a step.
    pub beta_1: f64,
    /// β₂: how much of the average square stays, a step.
    pub beta_2: f64,
    /// ε: keeps a parameter without gradient from a division by zero.
    pub epsilon: f64,
    /// t, the number of steps so far.
    n_steps: i32,
    /// m and v of each parameter, in the order of the list.
    moments: Vec<(T, T)>,
}

impl<T: Real> Adam<T> {
    /// Adam with the paper's numbers: β₁ = 0.9, β₂ = 0.999, ε = 10⁻⁸.
    pub fn new(lr: f64) -> Self {
        let (beta_1, beta_2, epsilon) = (0.9, 0.999, 1e-8);
        Self { lr, beta_1, beta_2, epsilon, n_steps: 0, moments: Vec::new() }
    }
}

impl<T: Real> Optimiser<T> for Adam<T> {
    // ANCHOR: adam
    fn step(
        &mut self,
        parameters: &mut [&mut Linear<T>],
        gradients: &[&Linear<T>],
    ) -> Result<()> {
        let n_parameters = check(parameters, gradients)?;
        if self.n_steps == 0 {
            self.moments = vec![(T::zero(), T::zero()); n_parameters];
        }
        let what = "the list of all parameters";
        Error::expect_shape(what, (self.moments.len(), 1), (n_parameters, 1))?;
        self.n_steps += 1;

        let (lr, epsilon) = (T::of(self.lr), T::of(self.epsilon));
        let (beta_1, beta_2) = (T::of(self.beta_1), T::of(self.beta_2));
        let m_correction = T::of(1.0 - self.beta_1.powi(self.n_steps));
        let v_correction = T::of(1.0 - self.beta_2.powi(self.n_steps));
        for ((theta, g), (m, v)) in pairs(parameters, gradients).zip(&mut self.moments) {
            *m = beta_1 * *m + (T::one() - beta_1) * g;
            *v = beta_2 * *v + (T::one() - beta_2) * g * g;
            let (m_hat, v_hat) = (*m / m_correction, *v / v_correction);
            *theta -= lr * m_hat / (v_hat.sqrt() + epsilon);
        }
        Ok(())
    }
    // ANCHOR_END: adam
}

/// Every parameter with its gradient: weights and then biases, projection by projection.
fn pairs<'a, T: Real>(
    parameters: &'a mut [&mut Linear<T>],
    gradients: &'a [&Linear<T>],
) -> impl Iterator<Item = (&'a mut T, T)> {
    parameters.iter_mut().zip(gradients).flat_map(|(linear, d)| {
        let Linear { weight, bias } = &mut **linear;
        let thetas = weight.iter_mut().chain(bias.iter_mut().flat_map(|b| b.iter_mut()));
        let d_thetas = d.weight.iter().chain(d.bias.iter().flat_map(|b| b.iter()));
        thetas.zip(d_thetas.copied())
    })
}

/// Holds each gradient against its parameter; gives the number of parameters in all.
fn check<T: Real>(
    parameters: &[&mut Linear<T>],
    gradients: &[&Linear<T>],
) -> Result<usize> {
    let list = |n: usize| (n, 1);
    let what = "the list of gradients";
    Error::expect_shape(what, list(parameters.len()), list(gradients.len()))?;
    let mut n_parameters = 0;
    for (i, (linear, d)) in parameters.iter().zip(gradients).enumerate() {
        let bias =
            |linear: &Linear<T>| linear.bias.as_ref().map_or((0, 0), |b| b.shape());
        let (of_weight, of_bias) = (linear.weight.shape(), bias(linear));
        let what = format!("the gradient of projection {i}'s weight");
        Error::expect_shape(what, of_weight, d.weight.shape())?;
        let what = format!("the gradient of projection {i}'s bias");
        Error::expect_shape(what, of_bias, bias(d))?;
        n_parameters += of_weight.0 * of_weight.1 + of_bias.1;
    }
    Ok(n_parameters)
}

#[cfg(test)]
mod tests;
