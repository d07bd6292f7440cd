//! One block, of either side.

use attention::{Attended, Matrix, Real, Result as SizeResult};
use decoders::FeedForward;

use crate::Norm;

/// A layer with its norm and the residual around it.
///
/// As [`block::Sublayer`], with either kind of norm.
#[derive(Debug, Clone, PartialEq)]
pub struct Sublayer<F, T: Real = f64> {
    /// The layer.
    pub function: F,
    /// Its norm.
    pub norm: Norm<T>,
    /// `x + f(norm(x))`, or else `norm(x + f(x))`.
    pub is_before: bool,
}

impl<F, T: Real> Sublayer<F, T> {
    /// The tokens behind it; `f` gives the layer's output, and what else is wanted of it.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the output too.
    ///
    /// # Errors
    /// As `f`, and if the norm is of another width.
    // ANCHOR: forward
    pub fn forward<K>(
        &self,
        x: &Matrix<T>,
        f: impl FnOnce(&F, &Matrix<T>) -> SizeResult<(Matrix<T>, K)>,
    ) -> SizeResult<(Matrix<T>, K)> {
        match self.is_before {
            true => {
                let (out, kept) = f(&self.function, &self.norm.forward(x)?)?;
                Ok((x + out, kept))
            }
            false => {
                let (out, kept) = f(&self.function, x)?;
                Ok((self.norm.forward(&(x + out))?, kept))
            }
        }
    }
    // ANCHOR_END: forward

    /// The same around another layer.
    pub fn with<G>(&self, function: G) -> Sublayer<G, T> {
        Sublayer { function, norm: self.norm.clone(), is_before: self.is_before }
    }
}

/// Tokens look at one another, in a decoder also at the source, and then each computes by
/// itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Block<A, T: Real = f64> {
    /// Attention to the side's own tokens.
    pub attention: Sublayer<A, T>,
    /// Attention to the source, in a decoder.
    pub cross: Option<Sublayer<A, T>>,
    /// The feed-forward layer.
    pub feed_forward: Sublayer<FeedForward<T>, T>,
}

impl<A, T: Real> Block<A, T> {
    /// The tokens behind this block, the maps of its heads, and those of its heads on the
    /// source; `attend` and `cross` are how each attention is asked.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the output too.
    ///
    /// # Errors
    /// As `attend`, `cross` and the parts.
    ///
    /// # Source
    /// Vaswani et al. 2017, section 3.1.
    // ANCHOR: block
    pub fn forward(
        &self,
        x: &Matrix<T>,
        attend: impl FnOnce(&A, &Matrix<T>) -> SizeResult<Attended<T>>,
        cross: impl FnOnce(&A, &Matrix<T>) -> SizeResult<Attended<T>>,
    ) -> SizeResult<(Attended<T>, Vec<Matrix<T>>)> {
        let both = |Attended { out, attn }| (out, attn);
        let (mut x, attn) = self.attention.forward(x, |a, x| attend(a, x).map(both))?;
        let mut to_source = Vec::new();
        if let Some(layer) = &self.cross {
            (x, to_source) = layer.forward(&x, |a, x| cross(a, x).map(both))?;
        }
        let (out, ()) = self.feed_forward.forward(&x, |f, x| Ok((f.forward(x)?, ())))?;
        Ok((Attended { out, attn }, to_source))
    }
    // ANCHOR_END: block

    /// The same block around other attention.
    pub fn with_attention<B>(&self, mut other: impl FnMut(&A) -> B) -> Block<B, T> {
        Block {
            attention: self.attention.with(other(&self.attention.function)),
            cross: self.cross.as_ref().map(|cross| cross.with(other(&cross.function))),
            feed_forward: self.feed_forward.clone(),
        }
    }
}
