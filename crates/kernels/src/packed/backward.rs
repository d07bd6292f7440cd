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
use super::panels::{Panels, round_up};
use super::units::{Order, Queue, share_out};
use crate::Inputs;
use crate::ladder::Packed;
use crate::wide::Wide;

use attend::{AttendBackward, Kept};
pub(crate) use strips::Strips;
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
        slices.map(|slice| slice.iter().fold(true, finite)).all(|all| all)
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

    fn steps(&mut self, d_out: &Matrix<f32>) -> Gradients {
        let Self { layer, inputs, extent } = self;
        let (dims, lengths) = (extent.dims, extent.lengths);
        let Packed { turned, instructions, memory, back, parameters, .. } = &mut **layer;
        let turned = turned.as_ref().expect("packed when the pass was made");
        let scratches = &mut memory.scratches[..extent.n_threads];
        let n_heads = dims.n_heads();

        // out = concat · W^O + b^O
        let d_heads =
            back.d_heads.take(extent.panels(extent.n_queries(), round_up(dims.d_v())));
        let w_o: &[Panels] = &turned.w_o;
        project_by(*instructions, scratches, d_out, [w_o], [&mut *d_heads]);

        // concat = attention of q, k, v
        let of_q = Strips { features: dims.d_k(), tokens: lengths.n_q };
        let of_k = Strips { features: dims.d_k(), tokens: lengths.n_kv };
        let of_v = Strips { features: dims.d_v(), tokens: lengths.n_kv };
        let n_pieces = n_heads * lengths.n_sequences;
        let dq = back.dq.take(n_pieces * of_q.len());
        let dk = back.dk.take(n_pieces * of_k.len());
        let dv = back.dv.take(n_pieces * of_v.len());
        let slices = [&mut *dq, &mut *dk, &mut *dv];
        let queue = &Queue::new(n_pieces, Order::InTurn, slices);
        let kept = Kept {
            dims,
            q: memory.q.get(extent.q()),
            k: memory.k.get(extent.k()),
            v: memory.v.get(extent.v()),
            concat: memory.concat.get(extent.q()),
            log_sums: memory.log_sums.get(extent.log_sums()),
            d_heads,
        };
        share_out(scratches, &|scratch| {
            instructions.run(AttendBackward { kept, inputs, lengths, queue, scratch });
        });

        // q = query · W^Q + b^Q, and k and v
        let n = lengths.n_sequences;
        let q = strips::OfHeads { data: dq, strips: of_q, n_heads, n_sequences: n };
        let k = strips::OfHeads { data: dk, strips: of_k, n_heads, n_sequences: n };
        let v = strips::OfHeads { data: dv, strips: of_v, n_heads, n_sequences: n };
        let mut d_tokens =
            |like: &Matrix<f32>, ways: &[strips::OfHeads<'_>], w: &Panels| {
                let (n_rows, d_in) = like.shape();
                tokens::d_tokens(
                    *instructions,
                    scratches,
                    &mut back.panels,
                    n_rows,
                    ways,
                    w,
                    d_in,
                )
            };
        let d_inputs = if inputs.is_self_attention() {
            let d_x = d_tokens(inputs.query, &[q, k, v], &turned.all);
            InputGradients::SelfAttention { d_x }
        } else {
            let [w_q, w_k, w_v] = &turned.each;
            InputGradients::CrossAttention {
                d_query: d_tokens(inputs.query, &[q], w_q),
                d_key: d_tokens(inputs.key, &[k], w_k),
                d_value: d_tokens(inputs.value, &[v], w_v),
            }
        };

        let [query, key, value, out] = &mut back.turned;
        let query = turned::turn_tokens(scratches, inputs.query, query);
        let (key, value) = if inputs.is_self_attention() {
            (query, query)
        } else {
            let key = turned::turn_tokens(scratches, inputs.key, key);
            (key, turned::turn_tokens(scratches, inputs.value, value))
        };
        let head = &parameters.heads()[0];
        let bias = [&head.w_q, &head.w_k, &head.w_v].map(|w| w.bias.is_some());
        let mut d_w = |x: &[f32], d_in, d: &strips::OfHeads<'_>, bias: bool| Linear {
            weight: parameters::d_weight(*instructions, scratches, x, d_in, d),
            bias: bias.then(|| d.sums().into()),
        };
        let d_w_q = d_w(query, dims.d_model(), &q, bias[0]);
        let d_w_k = d_w(key, dims.key_width(), &k, bias[1]);
        let d_w_v = d_w(value, dims.value_width(), &v, bias[2]);
        let d_out_turned = turned::turn_tokens(scratches, d_out, out);
        let concat = memory.concat.get(extent.q());
        let d_w_o = Linear {
            weight: parameters::d_w_o(
                *instructions,
                scratches,
                concat,
                d_out_turned,
                *extent,
            ),
            bias: parameters
                .w_o()
                .bias
                .as_ref()
                .map(|_| parameters::column_sums(d_out).into()),
        };
        Gradients { d_w_q, d_w_k, d_w_v, d_w_o, d_inputs }
    }
}
