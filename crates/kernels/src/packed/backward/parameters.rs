//! Back to the parameters: each gathers from every token that it met.

use std::ops::Range;

use attention::Matrix;
use pulp::{Simd, WithSimd};

use super::strips::{OfHeads, WIDTH};
use crate::Instructions;
use crate::packed::forward::Extent;
use crate::packed::memory::Scratch;
use crate::packed::panels::{n_groups, rows_of};
use crate::packed::units::{Block, Blocks, share_out};
use crate::packed::weights::rows_per_head;
use crate::tile::{COLUMNS, New, ROWS, Segment, Sums, load, store, tile, vectors};

/// Tokens that are summed before a gradient is written. 8 columns of so many stay in the
/// first cache, and [`PANELS`] panels of 48 features in the second.
const TOKENS: usize = 384;

/// The most panels of 48 features that one thread goes through together, so that what it
/// has read for one of them serves all.
const PANELS: usize = 8;

/// How many panels a piece of work has.
fn panels_per_piece(width: usize, n_threads: usize) -> usize {
    width.div_ceil(ROWS).div_ceil(n_threads).min(PANELS)
}

/// `xᵀ · d` for a projection of tokens x to all heads, `[d_in, h · features]`.
///
/// # Shapes
/// `x` is `[d_in / 48][row][48]`.
pub(crate) fn d_weight(
    instructions: Instructions,
    scratches: &mut [Scratch],
    x: &[f32],
    d_in: usize,
    d: &OfHeads<'_>,
) -> Matrix<f32> {
    let mut weight = Matrix::zeros(d_in, d.n_heads * d.strips.features);
    let shape = weight.shape();
    let rows = panels_per_piece(d_in, scratches.len()) * ROWS;
    let blocks = &Blocks::new(weight.as_mut_slice(), shape, (rows, shape.1));
    share_out(scratches, &|_| instructions.run(DWeight { x, d, blocks }));
    weight
}

struct DWeight<'a> {
    x: &'a [f32],
    d: &'a OfHeads<'a>,
    blocks: &'a Blocks<'a>,
}

/// Some tokens of one sequence.
struct Run {
    sequence: usize,
    token: usize,
    n_tokens: usize,
}

impl WithSimd for DWeight<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, d, blocks } = self;
        let features = d.strips.features;
        let n_rows = d.n_sequences * d.strips.tokens;
        let mut segments = Vec::new();
        while let Some(mut block) = blocks.take() {
            for (n, runs) in runs(d.n_sequences, d.strips.tokens).iter().enumerate() {
                for head in 0..d.n_heads {
                    for feature in (0..features).step_by(COLUMNS) {
                        let columns = COLUMNS.min(features - feature);
                        let first = head * features + feature;
                        for row in block.rows.clone().step_by(ROWS) {
                            let x = &x[row * n_rows..][..n_rows * ROWS];
                            segments.clear();
                            segments.extend(runs.iter().map(|run| Segment {
                                a: &x[(run.sequence * d.strips.tokens + run.token)
                                    * ROWS..],
                                b: d.from(head, run.sequence, run.token, feature),
                                depth: run.n_tokens,
                            }));
                            let (block, anew) = (&mut block, n == 0);
                            AddToBlock { block, row, first, columns, anew }
                                .add(simd, &segments);
                        }
                    }
                }
            }
        }
    }
}

/// All tokens, in lists of about [`TOKENS`].
fn runs(n_sequences: usize, n_tokens: usize) -> Vec<Vec<Run>> {
    let of_sequence = |sequence| {
        (0..n_tokens).step_by(TOKENS).map(move |token| Run {
            sequence,
            token,
            n_tokens: TOKENS.min(n_tokens - token),
        })
    };
    let mut lists: Vec<Vec<Run>> = Vec::new();
    let mut in_last = TOKENS;
    for run in (0..n_sequences).flat_map(of_sequence) {
        if in_last + run.n_tokens > TOKENS {
            lists.push(Vec::new());
            in_last = 0;
        }
        in_last += run.n_tokens;
        lists.last_mut().expect("one was pushed").push(run);
    }
    lists
}

/// A tile of a gradient: up to 48 rows from `row` on and some columns from `first` on.
struct AddToBlock<'a, 'b> {
    block: &'a mut Block<'b>,
    row: usize,
    first: usize,
    columns: usize,
    /// Whether nothing stands there yet.
    anew: bool,
}

impl AddToBlock<'_, '_> {
    /// The tile's rows among those of the block.
    fn rows(&self) -> Range<usize> {
        let rows = &self.block.rows;
        self.row - rows.start..(self.row + ROWS).min(rows.end) - rows.start
    }

