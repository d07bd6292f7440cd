//! From rows as files have them to the words that a product reads.

use attention::{Error, Result};
use half::f16;
use rayon::prelude::*;
use tiles::bytes::place;

use super::{Bits, LANES, Quantised, Scales};

/// Inputs of a block, at most: the sum of so many products of 8 bits and 16 has 32.
const MOST: usize = 256;

const _: () = assert!(MOST * 255 * 32_767 <= i32::MAX as usize);

/// One row of a stored weight: the `d_in` weights that one output is made with.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantisedRow {
    /// u of each weight, `[d_in]`.
    pub levels: Vec<u8>,
    /// Scale and offset of each block, `[d_in / block]`.
    pub scales: Vec<[f32; 2]>,
}

impl Quantised {
    /// A weight that files store as `[d_out, d_in]`, row by row as it is read.
    ///
    /// ```
    /// use cached::{Bits, Quantised};
    ///
    /// let weight = Quantised::from_rows(32, 2, Bits::Four, 32, |j, row| {
    ///     row.levels.fill(j as u8 + 1);
    ///     row.scales[0] = [0.5, -1.0];
    /// })?;
    /// let mut row = [0.0; 32];
    /// weight.row(1, &mut row)?;
    /// assert_eq!(row, [0.0; 32]); // 0.5 · 2 − 1
    /// # Ok::<(), attention::Error>(())
    /// ```
    ///
    /// # Shapes
    /// `read` is given the number of a row, below `d_out`, and a row to write.
    ///
    /// # Errors
    /// [`Error::Length`] unless a row is made of whole blocks, and a block of whole words and
    /// of at most 256 weights.
    pub fn from_rows(
        d_in: usize,
        d_out: usize,
        bits: Bits,
        block: usize,
        read: impl Fn(usize, &mut QuantisedRow) + Sync,
    ) -> Result<Self> {
        let n = bits.per_word();
        Error::expect_positive("the block of a quantised weight", block)?;
        let whole = |size: usize, of: usize| size.next_multiple_of(of);
        Error::expect_length("a block of whole words", whole(block, n), block)?;
        Error::expect_length("a block of at most 256", block.min(MOST), block)?;
        Error::expect_length("a row of whole blocks", whole(d_in, block), d_in)?;
        let (n_words, n_blocks) = (d_in / n, d_in / block);
        let n_panels = d_out.div_ceil(LANES);
        let mut words = vec![0u32; n_panels * n_words * LANES];
        let mut scales = vec![[0f32; 2]; n_panels * n_blocks * LANES];
        let panels = words.par_chunks_mut((n_words * LANES).max(1));
        let panels = panels.zip(scales.par_chunks_mut((n_blocks * LANES).max(1)));
        panels.enumerate().for_each_init(
            || QuantisedRow { levels: vec![0; d_in], scales: vec![[0.0; 2]; n_blocks] },
            |row, (panel, (words, scales))| {
                let first = panel * LANES;
                for lane in 0..LANES.min(d_out - first) {
                    read(first + lane, row);
                    let levels = row.levels.chunks_exact(n);
                    for (word, levels) in words.chunks_exact_mut(LANES).zip(levels) {
                        word[lane] = fields(levels);
                    }
                    for (to, of) in scales.chunks_exact_mut(LANES).zip(&row.scales) {
                        to[lane] = *of;
                    }
                }
            },
        );
        let halves: Option<Vec<u32>> =
            scales.par_iter().map(|pair| halves(*pair)).collect();
        let scales = halves.map_or(Scales::Single(scales), Scales::Half);
        let bias = vec![0.0; n_panels * LANES];
        Ok(Self { d_in, d_out, bits, block, words, scales, bias })
    }
}

/// Weights in a word, each in its place.
fn fields(levels: &[u8]) -> u32 {
    let width = 32 / levels.len();
    let mut word = 0;
    for (nth, &level) in levels.iter().enumerate() {
        word |= (u32::from(level) & ((1 << width) - 1)) << place(nth);
    }
    word
}

/// Scale and offset as float16 in one word, if both are float16.
fn halves([scale, offset]: [f32; 2]) -> Option<u32> {
    let half = |number: f32| {
        let half = f16::from_f32(number);
        (half.is_finite() && half.to_f32() == number).then(|| u32::from(half.to_bits()))
    };
    Some(half(scale)? | half(offset)? << 16)
}
