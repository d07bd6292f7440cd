//! The three steps of the layer, each shared out among the threads.

use attention::{Dims, Matrix};
use tiles::attend::{Attend, PanelsOf, in_runs};
use tiles::memory::{Aligned, Scratch};
use tiles::merge::{Merge, blocks_of_tokens};
use tiles::panels::{HeadPanels, Panels, n_groups, round_up, rows_per_head};
use tiles::queue::{Order, Queue, share_out};
use tiles::running::Normalisers;
use tiles::tile::ROWS;
use tiles::{Instructions, Lengths};

use super::project::{Pieces, Project};
use super::weights::Weights;
use crate::Inputs;

/// What is kept between calls.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Queries, `[group][head][rows of a head][48]`.
    pub(crate) q: Aligned,
    /// `[group][head][d_k][48]`.
    pub(crate) k: Aligned,
    /// `[group][head][d_v][48]`.
    pub(crate) v: Aligned,
    /// The heads' outputs where the queries are still needed, as large as `q`.
    pub(crate) concat: Aligned,
    /// What makes shares of the scores of each query, `[group][head]` of
    /// [`Normalisers`].
    pub(crate) normalisers: Aligned,
    pub(crate) scratches: Vec<Scratch>,
}

/// Whether queries are overwritten by outputs, which saves memory, or kept for a backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queries {
    Overwrite,
    Keep,
}

/// How large the memory of a call is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) dims: Dims,
    pub(crate) lengths: Lengths,
    pub(crate) n_threads: usize,
}

impl Extent {
    pub(crate) fn n_queries(&self) -> usize {
        self.lengths.n_sequences * self.lengths.n_q
    }

    pub(crate) fn n_keys(&self) -> usize {
        self.lengths.n_sequences * self.lengths.n_kv
    }

    fn cut(&self, n_rows: usize) -> Pieces {
        Pieces::new(n_rows, self.dims.n_heads(), self.n_threads)
    }

    /// The length of panels for so many rows, of so many features a head.
    fn panels(&self, n_rows: usize, features: usize) -> usize {
        self.cut(n_rows).n_groups(n_rows) * self.dims.n_heads() * features * ROWS
    }

    pub(crate) fn q(&self) -> usize {
        self.panels(self.n_queries(), rows_per_head(self.dims))
    }

    pub(crate) fn k(&self) -> usize {
        self.panels(self.n_keys(), round_up(self.dims.d_k()))
    }

    pub(crate) fn v(&self) -> usize {
        self.panels(self.n_keys(), round_up(self.dims.d_v()))
    }

    /// The gradients of the heads' outputs.
    pub(crate) fn d_heads(&self) -> usize {
        self.panels(self.n_queries(), round_up(self.dims.d_v()))
    }

    pub(crate) fn normalisers(&self) -> usize {
        n_groups(self.n_queries()) * self.dims.n_heads() * Normalisers::LEN
    }
}

/// The layer, from tokens to tokens.
pub(crate) fn forward(
    weights: &Weights,
    instructions: Instructions,
    memory: &mut Memory,
    inputs: &Inputs<'_>,
    extent: Extent,
    queries: Queries,
    out: &mut Matrix<f32>,
) {
    if memory.scratches.len() < extent.n_threads {
        memory.scratches.resize_with(extent.n_threads, Scratch::default);
    }
    project(weights, instructions, memory, inputs, extent);
    attend(instructions, memory, inputs, extent, queries);
    let scratches = &mut memory.scratches[..extent.n_threads];
    let concat = match queries {
        Queries::Overwrite => memory.q.get(extent.q()),
        Queries::Keep => memory.concat.get(extent.q()),
    };
    merge(instructions, scratches, concat, &weights.w_o, out);
}

/// query, key, value → q, k, v.
fn project(
    weights: &Weights,
    instructions: Instructions,
    memory: &mut Memory,
    inputs: &Inputs<'_>,
    extent: Extent,
) {
    let Weights { w_q, w_k, w_v, .. } = weights;
    let Memory { q, k, v, scratches, .. } = memory;
    let [q, k, v] = [q.take(extent.q()), k.take(extent.k()), v.take(extent.v())];
    let scratches = &mut scratches[..extent.n_threads];
    if inputs.is_self_attention() {
        let (x, weights) = (inputs.query, [&w_q[..], w_k, w_v]);
        project_by(instructions, scratches, x, weights, [q, k, v]);
    } else {
        project_by(instructions, scratches, inputs.query, [&w_q[..]], [q]);
        project_by(instructions, scratches, inputs.key, [&w_k[..]], [k]);
        project_by(instructions, scratches, inputs.value, [&w_v[..]], [v]);
    }
}

/// Some tokens by N weights of every head.
fn project_by<const N: usize>(
    instructions: Instructions,
    scratches: &mut [Scratch],
    x: &Matrix<f32>,
    weights: [&[Panels]; N],
    to: [&mut [f32]; N],
) {
    let cut = Pieces::new(x.nrows(), weights[0].len(), scratches.len());
    let queue = &Queue::new(cut.n_pieces(x.nrows()), Order::InTurn, to);
    share_out(scratches, &|scratch| {
        instructions.run(Project { x, weights, cut, queue, scratch });
    });
}

/// q, k, v → concat.
fn attend(
    instructions: Instructions,
    memory: &mut Memory,
    inputs: &Inputs<'_>,
    extent: Extent,
    queries: Queries,
) {
    let Extent { dims, lengths, n_threads } = extent;
    let (k, v) = (memory.k.get(extent.k()), memory.v.get(extent.v()));
    let (q, concat) = match queries {
        Queries::Overwrite => (None, memory.q.take(extent.q())),
        Queries::Keep => (Some(memory.q.get(extent.q())), memory.concat.take(extent.q())),
    };
    let n_pieces = n_groups(extent.n_queries()) * dims.n_heads();
    let concat = &mut concat[..n_pieces * rows_per_head(dims) * ROWS];
    let normalisers = memory.normalisers.take(extent.normalisers());
    let order = in_runs(n_pieces, dims, n_threads);
    let queue = &Queue::new(n_pieces, order, [concat, normalisers]);
    let masks = inputs.masks();
    let panels: &PanelsOf<'_> = &|head| HeadPanels::of_layer(dims, head, [k, v]);
    let positions = None;
    share_out(&mut memory.scratches[..n_threads], &|scratch| {
        let attend =
            Attend { dims, masks, lengths, positions, q, panels, queue, scratch };
        instructions.run(attend);
    });
}

/// concat → out: panels of tokens by a weight.
fn merge(
    instructions: Instructions,
    scratches: &mut [Scratch],
    concat: &[f32],
    w_o: &Panels,
    out: &mut Matrix<f32>,
) {
    let blocks = &blocks_of_tokens(out, scratches.len());
    share_out(scratches, &|_| instructions.run(Merge { concat, w_o, blocks }));
}
