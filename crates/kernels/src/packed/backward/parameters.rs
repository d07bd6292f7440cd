//! Back to the parameters: each gathers from every token that it met.

use attention::Matrix;
use pulp::{Simd, WithSimd};

use super::strips::{OfHeads, WIDTH};
use crate::Instructions;
use crate::packed::memory::Scratch;
use crate::packed::units::{Block, Blocks, share_out};
use crate::tile::{COLUMNS, New, ROWS, Segment, tile, vectors};

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

/// The gradient of a weight, `d_weight = xᵀ · d` with what went in and the gradient of what
/// came out: `[d_in, h · features]`.
pub(crate) struct WeightBack<'a> {
    /// `[d_in / 48][row][48]`.
    pub(crate) x: &'a [f32],
    pub(crate) d: OfHeads<'a>,
    pub(crate) d_weight: &'a mut Matrix<f32>,
}

/// The gradients of some weights. A thread that finds nothing left of one goes on with the
/// next.
pub(crate) fn d_weights<const N: usize>(
    instructions: Instructions,
    scratches: &mut [Scratch],
    weights: [WeightBack<'_>; N],
) {
    let n_threads = scratches.len();
    let weights = weights.map(|WeightBack { x, d, d_weight }| {
        let shape = d_weight.shape();
        let rows = panels_per_piece(shape.0, n_threads) * ROWS;
        (x, d, Blocks::new(d_weight.as_mut_slice(), shape, (rows, shape.1)))
    });
    share_out(scratches, &|_| {
        for (x, d, blocks) in &weights {
            instructions.run(DWeight { x, d, blocks });
        }
    });
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
                            let place = Place { row, first, columns, anew: n == 0 };
                            add_tile(simd, &segments, &mut block, &place);
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
struct Place {
    row: usize,
    first: usize,
    columns: usize,
    /// Whether nothing stands there yet.
    anew: bool,
}

#[inline(always)]
fn add_tile<S: Simd>(
    simd: S,
    segments: &[Segment<'_>],
    block: &mut Block<'_>,
    place: &Place,
) {
    let first = place.row - block.rows.start;
    let rows = first..(first + ROWS).min(block.rows.len());
    let lanes = vectors::<S>(0..rows.len());
    let mut sums = [0.0; COLUMNS * ROWS];
    tile::<S, WIDTH, 1>(simd, lanes, segments, &mut New(&mut sums));
    for (j, sums) in sums.as_chunks::<ROWS>().0.iter().enumerate().take(place.columns) {
        let column = &mut block.column(place.first + j)[rows.clone()];
        match <&mut [f32; ROWS]>::try_from(&mut *column) {
            Ok(whole) if place.anew => *whole = *sums,
            _ => {
                for (x, sum) in column.iter_mut().zip(sums) {
                    *x = if place.anew { *sum } else { *x + sum };
                }
            }
        }
    }
}