    #[inline(always)]
    fn add<S: Simd>(&mut self, simd: S, segments: &[Segment<'_>]) {
        let lanes = vectors::<S>(0..self.rows().len());
        tile::<S, WIDTH, 1>(simd, lanes, segments, self);
    }
}

impl<S: Simd> Sums<S> for AddToBlock<'_, '_> {
    #[inline(always)]
    fn start(&self, simd: S, j: usize, v: usize) -> S::f32s {
        if self.anew || j >= self.columns {
            return simd.splat_f32s(0.0);
        }
        let rows = self.rows();
        let column = self.block.read(self.first + j);
        load(simd, &column[rows.start + v * S::F32_LANES..rows.end])
    }

    #[inline(always)]
    fn done<const N: usize>(&mut self, simd: S, j: usize, v: usize, sums: [S::f32s; N]) {
        let rows = self.rows();
        for i in 0..N {
            if j + i < self.columns {
                let column = self.block.column(self.first + j + i);
                store(
                    simd,
                    &mut column[rows.start + v * S::F32_LANES..rows.end],
                    sums[i],
                );
            }
        }
    }
}

/// `concatᵀ · d_out`, `[h · d_v, d_model]`.
///
/// # Shapes
/// `concat` is `[group][head][rows of a head][48]`, `d_out` is `[d_model / 48][row][48]`.
pub(crate) fn d_w_o(
    instructions: Instructions,
    scratches: &mut [Scratch],
    concat: &[f32],
    d_out: &[f32],
    extent: Extent,
) -> Matrix<f32> {
    let dims = extent.dims;
    let shape = (dims.n_heads() * dims.d_v(), dims.d_model());
    let mut weight = Matrix::zeros(shape.0, shape.1);
    let columns = panels_per_piece(shape.1, scratches.len()) * ROWS;
    let blocks = &Blocks::new(weight.as_mut_slice(), shape, (shape.0, columns));
    share_out(scratches, &|_| instructions.run(DMerge { concat, d_out, extent, blocks }));
    weight
}

struct DMerge<'a> {
    concat: &'a [f32],
    d_out: &'a [f32],
    extent: Extent,
    blocks: &'a Blocks<'a>,
}

impl WithSimd for DMerge<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { concat, d_out, extent, blocks } = self;
        let (dims, n_rows) = (extent.dims, extent.n_queries());
        let head_len = rows_per_head(dims) * ROWS;
        let mut segments = Vec::new();
        while let Some(mut block) = blocks.take() {
            let per_list = TOKENS / ROWS;
            for list in (0..n_groups(n_rows)).step_by(per_list) {
                let groups = list..(list + per_list).min(n_groups(n_rows));
                for head in 0..dims.n_heads() {
                    for feature in (0..dims.d_v()).step_by(COLUMNS) {
                        let rows = COLUMNS.min(dims.d_v() - feature);
                        let first = head * dims.d_v() + feature;
                        for column in block.columns.clone().step_by(ROWS) {
                            let d_out = &d_out[column * n_rows..][..n_rows * ROWS];
                            segments.clear();
                            segments.extend(groups.clone().map(|g| {
                                let rows = rows_of(g, n_rows);
                                let at = (g * dims.n_heads() + head) * head_len;
                                Segment {
                                    a: &d_out[rows.start * ROWS..],
                                    b: &concat[at + feature * ROWS..],
                                    depth: rows.len(),
                                }
                            }));
                            add_turned_tile(
                                simd,
                                &segments,
                                &mut block,
                                column,
                                first..first + rows,
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Up to 48 columns and 8 rows of a gradient.
#[inline(always)]
fn add_turned_tile<S: Simd>(
    simd: S,
    segments: &[Segment<'_>],
    block: &mut Block<'_>,
    column: usize,
    rows: Range<usize>,
) {
    let columns = column..(column + ROWS).min(block.columns.end);
    let mut sums = [0.0; COLUMNS * ROWS];
    let lanes = vectors::<S>(0..columns.len());
    tile::<S, 1, ROWS>(simd, lanes, segments, &mut New(&mut sums));
    for (i, column) in columns.enumerate() {
        for (j, x) in block.column(column)[rows.clone()].iter_mut().enumerate() {
            *x += sums[j * ROWS + i];
        }
    }
}

/// The sum of each column: the gradient of a bias that was added to every row.
pub(crate) fn column_sums(matrix: &Matrix<f32>) -> Vec<f32> {
    let sum = |column: &[f32]| column.iter().map(|&x| f64::from(x)).sum::<f64>() as f32;
    matrix.as_slice().chunks_exact(matrix.nrows()).map(sum).collect()
}
