//! Through a stack of fused layers, and back, to the tokens and to the memory.

use std::borrow::Cow;

use attention::{Batch, Error, Gradients, InputGradients, Mask, Matrix, Real, Result};
use fused_heads::{FusedAttention, FusedPass};
use gradients::{LayerGradients, LayerPass};

use crate::blocks::no_memory;
use crate::{Block, FeedForward, Hidden, Norm, Stack, SublayerPass};

/// One pass of a batch through a block, with what its backward pass needs.
#[derive(Debug, Clone)]
pub struct BlockPass<'a, T: Real = f64> {
    block: &'a Block<FusedAttention<T>, T>,
    x: Matrix<T>,
    memory: Option<&'a Batch<T>>,
    /// See [`StackPass::forward_moved`].
    order: Option<&'a [usize]>,
    attention: SublayerPass<FusedPass<T>, T>,
    cross: Option<SublayerPass<FusedPass<T>, T>>,
    feed_forward: Option<SublayerPass<Hidden<T>, T>>,
}

/// The gradients of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockGradients<T: Real = f64> {
    /// Of what it holds, in a block.
    pub d_block: Block<Gradients<T>, T>,
    /// What goes on to the tokens, `[n_sequences · n_tokens, d_model]`.
    pub d_x: Matrix<T>,
    /// What goes on to the memory, by its keys and by its values, `[n_sequences · n_source,
    /// key_width]`.
    pub d_memory: Option<Matrix<T>>,
}

gradients::entries!([T: Real] T, BlockGradients<T>: d_block);

impl<'a, T: Real> BlockPass<'a, T> {
    /// The pass of sequences of equal length, which may read another text, the memory.
    ///
    /// # Shapes
    /// `x` is `[n_sequences · n_tokens, d_model]`, the memory `[n_sequences · n_source,
    /// key_width]`; of each, one mask for all sequences, or one each.
    ///
    /// # Errors
    /// As [`Block::forward`].
    pub fn forward(
        block: &'a Block<FusedAttention<T>, T>,
        x: Batch<T>,
        masks: &[Mask],
        memory: Option<(&'a Batch<T>, &[Mask])>,
    ) -> Result<Self> {
        Self::of(block, x, masks, memory, None)
    }

    /// The rows of the cross-attention's output are moved, by its queries: row r gets what
    /// the query of row `order[r]` reads.
    fn of(
        block: &'a Block<FusedAttention<T>, T>,
        x: Batch<T>,
        masks: &[Mask],
        memory: Option<(&'a Batch<T>, &[Mask])>,
        order: Option<&'a [usize]>,
    ) -> Result<Self> {
        let n_sequences = x.n_sequences();
        let x = x.tokens().clone();
        let attention = block.attention.forward(&x, |layer, inner| {
            let inner = Batch::new(n_sequences, inner.clone())?;
            let pass = layer.pass_batch(&inner, &inner, &inner, masks)?;
            Ok((pass.out.clone(), pass))
        })?;
        let read = |layer: &FusedAttention<T>, inner: &Matrix<T>| {
            let inner = Batch::new(n_sequences, moved(inner, order).into_owned())?;
            let (memory, masks) = memory.ok_or_else(no_memory)?;
            let pass = layer.pass_batch(&inner, memory, memory, masks)?;
            Ok((pass.out.clone(), pass))
        };
        let cross = block.cross.as_ref().map(|it| it.forward(&attention.out, read));
        let cross = cross.transpose()?;
        let mixed = cross.as_ref().map_or(&attention.out, |read| &read.out);
        let read = if block.parallel { &x } else { mixed };
        let feed_forward = block.feed_forward.as_ref();
        let feed_forward =
            feed_forward.map(|it| it.forward_beside(read, mixed, FeedForward::pass));
        let feed_forward = feed_forward.transpose()?;
        let memory = memory.map(|(memory, _)| memory);
        Ok(Self { block, x, memory, order, attention, cross, feed_forward })
    }

    /// The tokens before the feed-forward layer.
    fn mixed(&self) -> &Matrix<T> {
        self.cross.as_ref().map_or(&self.attention.out, |read| &read.out)
    }

    /// The tokens behind the block, `[n_sequences · n_tokens, d_model]`.
    pub fn out(&self) -> &Matrix<T> {
        self.feed_forward.as_ref().map_or_else(|| self.mixed(), |around| &around.out)
    }

    /// What its attention computed on the way.
    pub fn own(&self) -> &FusedPass<T> {
        &self.attention.kept
    }

    /// What its cross-attention computed on the way; its maps are `[n_tokens, n_source]`.
    ///
    /// # Errors
    /// [`Error::Length`] if it has none.
    pub fn cross(&self) -> Result<&FusedPass<T>> {
        let cross = self.cross.as_ref().ok_or_else(no_memory)?;
        Ok(&cross.kept)
    }

    /// `attn()[s][i]` is head i's map of sequence s.
    pub fn attn(&self) -> &[Vec<Matrix<T>>] {
        &self.own().attn
    }

    /// The heads' outputs side by side, `[n_sequences · n_tokens, h · d_v]`.
    pub fn concat(&self) -> &Matrix<T> {
        &self.own().concat
    }

    /// The gradients of all that the block holds and took.
    ///
    /// # Shapes
    /// `d_out` is `[n_sequences · n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if it is not.
    // ANCHOR: backward
    pub fn backward(self, d_out: &Matrix<T>) -> Result<BlockGradients<T>> {
        let Self { block, x, memory, order, attention, cross, feed_forward } = self;
        let mixed = cross.as_ref().map_or(&attention.out, |read| &read.out);
        let mut d_mixed = d_out.clone();
        let mut d_x = Matrix::zeros(x.nrows(), x.ncols()); // side by side, x was read twice
        let mut d_feed_forward = None;
        if let (Some(sublayer), Some(pass)) = (&block.feed_forward, feed_forward) {
            let read = if block.parallel { &x } else { mixed };
            let (d, d_beside) =
                sublayer.backward_beside(read, pass, d_out, |ffn, x, hidden, d_y| {
                    ffn.backward(x, &hidden, d_y)
                })?;
            d_mixed = d_beside;
            *(if block.parallel { &mut d_x } else { &mut d_mixed }) += d.d_x;
            d_feed_forward = Some(d.d_layer);
        }
        let (mut d_cross, mut d_memory) = (None, None);
        if let (Some(sublayer), Some(pass), Some(memory)) = (&block.cross, cross, memory)
        {
            let mixed = &attention.out;
            let d =
                sublayer.backward(mixed, pass, &d_mixed, |layer, y, fused, d_y| {
                    let y = moved(y, order); // y, but in a control
                    let pass = LayerPass::taken_of(layer, &y, memory.tokens(), fused)?;
                    let d_layer = pass.backward(d_y)?;
                    let d_x = moved_back(of_cross(&d_layer)?[0], order);
                    Ok(LayerGradients { d_layer, d_x })
                })?;
            let [_, d_key, d_value] = of_cross(&d.d_layer.function)?;
            d_memory = Some(d_key + d_value); // the memory gave both
            (d_cross, d_mixed) = (Some(d.d_layer), d.d_x);
        }
        let sublayer = &block.attention;
        let d = sublayer.backward(&x, attention, &d_mixed, |layer, x, fused, d_y| {
            let d_layer = LayerPass::taken(layer, x, fused)?.backward(d_y)?;
            let d_x = d_layer.d_x()?;
            Ok(LayerGradients { d_layer, d_x })
        })?;
        d_x += d.d_x;
        let d_block = Block {
            attention: d.d_layer,
            cross: d_cross,
            feed_forward: d_feed_forward,
            parallel: block.parallel,
        };
        Ok(BlockGradients { d_block, d_x, d_memory })
    }
    // ANCHOR_END: backward
}

/// Row `order[r]` in row r.
fn moved<'a, T: Real>(
    rows: &'a Matrix<T>,
    order: Option<&[usize]>,
) -> Cow<'a, Matrix<T>> {
    order.map_or(Cow::Borrowed(rows), |order| Cow::Owned(rows.select_rows(order)))
}

