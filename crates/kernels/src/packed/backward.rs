//! The backward pass through the layer.
//!
//! The forward pass keeps no map. Of each row of shares it keeps one number, the
//! logarithm of its sum, and from that and the scores, computed again, every share comes
//! back: `share = 2^(score − log2 Σ 2^score)`. So the backward pass through attention is five
//! products where the forward pass was two, and needs no memory that grows as n².

mod attend;
mod careful;
mod gradients;
pub(super) mod memory;
mod parameters;
mod strips;
mod tokens;
pub(super) mod turned;

use attention::{Error, Gradients, InputGradients, Matrix, Result};

use super::forward::{Extent, Queries, project_by};
use super::layer::Packed;
use super::memory::Aligned;
use super::panels::Panels;
use super::units::{Order, Queue, share_out};
use crate::tile::ROWS;
use crate::{Inputs, Rung};

use attend::{AttendBackward, Kept};
use gradients::{are_finite, of_one_input, of_shape, of_three_inputs};
use memory::Memory;
use parameters::{WeightBack, d_weights};
use strips::{OfHeads, Strips, WIDTH};
use turned::{Columns, Turned, Turning, turn_all, turned_len};

/// A forward pass that can be gone back.
///
/// It borrows the layer and the inputs, so that neither changes before.
#[derive(Debug)]
pub struct Pass<'a> {
    pub(crate) layer: &'a mut Packed,
    pub(crate) inputs: Inputs<'a>,
    pub(crate) extent: Extent,
}

impl Packed {
    /// A forward pass that keeps what the backward pass needs: queries, keys, values, the
    /// heads' outputs, and one number a query and head, the logarithm of its sum.
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
    ) -> Result<Pass<'a>> {
        let lengths = inputs.check(self.dims(), out)?;
        self.turned.get_or_insert_with(|| Turned::new(&self.parameters));
        let extent = self.run(inputs, lengths, Queries::Keep, out);
        Ok(Pass { layer: self, inputs: *inputs, extent })
    }
}

