//! The way back through the layer.
//!
//! The forward pass keeps no map. Of each row of shares it keeps one number, the
//! logarithm of its sum, and from that and the scores, computed again, every share comes
//! back: `share = 2^(score − log2 Σ 2^score)`. So the way back through attention is five
//! products where the way there was two, and needs no memory that grows as n².

mod attend;
mod careful;
mod parameters;
mod strips;
mod tokens;
mod turned;

use attention::{Error, Linear, Matrix, Result};

use super::forward::{Extent, project_by};
use super::memory::Aligned;
use super::panels::Panels;
use super::units::{Order, Queue, share_out};
use crate::Inputs;
use crate::ladder::Packed;
use crate::wide::Wide;

use attend::{AttendBackward, Kept};
use strips::{OfHeads, Strips};
pub(crate) use turned::Turned;

/// The gradients of a layer's parameters and inputs, each of the shape of what it is the
/// gradient of.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients {
    /// Of W^Q, `[d_model, h · d_k]`, and its bias.
    pub d_w_q: Linear<f32>,
    /// Of W^K, `[key_width, h · d_k]`, and its bias.
    pub d_w_k: Linear<f32>,
    /// Of W^V, `[value_width, h · d_v]`, and its bias.
    pub d_w_v: Linear<f32>,
    /// Of W^O, `[h · d_v, d_model]`, and its bias.
    pub d_w_o: Linear<f32>,
    /// Of the tokens.
    pub d_inputs: InputGradients,
}

impl Gradients {
    /// Whether no number is NaN or infinite.
    fn are_finite(&self) -> bool {
        let linears = [&self.d_w_q, &self.d_w_k, &self.d_w_v, &self.d_w_o];
        let inputs = match &self.d_inputs {
            InputGradients::SelfAttention { d_x } => vec![d_x],
            InputGradients::CrossAttention { d_query, d_key, d_value } => {
                vec![d_query, d_key, d_value]
            }
        };
        let biases = linears.iter().filter_map(|linear| linear.bias.as_ref());
        let biases = biases.map(|bias| bias.as_slice());
        let matrices = linears.iter().map(|linear| &linear.weight).chain(inputs);
        let slices = matrices.map(|matrix| matrix.as_slice()).chain(biases);
        // It does not stop at the first that is not: so many are looked at at once.
        let finite = |all: bool, x: &f32| all & x.is_finite();
        slices.fold(true, |all, slice| slice.iter().fold(all, finite))
    }
}

/// The gradients of the tokens.
#[derive(Debug, Clone, PartialEq)]
pub enum InputGradients {
    /// Query, key and value were one matrix: the sum of the three ways back,
    /// `[n_sequences · n_tokens, d_model]`.
    SelfAttention {
        /// Of the tokens.
        d_x: Matrix<f32>,
    },
    /// They were not.
    CrossAttention {
        /// `[n_sequences · n_q, d_model]`.
        d_query: Matrix<f32>,
        /// `[n_sequences · n_kv, key_width]`.
        d_key: Matrix<f32>,
        /// `[n_sequences · n_kv, value_width]`.
        d_value: Matrix<f32>,
    },
}

/// A forward pass that can be gone back.
///
/// It borrows the layer and the inputs, so that neither changes before.
#[derive(Debug)]
pub struct Pass<'a> {
    pub(crate) layer: &'a mut Packed,
    pub(crate) inputs: Inputs<'a>,
    pub(crate) extent: Extent,
}

/// What the way back keeps between calls.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The gradients of the heads' outputs, `[group][head][d_v][48]`.
    d_heads: Aligned,
    /// The gradients of the queries, in [`Strips`] of each head and sequence.
    dq: Aligned,
    /// Of the keys.
    dk: Aligned,
    /// Of the values.
    dv: Aligned,
    /// The gradients of the queries, keys and values as the micro-kernel reads them.
    panels: Aligned,
    /// Tokens with their features side by side, `[features / 48][row][48]`.
    turned: [Aligned; 4],
}

