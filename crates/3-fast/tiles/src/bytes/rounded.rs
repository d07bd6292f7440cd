//! Tokens in 8 bits.

use attention::{Error, Matrix, Result};
use rayon::prelude::*;

use super::TOKENS;

/// Tokens, each block of each rounded to 255 whole numbers under one scale.
///
/// Kept between products, so that its memory is too.
#[derive(Debug, Default)]
pub struct Rounded {
    /// Words of four bytes in a block.
    per_block: usize,
    n_blocks: usize,
    /// `[group][block][token][per_block]`
    words: Vec<i32>,
    /// `[group][block][token]`
    scales: Vec<f32>,
    /// Σ x of a block, of the rounded x.
    sums: Vec<f32>,
}

/// Sixteen tokens.
#[derive(Debug, Clone, Copy)]
pub struct RoundedGroup<'a> {
    /// Words of four bytes in a block.
    pub(super) per_block: usize,
    /// `[block][token][per_block]`
    pub(super) words: &'a [i32],
    /// `[block][token]`
    pub(super) scales: &'a [f32],
    /// `[block][token]`
    pub(super) sums: &'a [f32],
}

impl Rounded {
    /// Other tokens, in blocks of 16 or 32 inputs.
    ///
    /// # Shapes
    /// `x` is `[n, d_in]`.
    ///
    /// # Errors
    /// [`Error::Length`] for another block, and unless tokens are made of whole blocks.
    pub fn round(&mut self, x: &Matrix<f32>, block: usize) -> Result<()> {
        let (n, d_in) = x.shape();
        Error::expect_length(
            "a block of rounded tokens",
            if block == 16 { 16 } else { 32 },
            block,
        )?;
        Error::expect_length(
            "a token of whole blocks",
            d_in.next_multiple_of(block),
            d_in,
        )?;
        (self.per_block, self.n_blocks) = (block / 4, d_in / block);
        let n_groups = n.div_ceil(TOKENS);
        let n_scales = n_groups * self.n_blocks * TOKENS;
        self.words.resize(n_scales * self.per_block, 0);
        self.scales.resize(n_scales, 0.0);
        self.sums.resize(n_scales, 0.0);
        let per_group = self.n_blocks * TOKENS;
        let words = self.words.par_chunks_mut((per_group * self.per_block).max(1));
        let scales = self.scales.par_chunks_mut(per_group.max(1));
        let sums = self.sums.par_chunks_mut(per_group.max(1));
        let groups = words.zip(scales).zip(sums).enumerate();
        groups.for_each(|(group, ((words, scales), sums))| {
            let mut row = vec![0.0; block];
            let of_block = words.chunks_exact_mut(TOKENS * block / 4);
            let of_block = of_block.zip(scales.chunks_exact_mut(TOKENS));
            let of_block = of_block.zip(sums.chunks_exact_mut(TOKENS));
            for (nth, ((words, scales), sums)) in of_block.enumerate() {
                for t in 0..TOKENS {
                    let token = group * TOKENS + t;
                    row.fill(0.0);
                    if token < n {
                        for (to, p) in row.iter_mut().zip(nth * block..) {
                            *to = x[(token, p)];
                        }
                    }
                    let words = &mut words[t * block / 4..][..block / 4];
                    [scales[t], sums[t]] = round(&row, words);
                }
            }
        });
        Ok(())
    }

    /// Sixteen tokens from `16 · group` on; behind the last one are zeros.
    pub fn group(&self, group: usize) -> RoundedGroup<'_> {
        let per_group = self.n_blocks * TOKENS;
        let each = group * per_group..(group + 1) * per_group;
        let words = each.start * self.per_block..each.end * self.per_block;
        RoundedGroup {
            per_block: self.per_block,
            words: &self.words[words],
            scales: &self.scales[each.clone()],
            sums: &self.sums[each],
        }
    }
}

/// A block in bytes; gives its scale and its sum. What is not finite makes both NaN.
fn round(x: &[f32], words: &mut [i32]) -> [f32; 2] {
    let largest = x.iter().fold(0f32, |largest, x| largest.max(x.abs()));
    let is_finite = x.iter().all(|x| x.is_finite());
    let scale = if is_finite { largest / 127.0 } else { f32::NAN };
    let steps = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let mut sum = 0;
    for (word, x) in words.iter_mut().zip(x.as_chunks::<4>().0) {
        let q = x.map(|x| (x * steps).round_ties_even() as i8);
        *word = i32::from_le_bytes(q.map(|q| q as u8));
        sum += q.iter().map(|&q| i32::from(q)).sum::<i32>();
    }
    [scale, scale * sum as f32]
}
