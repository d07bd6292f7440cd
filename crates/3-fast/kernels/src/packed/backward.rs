//! The backward pass through the layer.
//!
//! The forward pass keeps no map. Of each row of shares it keeps two numbers, from which
//! and the scores, computed again, every share comes back:
//! `share = 2^(score − reference) / Σ`. So the backward pass through attention is five
//! products where the forward pass was two, and needs no memory that grows as n².
//!
//! It is three steps, each shared out among the threads: what depends on the gradient of
//! the output alone; back through attention; and to the tokens and the parameters.

mod attend;
mod gradients;
mod groups;
pub(super) mod memory;
mod non_finite;
mod parameters;
mod shares;
mod strips;
mod tokens;
pub(super) mod turned;

use std::sync::atomic::{AtomicBool, Ordering};

use attention::{Error, Gradients, Matrix, Result};
use tiles::memory::Aligned;
use tiles::merge::blocks_of_tokens;
use tiles::queue::{Blocks, Order, Queue, share_out};
use tiles::tile::{ROWS, WIDTH};

use super::forward::{Extent, Queries};
use super::layer::Packed;
use super::project::{Pieces, Project};
use crate::{Inputs, Rung};

use attend::AttendBackward;
use gradients::{of_one_input, of_shape, of_three_inputs};
use groups::Intermediates;
use memory::Memory;
use parameters::ParametersBack;
use strips::{Strips, in_blocks};
use tokens::TokensBack;
use turned::{Columns, TurnAll, Turned, Turning, turned_len};

/// A forward pass that can be gone back.
///
/// It borrows the layer and the inputs, so that neither changes before.
#[derive(Debug)]
pub struct PackedPass<'a> {
    pub(crate) layer: &'a mut Packed,
    pub(crate) inputs: Inputs<'a>,
    pub(crate) extent: Extent,
}

impl Packed {
    /// A forward pass that keeps what the backward pass needs: queries, keys, values, the
    /// heads' outputs, and two numbers a query and head, which make shares of its scores.
    ///
    /// # Shapes
    /// As [`Rung::forward`].
    ///
    /// # Errors
    /// As [`Rung::forward`].
    pub fn pass<'a>(
        &'a mut self,
        inputs: &Inputs<'a>,
        out: &mut Matrix<f32>,
    ) -> Result<PackedPass<'a>> {
        let lengths = inputs.check(self.dims(), out)?;
        let is_one = inputs.is_self_attention();
        self.turned.take_if(|turned| turned.is_self_attention() != is_one);
        self.turned.get_or_insert_with(|| Turned::new(&self.parameters, is_one));
        let extent = self.run(inputs, lengths, Queries::Keep, out);
        Ok(PackedPass { layer: self, inputs: *inputs, extent })
    }
}