impl Pass<'_> {
    /// The gradients of all that this pass took, from the gradient of what it gave.
    ///
    /// # Shapes
    /// `d_out` is `[n_sequences · n_q, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another shape.
    ///
    /// # Source
    /// Dao et al. 2022, algorithm 4, for the way back without maps.
    /// Differs: one thread goes through all blocks of a head and sequence, so that nothing
    /// is added up across threads.
    pub fn backward(&mut self, d_out: &Matrix<f32>) -> Result<Gradients> {
        Error::expect_shape("d_out", self.inputs.query.shape(), d_out.shape())?;
        let gradients = rayon::join(|| self.steps(d_out), || ()).0;
        if gradients.are_finite() {
            return Ok(gradients);
        }
        let w = Wide::new(&self.layer.parameters);
        Ok(careful::gradients(&w, &self.inputs, self.extent.lengths, d_out))
    }

    /// The last line of the forward pass comes first.
    fn steps(&mut self, d_out: &Matrix<f32>) -> Gradients {
        self.back_through_w_o(d_out);
        self.back_through_attention();
        let d_inputs = self.back_to_tokens();
        let [d_w_q, d_w_k, d_w_v] = self.back_to_projections();
        let d_w_o = self.back_to_w_o(d_out);
        Gradients { d_w_q, d_w_k, d_w_v, d_w_o, d_inputs }
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
    fn back_to_tokens(&mut self) -> InputGradients {
        let Self { layer, inputs, extent } = self;
        let Packed { turned, instructions, memory, back, .. } = &mut **layer;
        let Memory { dq, dk, dv, panels, .. } = back;
        let scratches = &mut memory.scratches[..extent.n_threads];
        let ways = of_heads([dq, dk, dv], *extent);
        let Turned { each, all, .. } = packed(turned);
        let mut back_by = |ways: &[OfHeads<'_>], weights, like: &Matrix<f32>| {
            tokens::d_tokens(
                *instructions,
                scratches,
                panels,
                ways,
                weights,
                like.shape(),
            )
        };
        if inputs.is_self_attention() {
            InputGradients::SelfAttention { d_x: back_by(&ways, all, inputs.query) }
        } else {
            InputGradients::CrossAttention {
                d_query: back_by(&ways[..1], &each[0], inputs.query),
                d_key: back_by(&ways[1..2], &each[1], inputs.key),
                d_value: back_by(&ways[2..], &each[2], inputs.value),
            }
        }
    }

    /// The same lines: the gradients of W^Q, W^K and W^V.
    fn back_to_projections(&mut self) -> [Linear<f32>; 3] {
        let Self { layer, inputs, extent } = self;
        let Packed { instructions, memory, back, parameters, .. } = &mut **layer;
        let Memory { dq, dk, dv, turned: [query, key, value, _], .. } = back;
        let scratches = &mut memory.scratches[..extent.n_threads];
        let query = turned::turn_tokens(scratches, inputs.query, query);
        let (key, value) = if inputs.is_self_attention() {
            (query, query)
        } else {
            let key = turned::turn_tokens(scratches, inputs.key, key);
            (key, turned::turn_tokens(scratches, inputs.value, value))
        };
        let [dq, dk, dv] = of_heads([dq, dk, dv], *extent);
        let head = &parameters.heads()[0];
        let all = [(query, &head.w_q, dq), (key, &head.w_k, dk), (value, &head.w_v, dv)];
        all.map(|(x, of_head, d)| Linear {
            weight: parameters::d_weight(*instructions, scratches, x, of_head.d_in(), &d),
            bias: of_head.bias.as_ref().map(|_| d.sums().into()),
        })
    }

    /// `out = concat · W^O + b^O`: the gradient of W^O.
    fn back_to_w_o(&mut self, d_out: &Matrix<f32>) -> Linear<f32> {
        let Self { layer, extent, .. } = self;
        let Packed { instructions, memory, back, parameters, .. } = &mut **layer;
        let concat = memory.concat.get(extent.q());
        let scratches = &mut memory.scratches[..extent.n_threads];
        let d_turned = turned::turn_tokens(scratches, d_out, &mut back.turned[3]);
        let bias = parameters.w_o().bias.as_ref();
        Linear {
            weight: parameters::d_w_o(
                *instructions,
                scratches,
                concat,
                d_turned,
                *extent,
            ),
            bias: bias.map(|_| parameters::column_sums(d_out).into()),
        }
    }
}

/// The parameters for the way back.
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
