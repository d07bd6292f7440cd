//! Many tokens through a weight in few bits, in 8 bits themselves.
//!
//! A weight that many tokens meet is arithmetic and no longer memory: as floats it would take
//! what the f32 weight takes. With tokens rounded to 8 bits, products of bytes are a fraction of
//! that. A token alone waits for memory, and would gain a tenth for what rounding it costs.

use attention::{Matrix, Result};
use rayon::prelude::*;
use tiles::Instructions;
use tiles::bytes::{Bytes, LevelPanels, OUTPUTS, PanelScales, Rounded, TOKENS};

use super::{Bits, LANES, Quantised, Scales};

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
    memory.round(x, weight.block, instructions)?;
    let (n, x) = (out.nrows(), &*memory);
    let pairs = out.as_mut_slice().par_chunks_mut((OUTPUTS * n).max(1)).enumerate();
    pairs.for_each(|(pair, out)| {
        let (panels, bias) = (weight.panels(pair), &weight.bias[pair * OUTPUTS..]);
        for group in 0..n.div_ceil(TOKENS) {
            let tile = bytes.tile(panels, x.group(group));
            for ((column, sums), bias) in out.chunks_exact_mut(n).zip(&tile).zip(bias) {
                let tokens = column.iter_mut().skip(group * TOKENS);
                tokens.zip(sums).for_each(|(to, sum)| *to = sum + bias);
            }
        }
    });
    Ok(())
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