/// Row r in row `order[r]`.
fn moved_back<T: Real>(moved: &Matrix<T>, order: Option<&[usize]>) -> Matrix<T> {
    let mut rows = moved.clone();
    for (&row, moved) in order.unwrap_or_default().iter().zip(moved.row_iter()) {
        rows.row_mut(row).copy_from(&moved);
    }
    rows
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

/// One pass of a batch through a stack, with what its backward pass needs.
#[derive(Debug, Clone)]
pub struct StackPass<'a, T: Real = f64> {
    last_norm: Option<&'a Norm<T>>,
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
        Self::of(stack, x, masks, None, None)
    }

    /// The pass of sequences that read another text.
    ///
    /// # Shapes
    /// As [`BlockPass::forward`].
    ///
    /// # Errors
    /// As [`Stack::forward_reading`].
    pub fn forward_reading(
        stack: &'a Stack<FusedAttention<T>, T>,
        y: &Batch<T>,
        masks: &[Mask],
        memory: (&'a Batch<T>, &[Mask]),
    ) -> Result<Self> {
        Self::of(stack, y, masks, Some(memory), None)
    }

    /// The same as a control, where the rows of each cross-attention's output are moved and
    /// the residuals stay: row r gets what the query of row `order[r]` reads.
    ///
    /// # Shapes
    /// As [`BlockPass::forward`]; `order` has each of the rows once.
    ///
    /// # Errors
    /// As [`Stack::forward_reading`].
    pub fn forward_moved(
        stack: &'a Stack<FusedAttention<T>, T>,
        y: &Batch<T>,
        masks: &[Mask],
        memory: (&'a Batch<T>, &[Mask]),
        order: &'a [usize],
    ) -> Result<Self> {
        Self::of(stack, y, masks, Some(memory), Some(order))
    }

    fn of(
        stack: &'a Stack<FusedAttention<T>, T>,
        x: &Batch<T>,
        masks: &[Mask],
        memory: Option<(&'a Batch<T>, &[Mask])>,
        order: Option<&'a [usize]>,
    ) -> Result<Self> {
        let n_sequences = x.n_sequences();
        let mut blocks: Vec<BlockPass<'a, T>> = Vec::new();
        for block in &stack.blocks {
            let below = blocks.last().map_or(x.tokens(), |pass| pass.out());
            let below = Batch::new(n_sequences, below.clone())?;
            blocks.push(BlockPass::of(block, below, masks, memory, order)?);
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
    /// [`Error::Shape`] if it is not.
    // ANCHOR: backward_stack
    pub fn backward(self, d_out: &Matrix<T>) -> Result<StackGradients<T>> {
        let Self { last_norm, blocks: passes, x, .. } = self;
        let last = passes.last().map_or(&x, |pass| pass.out());
        let (last_norm, d_last) = match last_norm {
            Some(norm) => {
                let d = norm.backward(last, d_out)?;
                (Some(d.d_layer), d.d_x)
            }
            None => (None, d_out.clone()),
        };
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
    // ANCHOR_END: backward_stack
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
    /// [`Error::Length`] for a stack that reads no other text.
    pub fn d_memory(&self) -> Result<&Matrix<T>> {
        self.d_memory.as_ref().ok_or_else(no_memory)
    }
}
