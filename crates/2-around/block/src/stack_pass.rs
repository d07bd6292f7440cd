//! Through a stack of fused layers, and back, to the tokens and to the memory.

use attention::{Batch, Gradients, Mask, Matrix, Real, Result};
use fused_heads::FusedAttention;

use crate::blocks::no_memory;
use crate::sublayer::normed_backward;
use crate::{BlockPass, Dropout, Norm, Stack};

/// One pass of a batch through a stack, with what its backward pass needs.
#[derive(Debug, Clone)]
pub struct StackPass<'a, T: Real = f64> {
    last_norm: &'a Option<Norm<T>>,
    blocks: Vec<BlockPass<'a, T>>,
    x: Matrix<T>,
    out: Matrix<T>,
}

/// The gradients of a stack.
#[derive(Debug, Clone, PartialEq)]
pub struct StackGradients<T: Real = f64> {
    /// Of what it holds, in a stack.
    pub d_stack: Stack<Gradients<T>, T>,
    /// What goes on to the embedding, and from each block to the one below: before the first
    /// block and after each, `n_blocks + 1` times `[n_sequences · n_tokens, d_model]`.
    pub d_hidden: Vec<Matrix<T>>,
    /// What goes on to the encoder, from all blocks, `[n_sequences · n_source, key_width]`.
    pub d_memory: Option<Matrix<T>>,
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
        Self::of(stack, x, masks, None, None, None)
    }

    /// The same in training: what each sub-layer puts out goes through dropout before it is
    /// added to the residual. The masks are drawn anew at each call, and the backward pass is
    /// through the same.
    ///
    /// # Errors
    /// As [`Stack::forward`].
    ///
    /// # Source
    /// Vaswani et al. 2017, section 5.4.
    pub fn forward_in_training(
        stack: &'a Stack<FusedAttention<T>, T>,
        x: &Batch<T>,
        masks: &[Mask],
        dropout: &mut Dropout,
    ) -> Result<Self> {
        Self::of(stack, x, masks, None, None, Some(dropout))
    }

    /// The pass of sequences that read another text.
    ///
    /// # Errors
    /// As [`Stack::forward_reading`].
    pub fn forward_reading(
        stack: &'a Stack<FusedAttention<T>, T>,
        y: &Batch<T>,
        masks: &[Mask],
        memory: (&'a Batch<T>, &[Mask]),
    ) -> Result<Self> {
        Self::of(stack, y, masks, Some(memory), None, None)
    }

    /// The same; as a control with an order, which has each of the rows once. The rows of each
    /// cross-attention's output are moved by it and the residuals stay: row r gets what the
    /// query of row `order[r]` reads.
    ///
    /// # Errors
    /// As [`Stack::forward_reading`].
    pub fn forward_moved(
        stack: &'a Stack<FusedAttention<T>, T>,
        y: &Batch<T>,
        masks: &[Mask],
        memory: (&'a Batch<T>, &[Mask]),
        order: Option<&'a [usize]>,
    ) -> Result<Self> {
        Self::of(stack, y, masks, Some(memory), order, None)
    }

    fn of(
        stack: &'a Stack<FusedAttention<T>, T>,
        x: &Batch<T>,
        masks: &[Mask],
        memory: Option<(&'a Batch<T>, &[Mask])>,
        order: Option<&'a [usize]>,
        mut dropout: Option<&mut Dropout>,
    ) -> Result<Self> {
        let n_sequences = x.n_sequences();
        let mut blocks: Vec<BlockPass<'a, T>> = Vec::new();
        for block in &stack.blocks {
            let below = blocks.last().map_or(x.tokens(), |pass| pass.out());
            let below = Batch::new(n_sequences, below.clone())?;
            let dropout = dropout.as_deref_mut();
            blocks.push(BlockPass::of(block, below, masks, memory, order, dropout)?);
        }
        let x = x.tokens().clone();
        let last = blocks.last().map_or(&x, |pass| pass.out());
        let out = match &stack.last_norm {
            Some(norm) => norm.forward(last)?,
            None => last.clone(),
        };
        Ok(Self { last_norm: &stack.last_norm, blocks, x, out })
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
    pub fn backward(self, d_out: &Matrix<T>) -> Result<StackGradients<T>> {
        let Self { last_norm, blocks: passes, x, .. } = self;
        let last = passes.last().map_or(&x, |pass| pass.out());
        let (last_norm, d_last) = normed_backward(last_norm, Some(last), d_out)?;
        let (mut blocks, mut d_hidden, mut d_memory) = (Vec::new(), vec![d_last], None);
        for pass in passes.into_iter().rev() {
            let d = pass.backward(&d_hidden[d_hidden.len() - 1])?;
            d_hidden.push(d.d_x);
            d_memory = match (d_memory, d.d_memory) {
                (Some(sum), Some(d)) => Some::<Matrix<T>>(sum + d), // every block read it
                (sum, d) => sum.or(d),
            };
            blocks.push(d.d_block);
        }
        blocks.reverse();
        d_hidden.reverse();
        Ok(StackGradients { d_stack: Stack { blocks, last_norm }, d_hidden, d_memory })
    }
}

gradients::entries!([T: Real] T, StackGradients<T>: d_stack);

impl<T: Real> StackGradients<T> {
    /// What goes on to the embedding, `[n_sequences · n_tokens, d_model]`.
    pub fn d_x(&self) -> &Matrix<T> {
        &self.d_hidden[0]
    }

    /// What goes on to the encoder.
    ///
    /// # Errors
    /// [`Error::Length`](attention::Error::Length) for a stack that reads no other text.
    pub fn d_memory(&self) -> Result<&Matrix<T>> {
        self.d_memory.as_ref().ok_or_else(no_memory)
    }
}
