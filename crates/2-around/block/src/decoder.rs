//! A decoder's block: what is written so far, the text that is read, a feed-forward layer.

use attention::{Mask, Matrix, MultiHeadAttention, Real, Result};

use crate::{FeedForward, LayerNorm, Sublayer};

/// One block of a decoder that reads another text: tokens look at those before them, then at
/// the encoder's, then each computes by itself.
///
/// A is any stage of multi-head attention.
#[derive(Debug, Clone, PartialEq)]
pub struct DecoderBlock<A, T: Real = f64> {
    /// The target's tokens look at one another.
    pub attention: Sublayer<A, T>,
    /// Cross-attention: their queries meet the keys and values of the memory. Its norm is of
    /// the target alone: the memory comes as the encoder gives it.
    pub cross_attention: Sublayer<A, T>,
    /// Each token by itself; a model can be without.
    pub feed_forward: Option<Sublayer<FeedForward<T>, T>>,
}

/// Who may look at what in a decoder.
#[derive(Debug, Clone, Copy)]
pub struct DecoderMasks<'a> {
    /// The target at itself: causal, as a rule.
    pub own: &'a Mask,
    /// The target at the memory: without its padding.
    pub memory: &'a Mask,
}

/// What a decoder's block gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded<T: Real = f64> {
    /// The target's tokens behind the block, `[n_target, d_model]`.
    pub out: Matrix<T>,
    /// A map per head, `[n_target, n_target]`.
    pub attn: Vec<Matrix<T>>,
    /// A map per head of the cross-attention, `[n_target, n_source]`.
    pub cross: Vec<Matrix<T>>,
}

impl<A, T: Real> DecoderBlock<A, T> {
    /// The same block around other attentions, each made from the one that is there.
    pub fn with_attention<B>(
        &self,
        mut other: impl FnMut(&A) -> B,
    ) -> DecoderBlock<B, T> {
        let mut around = |sublayer: &Sublayer<A, T>| {
            let Sublayer { function, norm, residual } = sublayer;
            let (norm, residual) = (norm.clone(), *residual);
            Sublayer { function: other(function), norm, residual }
        };
        DecoderBlock {
            attention: around(&self.attention),
            cross_attention: around(&self.cross_attention),
            feed_forward: self.feed_forward.clone(),
        }
    }
}

impl<A: MultiHeadAttention<T>, T: Real> DecoderBlock<A, T> {
    /// The target's tokens after this block, and the maps of both attentions.
    ///
    /// # Shapes
    /// `y` is `[n_target, d_model]`, `memory` `[n_source, key_width]`; [`Decoded`] has the
    /// shapes that come out.
    ///
    /// # Errors
    /// As the parts.
    ///
    /// # Source
    /// Vaswani et al. 2017, section 3.1, the decoder, and section 3.2.3.
    // ANCHOR: forward
    pub fn forward(
        &self,
        y: &Matrix<T>,
        memory: &Matrix<T>,
        masks: DecoderMasks<'_>,
    ) -> Result<Decoded<T>> {
        let own = self.attention.forward(y, |attention, y| {
            let attended = attention.self_attend(y, masks.own)?;
            Ok((attended.out, attended.attn))
        })?;
        let read = self.cross_attention.forward(&own.out, |attention, y| {
            let attended = attention.forward(y, memory, memory, masks.memory)?;
            Ok((attended.out, attended.attn))
        })?;
        let out = match &self.feed_forward {
            None => read.out,
            Some(sublayer) => {
                sublayer.forward(&read.out, |ffn, y| Ok((ffn.forward(y)?, ())))?.out
            }
        };
        Ok(Decoded { out, attn: own.kept, cross: read.kept })
    }
    // ANCHOR_END: forward
}

/// Decoder blocks, each reading what the one below wrote, and all the same memory.
#[derive(Debug, Clone, PartialEq)]
pub struct DecoderStack<A, T: Real = f64> {
    /// The blocks, the first nearest to the tokens.
    pub blocks: Vec<DecoderBlock<A, T>>,
    /// A norm behind the last block, which blocks with their norms before need.
    pub last_norm: Option<LayerNorm<T>>,
}

/// What every layer of a decoder gave.
#[derive(Debug, Clone, PartialEq)]
pub struct DecoderLayers<T: Real = f64> {
    /// The target before the first block and after each, `n_blocks + 1` times
    /// `[n_target, d_model]`; the last is behind the last norm.
    pub hidden: Vec<Matrix<T>>,
    /// `attn[l][i]`, `[n_target, n_target]`.
    pub attn: Vec<Vec<Matrix<T>>>,
    /// `cross[l][i]`, `[n_target, n_source]`.
    pub cross: Vec<Vec<Matrix<T>>>,
}

impl<T: Real> DecoderLayers<T> {
    /// The target's tokens at the end, `[n_target, d_model]`.
    pub fn out(&self) -> &Matrix<T> {
        &self.hidden[self.hidden.len() - 1]
    }
}

impl<A: MultiHeadAttention<T>, T: Real> DecoderStack<A, T> {
    /// All layers, from tokens that are embedded already.
    ///
    /// # Shapes
    /// As [`DecoderBlock::forward`].
    ///
    /// # Errors
    /// As the parts.
    pub fn forward(
        &self,
        y: Matrix<T>,
        memory: &Matrix<T>,
        masks: DecoderMasks<'_>,
    ) -> Result<DecoderLayers<T>> {
        let mut layers =
            DecoderLayers { hidden: vec![y], attn: Vec::new(), cross: Vec::new() };
        for block in &self.blocks {
            let decoded = block.forward(layers.out(), memory, masks)?;
            layers.hidden.push(decoded.out);
            layers.attn.push(decoded.attn);
            layers.cross.push(decoded.cross);
        }
        if let (Some(norm), Some(last)) = (&self.last_norm, layers.hidden.last_mut()) {
            *last = norm.forward(last)?;
        }
        Ok(layers)
    }
}
