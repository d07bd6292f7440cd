//! Back to the tokens: `d_x = dq · W^Qᵀ`, and what comes by the keys and values.

use attention::Matrix;
use pulp::{Simd, WithSimd};

use super::strips::{OfHeads, WIDTH};
use super::turned::TurnedHeads;
use crate::Instructions;
use crate::packed::memory::Scratch;
use crate::packed::units::{Blocks, share_out};
use crate::tile::{COLUMNS, ROWS, Segment, tile, vector_mut, vectors};

/// One way back to the tokens: gradients, and the weight that they came by.
pub(crate) type Way<'a> = (&'a OfHeads<'a>, &'a TurnedHeads);

/// Tokens a piece of work, where a sequence is longer.
const TOKENS: usize = 96;

/// The sum of some ways back, `[n_sequences · n_tokens, d_in]`.
pub(crate) fn d_tokens(
    instructions: Instructions,
    scratches: &mut [Scratch],
    (n_rows, d_in): (usize, usize),
    n_sequences: usize,
    ways: &[Way<'_>],
) -> Matrix<f32> {
    let mut d_x = Matrix::zeros(n_rows, d_in);
    let n_tokens = n_rows / n_sequences;
    let rows = if n_sequences == 1 { TOKENS } else { n_tokens };
    let blocks = &Blocks::new(d_x.as_mut_slice(), (n_rows, d_in), (rows, ROWS));
    share_out(scratches, &|_| instructions.run(DTokens { ways, n_tokens, blocks }));
    d_x
}

struct DTokens<'a> {
    ways: &'a [Way<'a>],
    n_tokens: usize,
    blocks: &'a Blocks<'a>,
}

impl WithSimd for DTokens<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { ways, n_tokens, blocks } = self;
        let mut segments = Vec::new();
        while let Some(mut block) = blocks.take() {
            let sequence = block.rows.start / n_tokens;
            let (panel, n_features) = (block.columns.start / ROWS, block.columns.len());
            for row in block.rows.clone().step_by(COLUMNS) {
                let token = row - sequence * n_tokens;
                segments.clear();
                for way in ways {
                    add_segments(way, panel, sequence, token, &mut segments);
                }
                let mut features = [0.0; COLUMNS * ROWS]; // [token][feature]
                tile::<S, _, 1, WIDTH>(
                    simd,
                    vectors::<S>(0..n_features),
                    &segments,
                    &mut features[..],
                    |_, _, _| simd.splat_f32s(0.0),
                    |features, j, v, sum| *vector_mut::<S>(features, j, v) = sum,
                );
                let tokens = COLUMNS.min(block.rows.end - row);
                let first = row - block.rows.start;
                for (i, column) in block.columns.clone().enumerate() {
                    let to = &mut block.column(column)[first..][..tokens];
                    for (j, x) in to.iter_mut().enumerate() {
                        *x = features[j * ROWS + i];
                    }
                }
            }
        }
    }
}

/// The features of every head, strip by strip, for 8 tokens.
#[inline(always)]
fn add_segments<'a>(
    &(gradients, weight): &Way<'a>,
    panel: usize,
    sequence: usize,
    token: usize,
    segments: &mut Vec<Segment<'a>>,
) {
    for head in 0..gradients.n_heads {
        for feature in (0..weight.features()).step_by(WIDTH) {
            let a = weight.from(head, panel, feature);
            let b = gradients.from(head, sequence, token, feature);
            let depth = WIDTH.min(weight.features() - feature);
            segments.push(Segment { a, b, depth });
        }
    }
}
