//! The residual and the norms around a layer.

use attention::{Matrix, Real, Result};
use gradients::{Entries, LayerGradients};

use crate::{Norm, Norms};

/// A layer f with what stands around it.
///
/// # Source
/// Vaswani et al. 2017, section 3.1 (the residual of He et al. 2016, the norm after it);
/// Xiong et al. 2020 compare the two places; Gemma Team 2024, section 2 (norms on both
/// sides).
#[derive(Debug, Clone, PartialEq)]
pub struct Sublayer<F, T: Real = f64> {
    /// f: an attention layer, or a feed-forward layer.
    pub function: F,
    /// Its norms.
    pub norms: Norms<T>,
    /// Whether x is added to the layer's output. It always is, except to see what for.
    pub residual: bool,
}

gradients::entries!([F: Entries<T>, T: Real] T, Sublayer<F, T>: function, norms);

/// One pass through a sub-layer.
#[derive(Debug, Clone, PartialEq)]
pub struct SublayerPass<K, T: Real = f64> {
    /// What f was given: `norm(x)`, or x.
    pub inner: Matrix<T>,
    /// What f keeps of its pass.
    pub kept: K,
    /// `f(…)`, where a norm reads it.
    output: Option<Matrix<T>>,
    /// `x + f(…)`, where a norm stands after it.
    sum: Option<Matrix<T>>,
    /// What came out.
    pub out: Matrix<T>,
}

/// The gradients of a sub-layer, those of f being a G.
pub type SublayerGradients<G, T = f64> = LayerGradients<Sublayer<G, T>, T>;

impl<K, T: Real> SublayerPass<K, T> {
    /// `x + f(…)`, before a norm that stands after it.
    pub fn sum(&self) -> &Matrix<T> {
        self.sum.as_ref().unwrap_or(&self.out)
    }
}

impl<F, T: Real> Sublayer<F, T> {
    /// With a residual.
    pub fn new(function: F, norms: Norms<T>) -> Self {
        Self { function, norms, residual: true }
    }

    /// The same around another layer.
    pub fn with<G>(&self, function: G) -> Sublayer<G, T> {
        let Self { norms, residual, .. } = self;
        Sublayer { function, norms: norms.clone(), residual: *residual }
    }

    /// Forward: `f` computes the layer's output, and may keep something for the backward
    /// pass.
    ///
    /// # Errors
    /// As `f`, and if a norm is of another width.
    pub fn forward<K>(
        &self,
        x: &Matrix<T>,
        f: impl FnOnce(&F, &Matrix<T>) -> Result<(Matrix<T>, K)>,
    ) -> Result<SublayerPass<K, T>> {
        self.forward_beside(x, x, f)
    }

    /// The same, with a residual from elsewhere: `f` reads `x`, and its output is added to
    /// `beside`.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn forward_beside<K>(
        &self,
        x: &Matrix<T>,
        beside: &Matrix<T>, // x, in nearly all models
        f: impl FnOnce(&F, &Matrix<T>) -> Result<(Matrix<T>, K)>,
    ) -> Result<SublayerPass<K, T>> {
        let inner = match &self.norms.before {
            Some(norm) => norm.forward(x)?,
            None => x.clone(),
        };
        let (change, kept) = f(&self.function, &inner)?;
        let (change, output) = normed(&self.norms.of_output, change)?;
        let sum = if self.residual { beside + change } else { change };
        let (out, sum) = normed(&self.norms.after, sum)?;
        Ok(SublayerPass { inner, kept, output, sum, out })
    }

    /// Backward: from the gradient of the layer's output, `f` computes the gradients of
    /// its parameters and of what it was given.
    ///
    /// # Errors
    /// As `f`, and if `d_out` is of another shape.
    pub fn backward<K, G>(
        &self,
        x: &Matrix<T>,
        pass: SublayerPass<K, T>,
        d_out: &Matrix<T>,
        f: impl FnOnce(&F, &Matrix<T>, K, &Matrix<T>) -> Result<LayerGradients<G, T>>,
    ) -> Result<SublayerGradients<G, T>> {
        let (LayerGradients { d_layer, d_x }, d_beside) =
            self.backward_beside(x, pass, d_out, f)?;
        // x is read and added: it gets the gradients of both.
        Ok(LayerGradients { d_layer, d_x: d_beside + d_x })
    }

    /// Backward through [`forward_beside`](Self::forward_beside): the gradients, and that of
    /// `beside`.
    pub(crate) fn backward_beside<K, G>(
        &self,
        x: &Matrix<T>,
        pass: SublayerPass<K, T>,
        d_out: &Matrix<T>,
        f: impl FnOnce(&F, &Matrix<T>, K, &Matrix<T>) -> Result<LayerGradients<G, T>>,
    ) -> Result<(SublayerGradients<G, T>, Matrix<T>)> {
        let SublayerPass { inner, kept, output, sum, .. } = pass;
        // let (out, sum) = normed(&self.norms.after, sum)?;
        let (after, d_sum) = normed_backward(&self.norms.after, sum.as_ref(), d_out)?;
        // let (change, output) = normed(&self.norms.of_output, change)?;
        let (of_output, d_change) =
            normed_backward(&self.norms.of_output, output.as_ref(), &d_sum)?;
        // let (change, kept) = f(&self.function, &inner)?;
        let d = f(&self.function, &inner, kept, &d_change)?;
        // Some(norm) => norm.forward(x)?,
        let (before, d_x) = normed_backward(&self.norms.before, Some(x), &d.d_x)?;
        let norms = Norms { before, of_output, after };
        let d_layer = Sublayer { function: d.d_layer, norms, residual: self.residual };
        // beside + change: along the residual the gradient stays as it is.
        let d_beside =
            if self.residual { d_sum } else { Matrix::zeros(x.nrows(), x.ncols()) };
        Ok((LayerGradients { d_layer, d_x }, d_beside))
    }
}

/// `norm(x)`, and x for the backward pass; without a norm, x alone.
fn normed<T: Real>(
    norm: &Option<Norm<T>>,
    x: Matrix<T>,
) -> Result<(Matrix<T>, Option<Matrix<T>>)> {
    Ok(match norm {
        Some(norm) => (norm.forward(&x)?, Some(x)),
        None => (x, None),
    })
}

/// The gradients of a norm, and of what it read; without a norm, `d_y` alone.
pub(crate) fn normed_backward<T: Real>(
    norm: &Option<Norm<T>>,
    x: Option<&Matrix<T>>,
    d_y: &Matrix<T>,
) -> Result<(Option<Norm<T>>, Matrix<T>)> {
    Ok(match (norm, x) {
        (Some(norm), Some(x)) => {
            let LayerGradients { d_layer, d_x } = norm.backward(x, d_y)?;
            (Some(d_layer), d_x)
        }
        _ => (None, d_y.clone()),
    })
}
