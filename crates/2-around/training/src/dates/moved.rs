//! The control of a model whose letters cannot keep to themselves what they read.
//!
//! ```text
//! row 0 (for "2") ──▶ queries ──▶ maps ──▶ output ─╲ ╱─▶ row 0
//! row 1 (for "0") ──▶ queries ──▶ maps ──▶ output ─╱ ╲─▶ row 1      a new order each time
//! ```
//!
//! Permuting what comes out of an attention is permuting its queries, so the queries are
//! permuted, and all maps stay as they would be, in another order. The residual stays where
//! it was. A row can learn of letters that come after it, by the weights of another row: the
//! control has more to go by than the model, and not less.

use attention::{Batch, Error, Gradients, InputGradients, Mask, Matrix, Result, Rng};
use block::{
    Block, EncoderDecoderGradients, FeedForward, Hidden, Stack, StackGradients, Sublayer,
    SublayerPass,
};
use fused_heads::{FusedAttention, FusedPass};
use gradients::{Adam, LayerGradients, LayerPass, cross_entropy, linear_backward};
use rand::seq::SliceRandom;

use super::learner::DateGradients;
use super::{DateConverter, DateLook, DateTexts, N_SOURCE, N_TARGET};
use crate::Learner;
use crate::repeats::largest;

/// A pass through a decoder of one block whose cross-attention's output is permuted.
#[derive(Debug)]
pub(super) struct MovedPass<'a> {
    stack: &'a Stack<FusedAttention<f32>, f32>,
    y: Matrix<f32>,
    memory: &'a Batch<f32>,
    /// Row r gets what the query of row `order[r]` read.
    order: &'a [usize],
    attention: SublayerPass<FusedPass<f32>, f32>,
    cross: SublayerPass<FusedPass<f32>, f32>,
    feed_forward: Option<SublayerPass<Hidden<f32>, f32>>,
    out: Matrix<f32>,
}

/// The ten letters of each date in a random order, `[n_dates · N_TARGET]`.
pub(super) fn random_order(n_dates: usize, rng: &mut Rng) -> Vec<usize> {
    let of_date = |date: usize| {
        let mut rows: Vec<usize> = (date * N_TARGET..(date + 1) * N_TARGET).collect();
        rows.shuffle(rng);
        rows
    };
    (0..n_dates).flat_map(of_date).collect()
}

impl<'a> MovedPass<'a> {
    /// As [`DateConverter::decode`], with another order of what was read.
    pub fn forward(
        model: &'a DateConverter,
        given: &[usize],
        memory: &'a Batch<f32>,
        texts: &DateTexts,
        order: &'a [usize],
    ) -> Result<Self> {
        let stack = &model.model.decoder;
        let block = &stack.blocks[0];
        let n = memory.n_sequences();
        let y = model.target.forward(given, N_TARGET)?;
        let attention = block.attention.forward(&y, |layer, inner| {
            let inner = Batch::new(n, inner.clone())?;
            let pass = layer.pass_batch(&inner, &inner, &inner, &[Mask::Causal])?;
            Ok((pass.out.clone(), pass))
        })?;
        let cross = cross(block)?.forward(&attention.out, |layer, inner| {
            let moved = Batch::new(n, inner.select_rows(order))?;
            let pass = layer.pass_batch(&moved, memory, memory, &texts.masks)?;
            Ok((pass.out.clone(), pass))
        })?;
        let read = &cross.out;
        let feed_forward = match &block.feed_forward {
            None => None,
            Some(sublayer) => Some(sublayer.forward(read, FeedForward::pass)?),
        };
        let last = feed_forward.as_ref().map_or(read, |around| &around.out);
        let out = match &stack.last_norm {
            None => last.clone(),
            Some(norm) => norm.forward(last)?,
        };
        Ok(Self { stack, y, memory, order, attention, cross, feed_forward, out })
    }

    pub fn out(&self) -> &Matrix<f32> {
        &self.out
    }

    /// As [`block::StackPass::backward`]; the gradients of the queries go back to where
    /// they were before they were permuted.
    pub fn backward(self, d_out: &Matrix<f32>) -> Result<StackGradients<f32>> {
        let block = &self.stack.blocks[0];
        let read = &self.cross.out;
        // Some(norm) => norm.forward(last)?,
        let last = self.feed_forward.as_ref().map_or(read, |around| &around.out);
        let norm = self.stack.last_norm.as_ref();
        let of_norm = norm.map(|norm| norm.backward(last, d_out)).transpose()?;
        let (last_norm, d_last) = match of_norm {
            Some(d) => (Some(d.d_layer), d.d_x),
            None => (None, d_out.clone()),
        };
        // Some(sublayer) => Some(sublayer.forward(read, FeedForward::pass)?),
        let (feed_forward, d_read) = match (&block.feed_forward, self.feed_forward) {
            (Some(sublayer), Some(around)) => {
                let d =
                    sublayer.backward(read, around, &d_last, |ffn, x, hidden, d| {
                        ffn.backward(x, &hidden, d)
                    })?;
                (Some(d.d_layer), d.d_x)
            }
            _ => (None, d_last.clone()),
        };
        let mut d_memory = None;
        let (memory, order) = (self.memory, self.order);
        let of_cross = cross(block)?.backward(
            &self.attention.out,
            self.cross,
            &d_read,
            |layer, inner, fused, d_y| {
                let (d_layer, [d_x, of_memory]) =
                    moved_backward(layer, inner, memory, order, fused, d_y)?;
                d_memory = Some(of_memory);
                Ok(LayerGradients { d_layer, d_x })
            },
        )?;
        let d_own = &of_cross.d_x;
        let own = &block.attention;
        let own =
            own.backward(&self.y, self.attention, d_own, |layer, y, fused, d| {
                let d_layer = LayerPass::taken(layer, y, fused)?.backward(d)?;
                let d_x = d_layer.d_x()?;
                Ok(LayerGradients { d_layer, d_x })
            })?;
        let cross = Some(of_cross.d_layer);
        let blocks = vec![Block { cross, ..Block::new(own.d_layer, feed_forward) }];
        let d_stack = Stack { blocks, last_norm };
        Ok(StackGradients { d_stack, d_hidden: vec![own.d_x, d_last], d_memory })
    }
}