impl Pass<'_> {
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
    /// As [`Pass::backward`].
    ///
    /// # Errors
    /// As [`Pass::backward`]; then nothing is written.
    pub fn backward_into(
        &mut self,
        d_out: &Matrix<f32>,
        gradients: &mut Gradients<f32>,
    ) -> Result<()> {
        Error::expect_shape("d_out", self.inputs.query.shape(), d_out.shape())?;
        // Within the pool, where joins are cheap.
        let steps = || {
            self.steps(d_out, gradients);
            are_finite(gradients)
        };
        if !rayon::join(steps, || ()).0 {
            let w = self.layer.parameters.pack();
            *gradients = careful::gradients(&w, &self.inputs, self.extent.lengths, d_out);
        }
        Ok(())
    }

    /// The last line of the forward pass comes first.
    fn steps(&mut self, d_out: &Matrix<f32>, gradients: &mut Gradients<f32>) {
        self.back_through_w_o(d_out);
        self.back_through_attention();
        self.back_to_tokens(&mut gradients.d_inputs);
        self.back_to_parameters(d_out, gradients);
    }

    /// `out = concat · W^O + b^O`: the gradients of the heads' outputs.
    fn back_through_w_o(&mut self, d_out: &Matrix<f32>) {
        let Self { layer, extent, .. } = self;
        let Packed { turned, instructions, memory, back, .. } = &mut **layer;
        let scratches = &mut memory.scratches[..extent.n_threads];
        let d_heads = back.d_heads.take(extent.d_heads());
        let w_o: &[Panels] = &packed(turned).w_o;
        project_by(*instructions, scratches, d_out, [w_o], [d_heads]);
    }

    /// `concat = attention of q, k, v`: the gradients of queries, keys and values.
    fn back_through_attention(&mut self) {
        let Self { layer, inputs, extent } = self;
        let (dims, lengths) = (extent.dims, extent.lengths);
        let Packed { instructions, memory, back, .. } = &mut **layer;
        let kept = Kept {
            dims,
            q: memory.q.get(extent.q()),
            k: memory.k.get(extent.k()),
            v: memory.v.get(extent.v()),
            concat: memory.concat.get(extent.q()),
            log_sums: memory.log_sums.get(extent.log_sums()),
            d_heads: back.d_heads.get(extent.d_heads()),
        };
        let n_pieces = dims.n_heads() * lengths.n_sequences;
        let [of_q, of_k, of_v] = strips(*extent).map(|strips| n_pieces * strips.len());
        let slices = [back.dq.take(of_q), back.dk.take(of_k), back.dv.take(of_v)];
        let queue = &Queue::new(n_pieces, Order::InTurn, slices);
        share_out(&mut memory.scratches[..extent.n_threads], &|scratch| {
            instructions.run(AttendBackward { kept, inputs, lengths, queue, scratch });
        });
    }

    /// `q = query · W^Q + b^Q`, and k and v: the gradients of the tokens.
    fn back_to_tokens(&mut self, gradients: &mut InputGradients<f32>) {
        let Self { layer, inputs, extent } = self;
        let Packed { turned, instructions, memory, back, .. } = &mut **layer;
        let Memory { dq, dk, dv, panels, .. } = back;
        let scratches = &mut memory.scratches[..extent.n_threads];
        let ways = of_heads([dq, dk, dv], *extent);
        let Turned { each, all, .. } = packed(turned);
        let mut back_by = |ways: &[OfHeads<'_>], weights, like: &Matrix<f32>, to| {
            let to = of_shape(to, like.shape());
            tokens::d_tokens(*instructions, scratches, panels, ways, weights, to);
        };
        if inputs.is_self_attention() {
            back_by(&ways, all, inputs.query, of_one_input(gradients));
        } else {
            let [d_query, d_key, d_value] = of_three_inputs(gradients);
            back_by(&ways[..1], &each[0], inputs.query, d_query);
            back_by(&ways[1..2], &each[1], inputs.key, d_key);
            back_by(&ways[2..], &each[2], inputs.value, d_value);
        }
    }

    /// Turns what went into each product, and the gradients of the outputs, so that the
    /// last step reads them side by side.
    fn turn(&mut self, d_out: &Matrix<f32>) {
        let Self { layer, inputs, extent } = self;
        let Packed { memory, back, .. } = &mut **layer;
        let Memory { tokens_turned, concat_turned, d_out_strips, .. } = back;
        let concat = Columns::Concat(memory.concat.get(extent.q()), *extent);
        let mut rows = vec![Turning::new(concat, concat_turned)];
        for (x, to) in distinct(inputs).iter().zip(tokens_turned) {
            rows.push(Turning::new(Columns::Matrix(x), to));
        }
        let strips = Turning::new(Columns::Matrix(d_out), d_out_strips);
        turn_all(&mut memory.scratches[..extent.n_threads], &rows, &strips);
    }

    /// The same lines, and `out = concat · W^O + b^O`: the gradients of the parameters.
    fn back_to_parameters(
        &mut self,
        d_out: &Matrix<f32>,
        gradients: &mut Gradients<f32>,
    ) {
        self.turn(d_out);
        let Self { layer, inputs, extent } = self;
        let Packed { instructions, memory, back, parameters, .. } = &mut **layer;
        let Memory { dq, dk, dv, tokens_turned, concat_turned, d_out_strips, .. } = back;
        let tokens = distinct(inputs);
        let turned = |i: usize| {
            let i = i % tokens.len(); // one input is all three
            tokens_turned[i].get(turned_len::<ROWS>(tokens[i].shape()))
        };
        let w_o = parameters.w_o();
        let concat = concat_turned.get(turned_len::<ROWS>((d_out.nrows(), w_o.d_in())));
        let d_out = OfHeads {
            data: d_out_strips.get(turned_len::<WIDTH>(d_out.shape())),
            strips: Strips { features: d_out.ncols(), tokens: d_out.nrows() },
            n_heads: 1,
            n_sequences: 1,
        };
        let [dq, dk, dv] = of_heads([dq, dk, dv], *extent);
        let of_head = &parameters.heads()[0];
        let Gradients { d_w_q, d_w_k, d_w_v, d_w_o, .. } = gradients;
        let weights = [
            (turned(0), dq, &of_head.w_q, d_w_q),
            (turned(1), dk, &of_head.w_k, d_w_k),
            (turned(2), dv, &of_head.w_v, d_w_v),
            (concat, d_out, w_o, d_w_o),
        ]
        .map(|(x, d, linear, to)| {
            to.bias = linear.bias.as_ref().map(|_| d.sums().into());
            let shape = (linear.d_in(), d.n_heads * d.strips.features);
            WeightBack { x, d, d_weight: of_shape(&mut to.weight, shape) }
        });
        d_weights(*instructions, &mut memory.scratches[..extent.n_threads], weights);
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

/// The strips of one head and sequence: of queries, keys and values.
fn strips(extent: Extent) -> [Strips; 3] {
    let (dims, lengths) = (extent.dims, extent.lengths);
    [(dims.d_k(), lengths.n_q), (dims.d_k(), lengths.n_kv), (dims.d_v(), lengths.n_kv)]
        .map(|(features, tokens)| Strips { features, tokens })
}

/// The gradients of queries, keys and values.
fn of_heads(memory: [&mut Aligned; 3], extent: Extent) -> [OfHeads<'_>; 3] {
    let (n_heads, n_sequences) = (extent.dims.n_heads(), extent.lengths.n_sequences);
    let mut strips = strips(extent).into_iter();
    memory.map(|memory| {
        let strips = strips.next().expect("there are three");
        let data = memory.get(n_heads * n_sequences * strips.len());
        OfHeads { data, strips, n_heads, n_sequences }
    })
}
