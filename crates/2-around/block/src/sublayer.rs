//! The residual and the norm around a layer.

use attention::{Matrix, Real, Result};

use crate::{LayerNorm, LayerNormGradients, layer_norm_backward};

/// Where the norm of a sub-layer stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Norm<T: Real = f64> {
    /// Nowhere.
    None,
    /// `x + f(norm(x))`, "pre-norm": x itself goes through untouched.
    Before(LayerNorm<T>),
    /// `norm(x + f(x))`, "post-norm": the paper's, and BERT's.
    After(LayerNorm<T>),
}

impl<T: Real> Norm<T> {
    /// The norm, wherever it stands.
    pub fn get(&self) -> Option<&LayerNorm<T>> {
        match self {
            Self::None => None,
            Self::Before(norm) | Self::After(norm) => Some(norm),
        }
    }

    fn get_mut(&mut self) -> Option<&mut LayerNorm<T>> {
        match self {
            Self::None => None,
            Self::Before(norm) | Self::After(norm) => Some(norm),
        }
    }
}

/// A layer f with what stands around it.
///
/// # Source
/// Vaswani et al. 2017, section 3.1 (the residual of He et al. 2016, the norm after it);
/// Xiong et al. 2020 compare the two places.
#[derive(Debug, Clone, PartialEq)]
pub struct Sublayer<F, T: Real = f64> {
    /// f: an attention layer, or a feed-forward layer.
    pub function: F,
    /// Where the norm stands.
    pub norm: Norm<T>,
    /// Whether x is added to the layer's output. It always is, except to see what for.
    pub residual: bool,
}

/// One pass through a sub-layer.
#[derive(Debug, Clone, PartialEq)]
pub struct SublayerPass<K, T: Real = f64> {
    /// What f was given: `norm(x)`, or x.
    pub inner: Matrix<T>,
    /// What f keeps of its pass.
    pub kept: K,
    /// `x + f(…)`, before a norm that stands after it.
    pub sum: Matrix<T>,
    /// What came out.
    pub out: Matrix<T>,
}

/// The gradients of a sub-layer.
#[derive(Debug, Clone, PartialEq)]
pub struct SublayerGradients<G, T: Real = f64> {
    /// Of f's parameters.
    pub d_function: G,
    /// Of the norm's, if there is one.
    pub d_norm: Option<LayerNormGradients<T>>,
    /// What goes on to the tokens.
    pub d_x: Matrix<T>,
}

impl<F, T: Real> Sublayer<F, T> {
    /// With a residual.
    pub fn new(function: F, norm: Norm<T>) -> Self {
        Self { function, norm, residual: true }
    }

    /// Forward: `f` computes the layer's output, and may keep something for the backward
    /// pass.
    ///
    /// # Errors
    /// As `f`, and if the norm is of another width.
    // ANCHOR: forward
    pub fn forward<K>(
        &self,
        x: &Matrix<T>,
        f: impl FnOnce(&F, &Matrix<T>) -> Result<(Matrix<T>, K)>,
    ) -> Result<SublayerPass<K, T>> {
        let inner = match &self.norm {
            Norm::Before(norm) => norm.forward(x)?,
            Norm::None | Norm::After(_) => x.clone(),
        };
        let (change, kept) = f(&self.function, &inner)?;
        let sum = if self.residual { x + change } else { change };
        let out = match &self.norm {
            Norm::After(norm) => norm.forward(&sum)?,
            Norm::None | Norm::Before(_) => sum.clone(),
        };
        Ok(SublayerPass { inner, kept, sum, out })
    }
    // ANCHOR_END: forward

    /// Backward: from the gradient of the layer's output, `f` computes the gradients of
    /// its parameters and of what it was given.
    ///
    /// # Errors
    /// As `f`, and if `d_out` is of another shape.
    // ANCHOR: backward
    pub fn backward<K, G>(
        &self,
        x: &Matrix<T>,
        around: SublayerPass<K, T>,
        d_out: &Matrix<T>,
        f: impl FnOnce(&F, &Matrix<T>, K, &Matrix<T>) -> Result<(G, Matrix<T>)>,
    ) -> Result<SublayerGradients<G, T>> {
        let SublayerPass { inner, kept, sum, .. } = around;
        // Norm::After(norm) => norm.forward(&sum)?,
        let after = match &self.norm {
            Norm::After(norm) => Some(layer_norm_backward(norm, &sum, d_out)?),
            Norm::None | Norm::Before(_) => None,
        };
        let d_sum = after.as_ref().map_or(d_out, |d| &d.d_x);
        // let (change, kept) = f(&self.function, &inner)?;
        let (d_function, d_inner) = f(&self.function, &inner, kept, d_sum)?;
        // Norm::Before(norm) => norm.forward(x)?,
        let before = match &self.norm {
            Norm::Before(norm) => Some(layer_norm_backward(norm, x, &d_inner)?),
            Norm::None | Norm::After(_) => None,
        };
        let through_f = before.as_ref().map_or(&d_inner, |d| &d.d_x);
        // x + change: both terms get the gradient, and along the residual it stays as it is.
        let d_x = if self.residual { d_sum + through_f } else { through_f.clone() };
        Ok(SublayerGradients { d_function, d_norm: before.or(after), d_x })
    }
    // ANCHOR_END: backward

    /// The entries of f, then those of the norm, to be changed in place.
    pub(crate) fn entries_mut<'a>(
        &'a mut self,
        of_f: impl FnOnce(&'a mut F) -> Vec<&'a mut [T]>,
    ) -> Vec<&'a mut [T]> {
        let norm = self.norm.get_mut().map(LayerNorm::entries_mut);
        of_f(&mut self.function).into_iter().chain(norm.into_iter().flatten()).collect()
    }
}

impl<G, T: Real> SublayerGradients<G, T> {
    /// The gradients of f, then those of the norm.
    pub(crate) fn entries<'a>(
        &'a self,
        of_f: impl FnOnce(&'a G) -> Vec<&'a [T]>,
    ) -> Vec<&'a [T]> {
        let norm = self.d_norm.as_ref().map(LayerNormGradients::entries);
        of_f(&self.d_function).into_iter().chain(norm.into_iter().flatten()).collect()
    }
}
