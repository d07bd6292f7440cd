//! Tokens to queries, keys and values, written as the attention reads them.

use attention::Matrix;
use pulp::{Simd, WithSimd};
use std::array::from_fn;
use tiles::memory::{Scratch, packed};
use tiles::panels::{Panels, n_groups, rows_of};
use tiles::queue::Queue;
use tiles::tile::{Biased, COLUMNS, ROWS, Segment, tile, vectors};

/// How the tokens and heads of a projection are cut into pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pieces {
    n_heads: usize,
    /// Groups of 48 tokens a piece: each panel of a weight that has come from memory
    /// serves all of them.
    groups: usize,
    /// Heads a piece: all, or one where there are too few groups for the threads.
    heads: usize,
}

impl Pieces {
    pub(crate) fn new(n_rows: usize, n_heads: usize, n_threads: usize) -> Self {
        let n_groups = n_groups(n_rows);
        let (groups, heads) = match n_groups / (4 * n_threads) {
            0 => (1, 1),
            1 => (1, n_heads),
            _ => (2, n_heads),
        };
        Self { n_heads, groups, heads }
    }

    /// The number of groups that whole pieces have, at least those of `n_rows`.
    pub(crate) fn n_groups(&self, n_rows: usize) -> usize {
        n_groups(n_rows).next_multiple_of(self.groups)
    }

    /// The number of pieces.
    pub(crate) fn n_pieces(&self, n_rows: usize) -> usize {
        self.n_groups(n_rows) / self.groups * (self.n_heads / self.heads)
    }

    /// The first group and the first head of a piece.
    fn first(&self, piece: usize) -> (usize, usize) {
        let across = self.n_heads / self.heads;
        (piece / across * self.groups, piece % across * self.heads)
    }
}

/// The projection of `x` by N weights of every head, `[group][head][d_out][48]` each.
pub(crate) struct Project<'a, const N: usize> {
    pub(crate) x: &'a Matrix<f32>,
    /// Each weight head by head.
    pub(crate) weights: [&'a [Panels]; N],
    pub(crate) cut: Pieces,
    pub(crate) queue: &'a Queue<'a, N>,
    pub(crate) scratch: &'a mut Scratch,
}

impl<const N: usize> WithSimd for Project<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, weights, cut, queue, scratch } = self;
        scratch.groups = 0..0; // left over from another matrix
        while let Some((piece, chunks)) = queue.take() {
            let (group, head) = cut.first(piece);
            let n_groups =
                n_groups(x.nrows()).min(group + cut.groups).saturating_sub(group);
            let panels = packed(x, group, n_groups, scratch);
            let lens: [usize; N] =
                from_fn(|n| chunks[n].len() / (cut.groups * cut.heads));
            for i in 0..cut.heads {
                for n in 0..N {
                    let of_head = &weights[n][head + i];
                    for at in 0..of_head.n_panels() {
                        for (g, panel) in
                            panels.chunks_exact(x.ncols() * ROWS).enumerate()
                        {
                            let first =
                                (g * cut.heads + i) * lens[n] + at * COLUMNS * ROWS;
                            let out = &mut chunks[n][first..][..COLUMNS * ROWS];
                            let lanes = rows_of(group + g, x.nrows()).len();
                            project_tile(simd, panel, of_head.panel(at), lanes, out);
                        }
                    }
                }
            }
        }
    }
}

/// 48 tokens through 8 columns of a weight: 8 features, `[8][48]`.
#[inline(always)]
fn project_tile<S: Simd>(
    simd: S,
    panel: &[f32],
    (weight, bias): (&[f32], &[f32]),
    lanes: usize,
    out: &mut [f32],
) {
    let segment = Segment { a: panel, b: weight, depth: panel.len() / ROWS };
    let sums = &mut Biased { bias, to: out };
    tile::<S, COLUMNS, 1>(simd, vectors::<S>(0..lanes), &[segment], sums);
}
