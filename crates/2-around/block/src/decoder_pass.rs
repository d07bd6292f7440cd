//! Through a decoder of fused layers, and back, to the target and to the memory.

use attention::{
    Batch, Error, Gradients, InputGradients, Linear, Mask, Matrix, Real, Result,
};
use fused_heads::{FusedAttention, FusedPass};
use gradients::LayerPass;

use crate::{
    DecoderBlock, DecoderStack, FeedForward, FeedForwardGradients, LayerNorm,
    LayerNormGradients, SublayerGradients, SublayerPass, layer_norm_backward,
};

/// The masks of a batch: one for all sequences, or one each.
#[derive(Debug, Clone, Copy)]
pub struct BatchMasks<'a> {
    /// The target at itself.
    pub own: &'a [Mask],
    /// The target at the memory.
    pub memory: &'a [Mask],
}

/// One pass of a batch through a decoder's block, with what its backward pass needs.
#[derive(Debug, Clone)]
pub struct DecoderBlockPass<'a, T: Real = f64> {
    block: &'a DecoderBlock<FusedAttention<T>, T>,
    y: Matrix<T>,
    memory: &'a Batch<T>,
    attention: SublayerPass<FusedPass<T>, T>,
    cross_attention: SublayerPass<FusedPass<T>, T>,
    /// What is kept is the input of the activation.
    feed_forward: Option<SublayerPass<Matrix<T>, T>>,
}

/// The gradients of a decoder's block.
#[derive(Debug, Clone, PartialEq)]
pub struct DecoderBlockGradients<T: Real = f64> {
    /// Of its attention.
    pub attention: SublayerGradients<Gradients<T>, T>,
    /// Of its cross-attention.
    pub cross_attention: SublayerGradients<Gradients<T>, T>,
    /// Of its feed-forward layer.
    pub feed_forward: Option<SublayerGradients<FeedForwardGradients<T>, T>>,
    /// What goes on to the memory, `[n_sequences · n_source, key_width]`: by its keys and by
    /// its values.
    pub d_memory: Matrix<T>,
}

impl<'a, T: Real> DecoderBlockPass<'a, T> {
    /// The pass of sequences of equal length.
    ///
    /// # Shapes
    /// `y` is `[n_sequences · n_target, d_model]`, `memory` `[n_sequences · n_source,
    /// key_width]`.
    ///
    /// # Errors
    /// As [`DecoderBlock::forward`].
    pub fn forward(
        block: &'a DecoderBlock<FusedAttention<T>, T>,
        y: &Batch<T>,
        memory: &'a Batch<T>,
        masks: BatchMasks<'_>,
    ) -> Result<Self> {
        let n_sequences = y.n_sequences();
        let y = y.tokens().clone();
        let attention = block.attention.forward(&y, |layer, inner| {
            let inner = Batch::new(n_sequences, inner.clone())?;
            let pass = layer.pass_batch(&inner, &inner, &inner, masks.own)?;
            Ok((pass.out.clone(), pass))
        })?;
        let cross_attention =
            block.cross_attention.forward(&attention.out, |layer, inner| {
                let inner = Batch::new(n_sequences, inner.clone())?;
                let pass = layer.pass_batch(&inner, memory, memory, masks.memory)?;
                Ok((pass.out.clone(), pass))
            })?;
        let feed_forward = match &block.feed_forward {
            None => None,
            Some(sublayer) => {
                Some(sublayer.forward(&cross_attention.out, FeedForward::pass)?)
            }
        };
        Ok(Self { block, y, memory, attention, cross_attention, feed_forward })
    }

    /// The target's tokens behind the block, `[n_sequences · n_target, d_model]`.
    pub fn out(&self) -> &Matrix<T> {
        let without = &self.cross_attention.out;
        self.feed_forward.as_ref().map_or(without, |around| &around.out)
    }

    /// What the self-attention computed on the way; its `attn[s][i]` is head i's map of
    /// sequence s.
    pub fn own(&self) -> &FusedPass<T> {
        &self.attention.kept
    }

    /// What the cross-attention computed on the way; its maps are `[n_target, n_source]`.
    pub fn cross(&self) -> &FusedPass<T> {
        &self.cross_attention.kept
    }

