//! Tokens through a weight in few bits, in 8 bits themselves.
//!
//! One token waits for the weight to come from memory, and unpacking it to floats takes longer
//! than that; many tokens are arithmetic, and as floats the weight would take what the f32
//! weight takes. With tokens rounded to 8 bits, products of bytes are a fraction of either.

use attention::{Matrix, Result};
use rayon::prelude::*;
use tiles::Instructions;
use tiles::bytes::{Bytes, LevelPanels, OUTPUTS, PanelScales, Rounded, TOKENS};

use super::{Bits, LANES, Quantised, Scales};
use crate::few::{FEW, panels_of_a_piece};

/// `out = x · W + b`; x is rounded in blocks as the weight's.
///
/// # Shapes
/// `x` is `[n, d_in]` and `out` `[n, d_out]`.
///
/// # Errors
/// As [`Rounded::round`].
pub(crate) fn in_bytes(
    (bytes, instructions): (Bytes, Instructions),
    x: &Matrix<f32>,
    weight: &Quantised,
    memory: &mut Rounded,
    out: &mut Matrix<f32>,
) -> Result<()> {
    let n_pairs = weight.d_out.div_ceil(OUTPUTS);
    if x.nrows() <= FEW {
        memory.round::<1>(x, weight.block, instructions)?;
        let pairs = panels_of_a_piece(weight.bytes(), n_pairs);
        in_tiles::<1>(bytes, memory, weight, pairs, out);
    } else {
        memory.round::<TOKENS>(x, weight.block, instructions)?;
        in_tiles::<TOKENS>(bytes, memory, weight, 1, out);
    }
    Ok(())
}

/// In tiles of T tokens; a thread takes so many pairs of panels at a time.
fn in_tiles<const T: usize>(
    bytes: Bytes,
    x: &Rounded,
    weight: &Quantised,
    pairs: usize,
    out: &mut Matrix<f32>,
) {
    let n = out.nrows();
    let each = (OUTPUTS * n).max(1);
    let pieces = out.as_mut_slice().par_chunks_mut(pairs * each).enumerate();
    pieces.for_each(|(piece, out)| {
        for (nth, out) in out.chunks_mut(each).enumerate() {
            let pair = piece * pairs + nth;
            let (panels, bias) = (weight.panels(pair), &weight.bias[pair * OUTPUTS..]);
            for group in 0..n.div_ceil(T) {
                let tile = bytes.tile(panels, x.group::<T>(group));
                for ((column, sums), bias) in out.chunks_exact_mut(n).zip(&tile).zip(bias)
                {
                    let tokens = column.iter_mut().skip(group * T);
                    tokens.zip(sums).for_each(|(to, sum)| *to = sum + bias);
                }
            }
        }
    });
}

impl Quantised {
    /// Two panels; where there is but one, twice that.
    fn panels(&self, pair: usize) -> LevelPanels<'_> {
        let last = self.bias.len() / LANES - 1;
        let each = [2 * pair, (2 * pair + 1).min(last)];
        LevelPanels {
            is_four_bits: self.bits == Bits::Four,
            words: each
                .map(|panel| self.of_panel(&self.words, panel, self.bits.per_word())),
            scales: match &self.scales {
                Scales::Half(scales) => PanelScales::Half(
                    each.map(|panel| self.of_panel(scales, panel, self.block)),
                ),
                Scales::Single(scales) => PanelScales::Single(
                    each.map(|panel| self.of_panel(scales, panel, self.block)),
                ),
            },
        }
    }

    /// A panel's part of what has one entry for so many inputs of every output.
    fn of_panel<'a, T>(
        &self,
        all: &'a [T],
        panel: usize,
        inputs: usize,
    ) -> &'a [[T; LANES]] {
        let n = self.d_in / inputs;
        &all.as_chunks::<LANES>().0[panel * n..][..n]
    }
}
