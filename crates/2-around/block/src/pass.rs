//! Through a stack of fused layers, and back.

use attention::{Batch, Gradients, Linear, Mask, Matrix, Real, Result};
use fused_heads::{FusedAttention, FusedPass};
use gradients::LayerPass;

use crate::{
    Block, FeedForward, FeedForwardGradients, LayerNorm, LayerNormGradients, Stack,
    SublayerGradients, SublayerPass, layer_norm_backward,
};

/// One pass of a batch through a block, with what its backward pass needs.
#[derive(Debug, Clone)]
pub struct BlockPass<'a, T: Real = f64> {
    block: &'a Block<FusedAttention<T>, T>,
    x: Matrix<T>,
    attention: SublayerPass<FusedPass<T>, T>,
    /// What is kept is the input of the activation.
    feed_forward: Option<SublayerPass<Matrix<T>, T>>,
}

/// The gradients of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockGradients<T: Real = f64> {
    /// Of its attention.
    pub attention: SublayerGradients<Gradients<T>, T>,
    /// Of its feed-forward layer.
    pub feed_forward: Option<SublayerGradients<FeedForwardGradients<T>, T>>,
}

impl<'a, T: Real> BlockPass<'a, T> {
    /// The pass of sequences of equal length.
    ///
    /// # Shapes
    /// `x` is `[n_sequences · n_tokens, d_model]`; one mask for all sequences, or one each.
    ///
    /// # Errors
    /// As [`Block::forward`].
    pub fn forward(
        block: &'a Block<FusedAttention<T>, T>,
        x: Batch<T>,
        masks: &[Mask],
    ) -> Result<Self> {
        let n_sequences = x.n_sequences();
        let x = x.tokens().clone();
        let attention = block.attention.forward(&x, |layer, inner| {
            let inner = Batch::new(n_sequences, inner.clone())?;
            let pass = layer.pass_batch(&inner, &inner, &inner, masks)?;
            Ok((pass.out.clone(), pass))
        })?;
        let feed_forward = match &block.feed_forward {
            None => None,
            Some(sublayer) => Some(sublayer.forward(&attention.out, FeedForward::pass)?),
        };
        Ok(Self { block, x, attention, feed_forward })
    }

    /// The tokens behind the block, `[n_sequences · n_tokens, d_model]`.
    pub fn out(&self) -> &Matrix<T> {
        self.feed_forward.as_ref().map_or(&self.attention.out, |around| &around.out)
    }

    /// `attn()[s][i]` is head i's map of sequence s.
    pub fn attn(&self) -> &[Vec<Matrix<T>>] {
        &self.attention.kept.attn
    }

    /// The heads' outputs side by side, `[n_sequences · n_tokens, h · d_v]`.
    pub fn concat(&self) -> &Matrix<T> {
        &self.attention.kept.concat
    }

    /// The gradients of all that the block holds and took.
    ///
    /// # Shapes
    /// `d_out` is `[n_sequences · n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`](attention::Error::Shape) if it is not.
    // ANCHOR: backward
    pub fn backward(self, d_out: &Matrix<T>) -> Result<BlockGradients<T>> {
        let Self { block, x, attention, feed_forward } = self;
        let feed_forward = match (&block.feed_forward, feed_forward) {
            (Some(sublayer), Some(around)) => {
                let mixed = &attention.out;
                Some(sublayer.backward(mixed, around, d_out, |ffn, x, hidden, d_y| {
                    let d = ffn.backward(x, &hidden, d_y)?;
                    let d_x = d.d_x.clone();
                    Ok((d, d_x))
                })?)
            }
            _ => None,
        };
        let d_mixed = feed_forward.as_ref().map_or(d_out, |d| &d.d_x);
        let around = attention;
        let attention =
            block.attention.backward(&x, around, d_mixed, |layer, x, fused, d_y| {
                let d = LayerPass::taken(layer, x, fused)?.backward(d_y)?;
                let d_x = d.d_x()?;
                Ok((d, d_x))
            })?;
        Ok(BlockGradients { attention, feed_forward })
    }
    // ANCHOR_END: backward
}

impl<T: Real> BlockGradients<T> {
    /// What goes on to the tokens, `[n_sequences · n_tokens, d_model]`.
    pub fn d_x(&self) -> &Matrix<T> {
        &self.attention.d_x
    }

    /// The gradients, in the order of [`Block::entries_mut`].
    pub fn entries(&self) -> Vec<&[T]> {
        let mut all = self
            .attention
            .entries(|d| d.projections().into_iter().flat_map(Linear::entries).collect());
        if let Some(d) = &self.feed_forward {
            all.extend(d.entries(FeedForwardGradients::entries));
        }
        all
    }
}

