//! From gradients to a step.

use attention::{Error, Gradients, Linear, Real, Result};
use fused_heads::FusedAttention;

use crate::Entries;

/// Some parameters, and the gradient of each.
pub type WithGradients<'a, T> = (&'a mut [T], &'a [T]);

/// A rule that turns gradients into a step of the parameters.
///
/// An optimiser may remember something of each parameter. So it is used on the same
/// parameters in the same order in every step; a layer and a readout each have their own,
/// or stand in one list.
///
/// ```
/// use attention::{Linear, Matrix};
/// use gradients::{Optimiser, Sgd};
///
/// let linear = |x| Linear::new(Matrix::from_element(2, 2, x), None);
/// let mut theta = linear(1.0)?;
/// Sgd { lr: 0.1 }.step(&mut [&mut theta], &[&linear(5.0)?])?;
/// assert_eq!(theta, linear(0.5)?);
/// # Ok::<(), attention::Error>(())
/// ```
pub trait Optimiser<T: Real = f64> {
    /// Changes parameters, part by part: what an optimiser is.
    ///
    /// # Shapes
    /// Each gradient is as long as its parameters.
    ///
    /// # Errors
    /// [`Error::Length`] if one is not, or if the optimiser remembers another number of
    /// parameters; then nothing was changed.
    fn update(&mut self, parts: &mut [WithGradients<'_, T>]) -> Result<()>;

    /// Changes all that is learned in something by its gradient, whose parts lie alike.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not a gradient for each part; as
    /// [`update`](Self::update).
    fn step_entries(
        &mut self,
        parameters: &mut dyn Entries<T>,
        gradients: &dyn Entries<T>,
    ) -> Result<()> {
        let (thetas, d_thetas) = (parameters.entries_mut(), gradients.entries());
        Error::expect_length("the list of gradients", thetas.len(), d_thetas.len())?;
        self.update(&mut thetas.into_iter().zip(d_thetas).collect::<Vec<_>>())
    }

    /// Changes every parameter of some projections by its gradient.
    ///
    /// # Shapes
    /// Each gradient has the shape of its parameter, weight and bias.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::Length`] if one has not; as [`update`](Self::update).
    fn step(
        &mut self,
        parameters: &mut [&mut Linear<T>],
        gradients: &[&Linear<T>],
    ) -> Result<()> {
        check(parameters.iter().map(|linear| &**linear), gradients)?;
        let thetas = parameters.iter_mut().flat_map(|linear| linear.entries_mut());
        let d_thetas = gradients.iter().flat_map(|d| d.entries());
        self.update(&mut thetas.zip(d_thetas).collect::<Vec<_>>())
    }

    /// Changes the projections of a layer, in place.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    fn step_layer(
        &mut self,
        layer: &mut FusedAttention<T>,
        gradients: &Gradients<T>,
    ) -> Result<()> {
        let gradients = gradients.projections();
        check(layer.parameters().projections().into_iter(), &gradients)?;
        let thetas = layer.parameters_mut().entries_mut().into_iter();
        let d_thetas = gradients.iter().flat_map(|d| d.entries());
        self.update(&mut thetas.zip(d_thetas).collect::<Vec<_>>())
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
    fn update(&mut self, parts: &mut [WithGradients<'_, T>]) -> Result<()> {
        count(parts)?;
        let lr = T::of(self.lr);
        for (theta, d_theta) in pairs(parts) {
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
    ///
    /// ```
    /// use attention::{Linear, Matrix};
    /// use gradients::{Adam, Optimiser};
    ///
    /// let linear = |x| Linear::new(Matrix::from_element(1, 1, x), None);
    /// let mut theta: Linear = linear(1.0)?;
    /// Adam::new(0.1).step(&mut [&mut theta], &[&linear(1e-3)?])?; // a small gradient
    /// assert!((theta.weight[0] - 0.9).abs() < 1e-5); // and a step of 0.1
    /// # Ok::<(), attention::Error>(())
    /// ```
    pub fn new(lr: f64) -> Self {
        let (beta_1, beta_2, epsilon) = (0.9, 0.999, 1e-8);
        Self { lr, beta_1, beta_2, epsilon, n_steps: 0, moments: Vec::new() }
    }
}

impl<T: Real> Optimiser<T> for Adam<T> {
    // ANCHOR: adam
    fn update(&mut self, parts: &mut [WithGradients<'_, T>]) -> Result<()> {
        let n_parameters = count(parts)?;
        if self.n_steps == 0 {
            self.moments = vec![(T::zero(), T::zero()); n_parameters];
        }
        let what = "the list of all parameters";
        Error::expect_length(what, self.moments.len(), n_parameters)?;
        self.n_steps = self.n_steps.saturating_add(1);

        let (lr, epsilon) = (T::of(self.lr), T::of(self.epsilon));
        let (beta_1, beta_2) = (T::of(self.beta_1), T::of(self.beta_2));
        let m_correction = T::of(1.0 - self.beta_1.powi(self.n_steps));
        let v_correction = T::of(1.0 - self.beta_2.powi(self.n_steps));
        for ((theta, g), (m, v)) in pairs(parts).zip(&mut self.moments) {
            *m = beta_1 * *m + (T::one() - beta_1) * g;
            *v = beta_2 * *v + (T::one() - beta_2) * g * g;
            let (m_hat, v_hat) = (*m / m_correction, *v / v_correction);
            *theta -= lr * m_hat / (v_hat.sqrt() + epsilon);
        }
        Ok(())
    }
    // ANCHOR_END: adam
}

/// Clipping: gradients whose norm, over all parameters, is larger than `most` are scaled down
/// to it. One step that would go far for once then goes no further than others, in the same
/// direction. Gives the norm that they had.
///
/// # Source
/// Pascanu et al. 2013, algorithm 1.
///
/// ```
/// use attention::Matrix;
/// use gradients::clip_norm;
///
/// let mut d: Matrix = Matrix::from_row_slice(1, 2, &[3.0, 4.0]);
/// assert_eq!(clip_norm(&mut d, 10.0), 5.0); // as they are
/// assert_eq!(clip_norm(&mut d, 1.0), 5.0);
/// assert!((d[(0, 0)] - 0.6).abs() < 1e-15 && (d[(0, 1)] - 0.8).abs() < 1e-15);
/// ```
pub fn clip_norm<T: Real>(gradients: &mut dyn Entries<T>, most: f64) -> f64 {
    let squares = gradients.entries().into_iter().flatten().map(|d| d.to_f64().powi(2));
    let norm = squares.sum::<f64>().sqrt();
    if norm > most {
        let factor = T::of(most / norm);
        gradients.entries_mut().into_iter().flatten().for_each(|d| *d *= factor);
    }
    norm
}

/// Every parameter with its gradient.
fn pairs<'a, T: Real>(
    parts: &'a mut [WithGradients<'_, T>],
) -> impl Iterator<Item = (&'a mut T, T)> {
    parts.iter_mut().flat_map(|(theta, d)| theta.iter_mut().zip(d.iter().copied()))
}

/// The number of parameters, if there is a gradient for each.
fn count<T>(parts: &[WithGradients<'_, T>]) -> Result<usize> {
    for (i, (theta, d)) in parts.iter().enumerate() {
        let what = format!("the gradient of part {i}");
        Error::expect_length(what, theta.len(), d.len())?;
    }
    Ok(parts.iter().map(|(theta, _)| theta.len()).sum())
}

/// Compares the shape of each gradient with that of its parameter.
fn check<'a, T: Real>(
    parameters: impl ExactSizeIterator<Item = &'a Linear<T>>,
    gradients: &[&Linear<T>],
) -> Result<()> {
    Error::expect_length("the list of gradients", parameters.len(), gradients.len())?;
    for (i, (linear, d)) in parameters.zip(gradients).enumerate() {
        let what = format!("the gradient of projection {i}'s weight");
        Error::expect_shape(what, linear.weight.shape(), d.weight.shape())?;
        let length = |linear: &Linear<T>| linear.bias.as_ref().map_or(0, |b| b.len());
        let what = format!("the gradient of projection {i}'s bias");
        Error::expect_length(what, length(linear), length(d))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