    /// The gradients of all that the block holds and took.
    ///
    /// # Shapes
    /// `d_out` is `[n_sequences · n_target, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if it is not.
    // ANCHOR: backward
    pub fn backward(self, d_out: &Matrix<T>) -> Result<DecoderBlockGradients<T>> {
        let Self { block, y, memory, attention, cross_attention, feed_forward } = self;
        let feed_forward = match (&block.feed_forward, feed_forward) {
            (Some(sublayer), Some(around)) => {
                let read = &cross_attention.out;
                Some(sublayer.backward(read, around, d_out, |ffn, y, hidden, d_y| {
                    let d = ffn.backward(y, &hidden, d_y)?;
                    let d_x = d.d_x.clone();
                    Ok((d, d_x))
                })?)
            }
            _ => None,
        };
        let d_read = feed_forward.as_ref().map_or(d_out, |d| &d.d_x);
        let cross_attention = block.cross_attention.backward(
            &attention.out,
            cross_attention,
            d_read,
            |layer, y, fused, d_y| {
                let pass = LayerPass::taken_of(layer, y, memory.tokens(), fused)?;
                let d = pass.backward(d_y)?;
                let d_query = of_cross(&d)?[0].clone();
                Ok((d, d_query))
            },
        )?;
        let d_memory = {
            let [_, d_key, d_value] = of_cross(&cross_attention.d_function)?;
            d_key + d_value // the memory gave both
        };
        let d_own = &cross_attention.d_x;
        let attention =
            block.attention.backward(&y, attention, d_own, |layer, y, fused, d_y| {
                let d = LayerPass::taken(layer, y, fused)?.backward(d_y)?;
                let d_x = d.d_x()?;
                Ok((d, d_x))
            })?;
        Ok(DecoderBlockGradients { attention, cross_attention, feed_forward, d_memory })
    }
    // ANCHOR_END: backward
}

/// The gradients of query, key and value.
fn of_cross<T: Real>(d: &Gradients<T>) -> Result<[&Matrix<T>; 3]> {
    match &d.d_inputs {
        InputGradients::CrossAttention { d_query, d_key, d_value } => {
            Ok([d_query, d_key, d_value])
        }
        InputGradients::SelfAttention { .. } => Err(Error::OneInput),
    }
}

/// The entries of an attention's gradients.
fn of_attention<T: Real>(d: &Gradients<T>) -> Vec<&[T]> {
    d.projections().into_iter().flat_map(Linear::entries).collect()
}

impl<T: Real> DecoderBlockGradients<T> {
    /// What goes on to the target's tokens, `[n_sequences · n_target, d_model]`.
    pub fn d_y(&self) -> &Matrix<T> {
        &self.attention.d_x
    }

    /// The gradients, in the order of [`DecoderBlock::entries_mut`].
    pub fn entries(&self) -> Vec<&[T]> {
        let mut all = self.attention.entries(of_attention);
        all.extend(self.cross_attention.entries(of_attention));
        if let Some(d) = &self.feed_forward {
            all.extend(d.entries(FeedForwardGradients::entries));
        }
        all
    }
}

impl<T: Real> DecoderBlock<FusedAttention<T>, T> {
    /// What is learned, to be changed in place: attention, cross-attention, feed-forward,
    /// each with its norm behind it.
    pub fn entries_mut(&mut self) -> Vec<&mut [T]> {
        let mut all =
            self.attention.entries_mut(|layer| layer.parameters_mut().entries_mut());
        let cross = &mut self.cross_attention;
        all.extend(cross.entries_mut(|layer| layer.parameters_mut().entries_mut()));
        if let Some(sublayer) = &mut self.feed_forward {
            all.extend(sublayer.entries_mut(FeedForward::entries_mut));
        }
        all
    }
}

/// One pass of a batch through a decoder, with what its backward pass needs.
#[derive(Debug, Clone)]
pub struct DecoderPass<'a, T: Real = f64> {
    last_norm: Option<&'a LayerNorm<T>>,
    blocks: Vec<DecoderBlockPass<'a, T>>,
    y: Matrix<T>,
    memory: &'a Batch<T>,
    out: Matrix<T>,
}

