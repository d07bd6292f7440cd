//! Our own product, and everything packed for it.

use attention::{Dims, LayerParameters, Matrix, Result};

use crate::packed::attend::Attend;
use crate::packed::memory::{Aligned, Scratch};
use crate::packed::merge::Merge;
use crate::packed::panels::round_up;
use crate::packed::project::{Cut, Project};
use crate::packed::units::{Blocks, Order, Queue, share_out};
use crate::packed::weights::{Weights, rows_per_head};
use crate::tile::{COLUMNS, ROWS};
use crate::{Inputs, Instructions, Lengths, Rung};

/// The layer with everything packed for its own product.
#[derive(Debug)]
pub struct Packed {
    weights: Weights,
    instructions: Instructions,
    memory: Memory,
}

/// What is kept between calls.
#[derive(Debug, Default)]
struct Memory {
    /// Queries, then outputs, `[group][head][rows of a head][48]`.
    q: Aligned,
    /// `[group][head][d_k][48]`.
    k: Aligned,
    /// `[group][head][d_v][48]`.
    v: Aligned,
    /// `[group][head][48]`.
    log_sums: Aligned,
    scratches: Vec<Scratch>,
}

impl Packed {
    /// The layer with these parameters, for the widest instructions of this processor.
    pub fn new(parameters: &LayerParameters<f32>) -> Self {
        Self::with_instructions(parameters, Instructions::best())
    }

    /// The same for other instructions.
    pub fn with_instructions(
        parameters: &LayerParameters<f32>,
        instructions: Instructions,
    ) -> Self {
        let (weights, memory) = (Weights::new(parameters), Memory::default());
        Self { weights, instructions, memory }
    }

    fn steps(&mut self, inputs: &Inputs<'_>, lengths: Lengths, out: &mut Matrix<f32>) {
        let Self { weights, instructions, memory } = self;
        let (dims, instructions) = (weights.dims, *instructions);
        let n_heads = dims.n_heads();
        let n_threads = rayon::current_num_threads();
        if memory.scratches.len() < n_threads {
            memory.scratches.resize_with(n_threads, Scratch::default);
        }
        let scratches = &mut memory.scratches[..n_threads];

        let [q_rows, k_rows, v_rows] =
            [rows_per_head(dims), round_up(dims.d_k()), round_up(dims.d_v())];
        let cut_q = Cut::new(inputs.query.nrows(), n_heads, n_threads);
        let cut_kv = Cut::new(inputs.key.nrows(), n_heads, n_threads);
        let groups_q = cut_q.n_groups(inputs.query.nrows());
        let groups_kv = cut_kv.n_groups(inputs.key.nrows());
        let q = memory.q.take(groups_q * n_heads * q_rows * ROWS);
        let k = memory.k.take(groups_kv * n_heads * k_rows * ROWS);
        let v = memory.v.take(groups_kv * n_heads * v_rows * ROWS);

        // query, key, value -> q, k, v
        if inputs.is_self_attention() {
            let n_pieces = cut_q.n_pieces(inputs.query.nrows());
            let queue = Queue::new(n_pieces, Order::InTurn, [&mut *q, &mut *k, &mut *v]);
            share_out(scratches, &|scratch| {
                instructions.run(Project {
                    x: inputs.query,
                    weights: [&weights.w_q, &weights.w_k, &weights.w_v],
                    cut: cut_q,
                    queue: &queue,
                    scratch,
                })
            });
        } else {
            let all = [
                (inputs.query, cut_q, &mut *q, &weights.w_q),
                (inputs.key, cut_kv, &mut *k, &weights.w_k),
                (inputs.value, cut_kv, &mut *v, &weights.w_v),
            ];
            for (x, cut, to, of_heads) in all {
                let queue = Queue::new(cut.n_pieces(x.nrows()), Order::InTurn, [to]);
                share_out(scratches, &|scratch| {
                    instructions.run(Project {
                        x,
                        weights: [of_heads],
                        cut,
                        queue: &queue,
                        scratch,
                    })
                });
            }
        }

        // q, k, v -> concat, in the place of q
        let n_groups = inputs.query.nrows().div_ceil(ROWS);
        let q = &mut q[..n_groups * n_heads * q_rows * ROWS];
        let log_sums = memory.log_sums.take(n_groups * n_heads * ROWS);
        let queue =
            Queue::new(n_groups * n_heads, Order::ByHead(n_heads), [&mut *q, log_sums]);
        share_out(scratches, &|scratch| {
            instructions.run(Attend {
                dims,
                inputs,
                lengths,
                k,
                v,
                queue: &queue,
                scratch,
            })
        });

        // concat -> out
        let shape = out.shape();
        let block = match n_groups / (4 * n_threads) {
            0 => (ROWS, shape.1.div_ceil(2 * n_threads).next_multiple_of(COLUMNS)),
            1..4 => (ROWS, shape.1),
            _ => (2 * ROWS, shape.1),
        };
        let blocks = Blocks::new(out.as_mut_slice(), shape, block);
        share_out(scratches, &|_| {
            instructions.run(Merge { concat: q, w_o: &weights.w_o, blocks: &blocks })
        });
    }
}

impl Rung for Packed {
    fn name(&self) -> &'static str {
        "packed"
    }

    fn dims(&self) -> Dims {
        self.weights.dims
    }

    fn forward(&mut self, inputs: &Inputs<'_>, out: &mut Matrix<f32>) -> Result<()> {
        let lengths = inputs.check(self.dims(), out)?;
        rayon::join(|| self.steps(inputs, lengths, out), || ());
        Ok(())
    }
}