impl PackedPass<'_> {
    /// The gradients of all that this pass took, from the gradient of what it gave: one of
    /// the tokens for [`Inputs::self_attention`], three for [`Inputs::cross_attention`].
    ///
    /// # Shapes
    /// `d_out` is `[n_sequences · n_q, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another shape.
    ///
    /// # Source
    /// Dao et al. 2022, algorithm 4, for the backward pass without maps.
    /// Differs: one thread goes through all blocks of a head and sequence, so that nothing
    /// is added up across threads.
    pub fn backward(&mut self, d_out: &Matrix<f32>) -> Result<Gradients<f32>> {
        let mut gradients = Gradients::default();
        self.backward_into(d_out, &mut gradients)?;
        Ok(gradients)
    }

    /// The same, written over other gradients, in their memory where they have this size.
    /// A training has that after its first step.
    ///
    /// # Shapes
    /// As [`PackedPass::backward`].
    ///
    /// # Errors
    /// As [`PackedPass::backward`]; then nothing is written.
    pub fn backward_into(
        &mut self,
        d_out: &Matrix<f32>,
        gradients: &mut Gradients<f32>,
    ) -> Result<()> {
        Error::expect_shape("d_out", self.inputs.query.shape(), d_out.shape())?;
        // Within the pool, where joins are cheap.
        if !rayon::join(|| self.steps(d_out, gradients), || ()).0 {
            let w = self.layer.parameters.pack();
            *gradients =
                non_finite::gradients(&w, &self.inputs, self.extent.lengths, d_out);
        }
        Ok(())
    }

    /// The last line of the forward pass comes first. False if a number is not finite.
    fn steps(&mut self, d_out: &Matrix<f32>, gradients: &mut Gradients<f32>) -> bool {
        self.back_through_w_o(d_out);
        self.back_through_attention();
        self.back_to_tokens_and_parameters(gradients)
    }

    /// `out = concat · W^O + b^O`: the gradients of the heads' outputs. And what the last
    /// step reads is laid out for it: the gradient of the output, what went into each
    /// projection, and the heads' outputs.
    fn back_through_w_o(&mut self, d_out: &Matrix<f32>) {
        let Self { layer, inputs, extent } = self;
        let Packed { turned, instructions, memory, back, .. } = &mut **layer;
        let scratches = &mut memory.scratches[..extent.n_threads];

        let cut = Pieces::new(d_out.nrows(), extent.dims.n_heads(), extent.n_threads);
        let d_heads = back.d_heads.take(extent.d_heads());
        let queue = &Queue::new(cut.n_pieces(d_out.nrows()), Order::InTurn, [d_heads]);
        let weights: [_; 1] = [&packed(turned).w_o[..]];

        let tokens = distinct(inputs).into_iter().map(Columns::Matrix);
        let mut turnings: Vec<Turning<'_, ROWS>> = tokens
            .zip(&mut back.tokens_turned)
            .map(|(columns, to)| Turning::new(columns, to))
            .collect();
        let concat = Columns::Concat(memory.concat.get(extent.q()), *extent);
        turnings.push(Turning::new(concat, &mut back.concat_turned));
        let strips = Turning::<WIDTH>::new(Columns::Matrix(d_out), &mut back.d_out);
        share_out(scratches, &|scratch| {
            let x = d_out;
            instructions.run(Project { x, weights, cut, queue, scratch });
            instructions.run(TurnAll { rows: &turnings, strips: &strips });
        });
    }

    /// `concat = attention of q, k, v`: the gradients of queries, keys and values.
    fn back_through_attention(&mut self) {
        let Self { layer, inputs, extent } = self;
        let (dims, lengths) = (extent.dims, extent.lengths);
        let Packed { instructions, memory, back, .. } = &mut **layer;
        let kept = Intermediates {
            dims,
            q: memory.q.get(extent.q()),
            k: memory.k.get(extent.k()),
            v: memory.v.get(extent.v()),
            concat: memory.concat.get(extent.q()),
            normalisers: memory.normalisers.get(extent.normalisers()),
            d_heads: back.d_heads.get(extent.d_heads()),
        };
        let Memory { dq, dk, dv, .. } = back;
        let mut sizes = features_and_tokens(*extent).into_iter();
        let blocks = &Blocks::new([dq, dk, dv].map(|memory| {
            let (n_features, n) = sizes.next().expect("there are three");
            in_blocks(memory, n_features, dims.n_heads(), (lengths.n_sequences, n))
        }));
        share_out(&mut memory.scratches[..extent.n_threads], &|scratch| {
            instructions.run(AttendBackward { kept, inputs, lengths, blocks, scratch });
        });
    }

    /// `q = query · W^Q + b^Q`, and k, v and the output: the gradients of the tokens and of
    /// the parameters. False if a number is not finite.
    fn back_to_tokens_and_parameters(&mut self, gradients: &mut Gradients<f32>) -> bool {
        let Self { layer, inputs, extent } = self;
        let Packed { turned, instructions, memory, back, parameters, .. } = &mut **layer;
        let Memory { dq, dk, dv, d_out, tokens_turned, concat_turned, .. } = back;
        let n_threads = extent.n_threads;
        let (n_tokens, n_features) = inputs.query.shape();
        let data = d_out.get(turned_len::<WIDTH>((n_tokens, n_features)));
        let d_out = Strips { data, n_tokens, n_heads: 1, n_features };
        let ways = all_strips([dq, dk, dv], *extent);
        let Gradients { d_w_q, d_w_k, d_w_v, d_w_o, d_inputs } = gradients;

        let weights = &packed(turned).ways;
        let back_by = |ways, weights, like: &Matrix<f32>, to| {
            let blocks = blocks_of_tokens(of_shape(to, like.shape()), n_threads);
            TokensBack { ways, weights, blocks }
        };
        let tokens = if inputs.is_self_attention() {
            vec![back_by(&ways[..], &weights[0], inputs.query, of_one_input(d_inputs))]
        } else {
            let [d_query, d_key, d_value] = of_three_inputs(d_inputs);
            vec![
                back_by(&ways[..1], &weights[0], inputs.query, d_query),
                back_by(&ways[1..2], &weights[1], inputs.key, d_key),
                back_by(&ways[2..], &weights[2], inputs.value, d_value),
            ]
        };

        let inputs = distinct(inputs);
        let input = |i: usize| {
            let i = i % inputs.len(); // one input is all three
            tokens_turned[i].get(turned_len::<ROWS>(inputs[i].shape()))
        };
        let w_o = parameters.w_o();
        let concat =
            concat_turned.get(turned_len::<ROWS>((extent.n_queries(), w_o.d_in())));
        let [dq, dk, dv] = ways;
        let of_head = &parameters.heads()[0];
        let parameters = [
            (input(0), dq, &of_head.w_q, d_w_q),
            (input(1), dk, &of_head.w_k, d_w_k),
            (input(2), dv, &of_head.w_v, d_w_v),
            (concat, d_out, w_o, d_w_o),
        ]
        .map(|(x, d, linear, to)| ParametersBack::new(x, d, linear, to, n_threads));

        let finite = AtomicBool::new(true);
        share_out(&mut memory.scratches[..n_threads], &|scratch| {
            let mut all = true;
            for all_tokens in &tokens {
                all &= instructions.run(tokens::Job { all: all_tokens, scratch });
            }
            for parameters in &parameters {
                all &= instructions.run(parameters);
            }
            finite.fetch_and(all, Ordering::Relaxed);
        });
        finite.into_inner()
    }
}