impl<T: Real> Block<FusedAttention<T>, T> {
    /// What is learned, to be changed in place: attention, its norm, feed-forward, its
    /// norm.
    pub fn entries_mut(&mut self) -> Vec<&mut [T]> {
        let mut all =
            self.attention.entries_mut(|layer| layer.parameters_mut().entries_mut());
        if let Some(sublayer) = &mut self.feed_forward {
            all.extend(sublayer.entries_mut(FeedForward::entries_mut));
        }
        all
    }
}

/// One pass of a batch through a stack, with what its backward pass needs.
#[derive(Debug, Clone)]
pub struct StackPass<'a, T: Real = f64> {
    last_norm: Option<&'a LayerNorm<T>>,
    blocks: Vec<BlockPass<'a, T>>,
    x: Matrix<T>,
    out: Matrix<T>,
}

/// The gradients of a stack.
#[derive(Debug, Clone, PartialEq)]
pub struct StackGradients<T: Real = f64> {
    /// Of each block.
    pub blocks: Vec<BlockGradients<T>>,
    /// Of the last norm.
    pub d_last_norm: Option<LayerNormGradients<T>>,
    /// What goes on to the embedding, `[n_sequences · n_tokens, d_model]`.
    pub d_x: Matrix<T>,
}

impl<'a, T: Real> StackPass<'a, T> {
    /// The pass of sequences of equal length.
    ///
    /// # Shapes
    /// As [`BlockPass::forward`].
    ///
    /// # Errors
    /// As [`Stack::forward`].
    pub fn forward(
        stack: &'a Stack<FusedAttention<T>, T>,
        x: &Batch<T>,
        masks: &[Mask],
    ) -> Result<Self> {
        let n_sequences = x.n_sequences();
        let mut blocks: Vec<BlockPass<'a, T>> = Vec::new();
        for block in &stack.blocks {
            let below = blocks.last().map_or(x.tokens(), |pass| pass.out());
            let below = Batch::new(n_sequences, below.clone())?;
            blocks.push(BlockPass::forward(block, below, masks)?);
        }
        let x = x.tokens().clone();
        let last = blocks.last().map_or(&x, |pass| pass.out());
        let out = match &stack.last_norm {
            Some(norm) => norm.forward(last)?,
            None => last.clone(),
        };
        Ok(Self { last_norm: stack.last_norm.as_ref(), blocks, x, out })
    }

    /// The tokens at the end, `[n_sequences · n_tokens, d_model]`.
    pub fn out(&self) -> &Matrix<T> {
        &self.out
    }

    /// The blocks' passes.
    pub fn blocks(&self) -> &[BlockPass<'a, T>] {
        &self.blocks
    }

    /// The gradients of all that the stack holds and took: block by block, the last first.
    ///
    /// # Shapes
    /// `d_out` is `[n_sequences · n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`](attention::Error::Shape) if it is not.
    // ANCHOR: backward_stack
    pub fn backward(self, d_out: &Matrix<T>) -> Result<StackGradients<T>> {
        let Self { last_norm, blocks: passes, x, .. } = self;
        let last = passes.last().map_or(&x, |pass| pass.out());
        let d_last_norm = match last_norm {
            Some(norm) => Some(layer_norm_backward(norm, last, d_out)?),
            None => None,
        };
        let mut d_x = d_last_norm.as_ref().map_or(d_out, |d| &d.d_x).clone();
        let mut blocks = Vec::new();
        for pass in passes.into_iter().rev() {
            let d = pass.backward(&d_x)?;
            d_x = d.d_x().clone();
            blocks.push(d);
        }
        blocks.reverse();
        Ok(StackGradients { blocks, d_last_norm, d_x })
    }
    // ANCHOR_END: backward_stack
}

impl<T: Real> StackGradients<T> {
    /// The gradients, in the order of [`Stack::entries_mut`].
    pub fn entries(&self) -> Vec<&[T]> {
        let norm = self.d_last_norm.as_ref().map(LayerNormGradients::entries);
        let blocks = self.blocks.iter().flat_map(BlockGradients::entries);
        blocks.chain(norm.into_iter().flatten()).collect()
    }
}

impl<T: Real> Stack<FusedAttention<T>, T> {
    /// What is learned, to be changed in place: block by block, then the last norm.
    pub fn entries_mut(&mut self) -> Vec<&mut [T]> {
        let norm = self.last_norm.as_mut().map(LayerNorm::entries_mut);
        let blocks = self.blocks.iter_mut().flat_map(Block::entries_mut);
        blocks.chain(norm.into_iter().flatten()).collect()
    }
}