type Attention = FusedAttention<f32>;

fn cross(block: &Block<Attention, f32>) -> Result<&Sublayer<Attention, f32>, Error> {
    block.cross.as_ref().ok_or(Error::OneInput)
}

/// The gradients of the attention, of its queries where they were before they were permuted,
/// and of the memory.
fn moved_backward(
    layer: &FusedAttention<f32>,
    inner: &Matrix<f32>,
    memory: &Batch<f32>,
    order: &[usize],
    fused: FusedPass<f32>,
    d_y: &Matrix<f32>,
) -> Result<(Gradients<f32>, [Matrix<f32>; 2]), Error> {
    // let moved = Batch::new(n, inner.select_rows(order))?;
    let moved = inner.select_rows(order);
    let pass = LayerPass::taken_of(layer, &moved, memory.tokens(), fused)?;
    let d = pass.backward(d_y)?;
    let InputGradients::CrossAttention { d_query, d_key, d_value } = &d.d_inputs else {
        return Err(Error::OneInput);
    };
    let d_memory = d_key + d_value;
    let mut d_inner = Matrix::zeros(inner.nrows(), inner.ncols());
    for (&row, d) in order.iter().zip(d_query.row_iter()) {
        d_inner.row_mut(row).copy_from(&d);
    }
    Ok((d, [d_inner, d_memory]))
}

impl DateConverter {
    /// The share of dates all of whose letters are right while the right ones are given and
    /// the rows of the cross-attention's output are permuted among the letters of each date.
    /// Without a generator of random numbers they stay where they are.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn whole_moved(&self, texts: &DateTexts, rng: Option<&mut Rng>) -> Result<f64> {
        let n = texts.n_dates();
        let order = match rng {
            Some(rng) => random_order(n, rng),
            None => (0..n * N_TARGET).collect(),
        };
        let memory = Batch::new(n, self.encode(texts)?.out().clone())?;
        let pass = MovedPass::forward(self, &texts.given(), &memory, texts, &order)?;
        Ok(texts.whole(&largest(&self.unembedding.forward(pass.out())?)))
    }
}

/// A [`DateConverter`] that is trained with the rows of its cross-attention's output permuted
/// among the letters of each date, in a fresh order for each date at each step.
#[derive(Debug, Clone)]
pub struct MovedConverter {
    /// What is trained. It is looked at, and writes, with all rows where they are.
    pub converter: DateConverter,
    /// Where the orders come from.
    pub rng: Rng,
}

impl MovedConverter {
    /// The loss in such an order, and its gradients.
    pub(super) fn gradients(
        model: &DateConverter,
        read: &DateTexts,
        order: &[usize],
    ) -> Result<(f32, DateGradients)> {
        let encoded = model.encode(read)?;
        let memory = Batch::new(read.n_dates(), encoded.out().clone())?;
        let given = read.given();
        let decoded = MovedPass::forward(model, &given, &memory, read, order)?;
        let logits = model.unembedding.forward(decoded.out())?;
        let loss = cross_entropy(&logits, &read.target)?;

        let d_out = linear_backward(&model.unembedding, decoded.out(), &loss.gradient)?;
        let decoder = decoded.backward(&d_out.d_x)?;
        let encoder = encoded.backward(decoder.d_memory()?)?;
        let target = model.target.backward(&given, N_TARGET, decoder.d_x())?;
        let source = model.source.backward(&read.source, N_SOURCE, encoder.d_x())?;
        let model = EncoderDecoderGradients { encoder, decoder };
        let unembedding = d_out.d_linear;
        Ok((loss.value, DateGradients { source, target, model, unembedding }))
    }
}

impl Learner for MovedConverter {
    type Examples = DateTexts;
    type Look = DateLook;

    fn descend(&mut self, read: &DateTexts, adam: &mut Adam<f32>) -> Result<f32> {
        let order = random_order(read.n_dates(), &mut self.rng);
        let (loss, gradients) = Self::gradients(&self.converter, read, &order)?;
        self.converter.update(&gradients, adam)?;
        Ok(loss)
    }

    fn look(&self, test: &DateTexts, losses: &[f64], since: usize) -> Result<DateLook> {
        self.converter.look(test, losses, since)
    }

    fn score(look: &DateLook) -> f64 {
        look.whole
    }
}
