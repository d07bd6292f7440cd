//! Through a block of fused layers, and back, to the tokens and to the memory.

use std::borrow::Cow;

use attention::{Batch, Error, Gradients, InputGradients, Mask, Matrix, Real, Result};
use fused_heads::{FusedAttention, FusedPass};
use gradients::{LayerGradients, LayerPass};

use crate::blocks::no_memory;
use crate::dropout::{Dropped, dropped};
use crate::{Block, Dropout, FeedForward, Hidden, SublayerPass};

/// One pass of a batch through a block, with what its backward pass needs.
#[derive(Debug, Clone)]
pub struct BlockPass<'a, T: Real = f64> {
    block: &'a Block<FusedAttention<T>, T>,
    x: Matrix<T>,
    memory: Option<&'a Batch<T>>,
    /// See [`StackPass::forward_moved`](crate::StackPass::forward_moved).
    order: Option<&'a [usize]>,
    attention: AttentionPass<T>,
    cross: Option<AttentionPass<T>>,
    feed_forward: Option<SublayerPass<Dropped<Hidden<T>, T>, T>>,
}

/// A pass through an attention and what stands around it.
type AttentionPass<T> = SublayerPass<Dropped<FusedPass<T>, T>, T>;

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
        Self::of(block, x, masks, memory, None, None)
    }

    /// In training, what each sub-layer puts out goes through dropout before it is added to
    /// the residual, and the backward pass is through the same masks. With an order, the rows
    /// of the cross-attention's output are moved, by its queries: row r gets what the query of
    /// row `order[r]` reads.
    pub(crate) fn of(
        block: &'a Block<FusedAttention<T>, T>,
        x: Batch<T>,
        masks: &[Mask],
        memory: Option<(&'a Batch<T>, &[Mask])>,
        order: Option<&'a [usize]>,
        mut dropout: Option<&mut Dropout>,
    ) -> Result<Self> {
        let n_sequences = x.n_sequences();
        let x = x.tokens().clone();
        let attention = block.attention.forward(&x, |layer, inner| {
            let inner = Batch::new(n_sequences, inner.clone())?;
            let pass = layer.pass_batch(&inner, &inner, &inner, masks)?;
            Ok(dropped(&mut dropout, pass.out.clone(), pass))
        })?;
        let read = |layer: &FusedAttention<T>, inner: &Matrix<T>| {
            let inner = Batch::new(n_sequences, moved(inner, order).into_owned())?;
            let (memory, masks) = memory.ok_or_else(no_memory)?;
            let pass = layer.pass_batch(&inner, memory, memory, masks)?;
            Ok(dropped(&mut dropout, pass.out.clone(), pass))
        };
        let cross = block.cross.as_ref().map(|it| it.forward(&attention.out, read));
        let cross = cross.transpose()?;
        let mixed = mixed(&attention, &cross);
        let read = if block.parallel { &x } else { mixed };
        let pass = |ffn: &FeedForward<T>, x: &Matrix<T>| {
            let (out, hidden) = ffn.pass(x)?;
            Ok(dropped(&mut dropout, out, hidden))
        };
        let feed_forward = block.feed_forward.as_ref();
        let feed_forward = feed_forward.map(|it| it.forward_beside(read, mixed, pass));
        let feed_forward = feed_forward.transpose()?;
        let memory = memory.map(|(memory, _)| memory);
        Ok(Self { block, x, memory, order, attention, cross, feed_forward })
    }

    /// The tokens behind the block, `[n_sequences · n_tokens, d_model]`.
    pub fn out(&self) -> &Matrix<T> {
        let mixed = || mixed(&self.attention, &self.cross);
        self.feed_forward.as_ref().map_or_else(mixed, |around| &around.out)
    }

    /// What its attention computed on the way.
    pub fn own(&self) -> &FusedPass<T> {
        &self.attention.kept.pass
    }

    /// What its cross-attention computed on the way; its maps are `[n_tokens, n_source]`.
    ///
    /// # Errors
    /// [`Error::Length`] if it has none.
    pub fn cross(&self) -> Result<&FusedPass<T>> {
        let cross = self.cross.as_ref().ok_or_else(no_memory)?;
        Ok(&cross.kept.pass)
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
    pub fn backward(self, d_out: &Matrix<T>) -> Result<BlockGradients<T>> {
        let Self { block, x, memory, order, attention, cross, feed_forward } = self;
        let mixed = mixed(&attention, &cross);
        let mut d_mixed = d_out.clone();
        let mut d_x = Matrix::zeros(x.nrows(), x.ncols()); // side by side, x was read twice
        let mut d_feed_forward = None;
        if let (Some(sublayer), Some(pass)) = (&block.feed_forward, feed_forward) {
            let read = if block.parallel { &x } else { mixed };
            let (d, d_beside) =
                sublayer.backward_beside(read, pass, d_out, |ffn, x, kept, d_y| {
                    let d_y = kept.backward(d_y)?;
                    ffn.backward(x, &kept.pass, &d_y)
                })?;
            d_mixed = d_beside;
            *(if block.parallel { &mut d_x } else { &mut d_mixed }) += d.d_x;
            d_feed_forward = Some(d.d_layer);
        }
        let (mut d_cross, mut d_memory) = (None, None);
        if let (Some(sublayer), Some(pass), Some(memory)) = (&block.cross, cross, memory)
        {
            let mixed = &attention.out;
            let d = sublayer.backward(mixed, pass, &d_mixed, |layer, y, kept, d_y| {
                let d_y = kept.backward(d_y)?.into_owned();
                let y = moved(y, order); // y, but in a control
                let (memory, fused) = (memory.tokens(), kept.pass);
                let pass = LayerPass::taken_of(layer, &y, memory, fused)?;
                let d_layer = pass.backward(&d_y)?;
                let d_x = moved_back(of_cross(&d_layer)?[0], order);
                Ok(LayerGradients { d_layer, d_x })
            })?;
            let [_, d_key, d_value] = of_cross(&d.d_layer.function)?;
            d_memory = Some(d_key + d_value); // the memory gave both
            (d_cross, d_mixed) = (Some(d.d_layer), d.d_x);
        }
        let sublayer = &block.attention;
        let d = sublayer.backward(&x, attention, &d_mixed, |layer, x, kept, d_y| {
            let d_y = kept.backward(d_y)?.into_owned();
            let d_layer = LayerPass::taken(layer, x, kept.pass)?.backward(&d_y)?;
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
}

/// The tokens before the feed-forward layer.
fn mixed<'a, T: Real>(
    attention: &'a AttentionPass<T>,
    cross: &'a Option<AttentionPass<T>>,
) -> &'a Matrix<T> {
    &cross.as_ref().unwrap_or(attention).out
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