/// The inputs: one where it is query, key and value.
fn distinct<'a>(inputs: &Inputs<'a>) -> Vec<&'a Matrix<f32>> {
    if inputs.is_self_attention() {
        vec![inputs.query]
    } else {
        vec![inputs.query, inputs.key, inputs.value]
    }
}

/// The parameters for the backward pass.
fn packed(turned: &Option<Turned>) -> &Turned {
    turned.as_ref().expect("they were packed when the pass was made")
}

/// The features of a head, and the tokens of a sequence: of queries, keys and values.
fn features_and_tokens(extent: Extent) -> [(usize, usize); 3] {
    let (dims, lengths) = (extent.dims, extent.lengths);
    [(dims.d_k(), lengths.n_q), (dims.d_k(), lengths.n_kv), (dims.d_v(), lengths.n_kv)]
}

/// The gradients of queries, keys and values.
fn all_strips(memory: [&mut Aligned; 3], extent: Extent) -> [Strips<'_>; 3] {
    let n_heads = extent.dims.n_heads();
    let mut sizes = features_and_tokens(extent).into_iter();
    memory.map(|memory| {
        let (n_features, n) = sizes.next().expect("there are three");
        let n_tokens = n * extent.lengths.n_sequences;
        let data = memory.get(n_heads * turned_len::<WIDTH>((n_tokens, n_features)));
        Strips { data, n_tokens, n_heads, n_features }
    })
}
