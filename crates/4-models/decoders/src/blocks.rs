//! One block of a decoder.

use attention::{Attended, Matrix, Real, Result as SizeResult};

use crate::{FeedForward, Norm};

/// Tokens look back, then each computes by itself.
///
/// A block of encoders has a norm after each layer, or before; decoders have it before, and
/// Gemma 2 has both. What is added to the tokens is always a layer's output, never a norm
/// of all: x goes through untouched.
#[derive(Debug, Clone, PartialEq)]
pub struct Block<A, T: Real = f64> {
    /// Before attention.
    pub attention_norm: Norm<T>,
    /// Attention.
    pub attention: A,
    /// After it, before its output is added.
    pub after_attention: Option<Norm<T>>,
    /// Before the feed-forward layer.
    pub feed_forward_norm: Norm<T>,
    /// The feed-forward layer.
    pub feed_forward: FeedForward<T>,
    /// After it, before its output is added.
    pub after_feed_forward: Option<Norm<T>>,
    /// Whether both layers read what entered the block, side by side (GPT-NeoX).
    pub parallel: bool,
}

impl<A, T: Real> Block<A, T> {
    /// The tokens after this block, and the maps of its heads; `attend` is how its
    /// attention is asked: with a mask, or with a cache.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the output too.
    ///
    /// # Errors
    /// As `attend` and the parts.
    ///
    /// # Source
    /// Touvron et al. 2023, section 2.2; Black et al. 2022, section 2.1 (side by side);
    /// Gemma Team 2024, section 2 (norms on both sides).
    // ANCHOR: forward
    pub fn forward(
        &self,
        x: &Matrix<T>,
        attend: impl FnOnce(&A, &Matrix<T>) -> SizeResult<Attended<T>>,
    ) -> SizeResult<Attended<T>> {
        let normed = self.attention_norm.forward(x)?;
        let Attended { out, attn } = attend(&self.attention, &normed)?;
        let mixed = x + after(&self.after_attention, out)?;

        let read = if self.parallel { x } else { &mixed };
        let normed = self.feed_forward_norm.forward(read)?;
        let out = self.feed_forward.forward(&normed)?;
        let out = mixed + after(&self.after_feed_forward, out)?;
        Ok(Attended { out, attn })
    }
    // ANCHOR_END: forward

    /// The same block around another attention.
    pub fn with_attention<B>(&self, attention: B) -> Block<B, T> {
        Block {
            attention_norm: self.attention_norm.clone(),
            attention,
            after_attention: self.after_attention.clone(),
            feed_forward_norm: self.feed_forward_norm.clone(),
            feed_forward: self.feed_forward.clone(),
            after_feed_forward: self.after_feed_forward.clone(),
            parallel: self.parallel,
        }
    }
}

fn after<T: Real>(norm: &Option<Norm<T>>, out: Matrix<T>) -> SizeResult<Matrix<T>> {
    match norm {
        None => Ok(out),
        Some(norm) => norm.forward(&out),
    }
}
