//! Attention and a feed-forward layer, each in its sub-layer.

use attention::{Attended, Mask, Matrix, MultiHeadAttention, Real, Result};

use crate::{FeedForward, Sublayer};

/// One block: tokens mix, then each computes by itself.
///
/// The paper calls it a layer of the encoder. A is any stage of multi-head attention.
#[derive(Debug, Clone, PartialEq)]
pub struct Block<A, T: Real = f64> {
    /// Tokens look at one another.
    pub attention: Sublayer<A, T>,
    /// Each token by itself; a model can be without.
    pub feed_forward: Option<Sublayer<FeedForward<T>, T>>,
}

impl<A, T: Real> Block<A, T> {
    /// The same block around another attention.
    pub fn with_attention<B>(&self, function: B) -> Block<B, T> {
        let Sublayer { norm, residual, .. } = &self.attention;
        Block {
            attention: Sublayer { function, norm: norm.clone(), residual: *residual },
            feed_forward: self.feed_forward.clone(),
        }
    }
}

impl<A: MultiHeadAttention<T>, T: Real> Block<A, T> {
    /// The tokens after this block, and the maps of its heads.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the output too.
    ///
    /// # Errors
    /// As the parts.
    ///
    /// # Source
    /// Vaswani et al. 2017, section 3.1.
    // ANCHOR: forward
    pub fn forward(&self, x: &Matrix<T>, mask: &Mask) -> Result<Attended<T>> {
        let mixed = self.attention.forward(x, |attention, x| {
            let Attended { out, attn } = attention.self_attend(x, mask)?;
            Ok((out, attn))
        })?;
        let out = match &self.feed_forward {
            None => mixed.out,
            Some(sublayer) => {
                sublayer.forward(&mixed.out, |ffn, x| Ok((ffn.forward(x)?, ())))?.out
            }
        };
        Ok(Attended { out, attn: mixed.kept })
    }
    // ANCHOR_END: forward
}