/// The gradients of a decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct DecoderGradients<T: Real = f64> {
    /// Of each block.
    pub blocks: Vec<DecoderBlockGradients<T>>,
    /// Of the last norm.
    pub d_last_norm: Option<LayerNormGradients<T>>,
    /// What goes on to the target's embedding, `[n_sequences · n_target, d_model]`.
    pub d_y: Matrix<T>,
    /// What goes on to the encoder, from all blocks, `[n_sequences · n_source, key_width]`.
    pub d_memory: Matrix<T>,
}

impl<'a, T: Real> DecoderPass<'a, T> {
    /// The pass of sequences of equal length.
    ///
    /// # Shapes
    /// As [`DecoderBlockPass::forward`].
    ///
    /// # Errors
    /// As [`DecoderStack::forward`].
    pub fn forward(
        stack: &'a DecoderStack<FusedAttention<T>, T>,
        y: &Batch<T>,
        memory: &'a Batch<T>,
        masks: BatchMasks<'_>,
    ) -> Result<Self> {
        let n_sequences = y.n_sequences();
        let mut blocks: Vec<DecoderBlockPass<'a, T>> = Vec::new();
        for block in &stack.blocks {
            let below = blocks.last().map_or(y.tokens(), |pass| pass.out());
            let below = Batch::new(n_sequences, below.clone())?;
            blocks.push(DecoderBlockPass::forward(block, &below, memory, masks)?);
        }
        let y = y.tokens().clone();
        let last = blocks.last().map_or(&y, |pass| pass.out());
        let out = match &stack.last_norm {
            Some(norm) => norm.forward(last)?,
            None => last.clone(),
        };
        Ok(Self { last_norm: stack.last_norm.as_ref(), blocks, y, memory, out })
    }

    /// The target's tokens at the end, `[n_sequences · n_target, d_model]`.
    pub fn out(&self) -> &Matrix<T> {
        &self.out
    }

    /// The blocks' passes.
    pub fn blocks(&self) -> &[DecoderBlockPass<'a, T>] {
        &self.blocks
    }

    /// The gradients of all that the decoder holds and took: block by block, the last first.
    ///
    /// # Shapes
    /// `d_out` is `[n_sequences · n_target, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if it is not.
    pub fn backward(self, d_out: &Matrix<T>) -> Result<DecoderGradients<T>> {
        let Self { last_norm, blocks: passes, y, memory, .. } = self;
        let last = passes.last().map_or(&y, |pass| pass.out());
        let d_last_norm = match last_norm {
            Some(norm) => Some(layer_norm_backward(norm, last, d_out)?),
            None => None,
        };
        let mut d_y = d_last_norm.as_ref().map_or(d_out, |d| &d.d_x).clone();
        let (n, width) = memory.tokens().shape();
        let mut d_memory = Matrix::zeros(n, width);
        let mut blocks = Vec::new();
        for pass in passes.into_iter().rev() {
            let d = pass.backward(&d_y)?;
            d_y = d.d_y().clone();
            d_memory += &d.d_memory; // every block read it
            blocks.push(d);
        }
        blocks.reverse();
        Ok(DecoderGradients { blocks, d_last_norm, d_y, d_memory })
    }
}

impl<T: Real> DecoderGradients<T> {
    /// The gradients, in the order of [`DecoderStack::entries_mut`].
    pub fn entries(&self) -> Vec<&[T]> {
        let norm = self.d_last_norm.as_ref().map(LayerNormGradients::entries);
        let blocks = self.blocks.iter().flat_map(DecoderBlockGradients::entries);
        blocks.chain(norm.into_iter().flatten()).collect()
    }
}

impl<T: Real> DecoderStack<FusedAttention<T>, T> {
    /// What is learned, to be changed in place: block by block, then the last norm.
    pub fn entries_mut(&mut self) -> Vec<&mut [T]> {
        let norm = self.last_norm.as_mut().map(LayerNorm::entries_mut);
        let blocks = self.blocks.iter_mut().flat_map(DecoderBlock::entries_mut);
        blocks.chain(norm.into_iter().flatten()).collect()
    }
}
