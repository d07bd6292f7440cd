//! Tokens in 8 bits.

use attention::{Error, Matrix, Result};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::TOKENS;
use crate::Instructions;
use crate::rounding::Rounding;

/// The inputs of a block, at most.
const MOST: usize = 32;

/// Tokens, each block of each rounded to 255 whole numbers under one scale, in groups of as
/// many as a tile has.
///
/// Kept between products, so that its memory is too.
#[derive(Debug, Default)]
pub struct Rounded {
    /// Words of four bytes in a block.
    per_block: usize,
    n_blocks: usize,
    /// `[group][block][per_block][token]`
    words: Vec<i32>,
    /// `[group][block][token]`
    scales: Vec<f32>,
    /// Σ x of a block, of the rounded x.
    sums: Vec<f32>,
}

/// The tokens of a tile.
#[derive(Debug, Clone, Copy)]
pub struct RoundedGroup<'a> {
    /// Words of four bytes in a block.
    pub per_block: usize,
    /// `[block][per_block]`
    pub words: &'a [[i32; TOKENS]],
    /// `[block]`
    pub scales: &'a [[f32; TOKENS]],
    /// `[block]`
    pub sums: &'a [[f32; TOKENS]],
}

impl Rounded {
    /// How many inputs a block can have.
    pub const BLOCKS: [usize; 2] = [16, MOST];

    /// Other tokens, in such blocks.
    ///
    /// # Shapes
    /// `x` is `[n, d_in]`.
    ///
    /// # Errors
    /// [`Error::Length`] for another block, and unless tokens are made of whole blocks.
    pub fn round(
        &mut self,
        x: &Matrix<f32>,
        block: usize,
        instructions: Instructions,
    ) -> Result<()> {
        let (n, d_in) = x.shape();
        let known = Self::BLOCKS.into_iter().find(|&known| known >= block);
        let known = known.unwrap_or(MOST);
        Error::expect_length("a block of rounded tokens", known, block)?;
        Error::expect_length(
            "a token of whole blocks",
            d_in.next_multiple_of(block),
            d_in,
        )?;
        (self.per_block, self.n_blocks) = (block / 4, d_in / block);
        let n_groups = n.div_ceil(TOKENS);
        let per_group = self.n_blocks.max(1) * TOKENS;
        self.words.resize(n_groups * self.n_blocks * self.per_block * TOKENS, 0);
        self.scales.resize(n_groups * self.n_blocks * TOKENS, 0.0);
        self.sums.resize(n_groups * self.n_blocks * TOKENS, 0.0);
        let scales = self.scales.par_chunks_mut(per_group);
        let scales = scales.zip(self.sums.par_chunks_mut(per_group));
        let words = self.words.par_chunks_mut(per_group * self.per_block);
        let groups = words.zip(scales).enumerate();
        groups.for_each(|(group, (words, (scales, sums)))| {
            instructions.run(Group {
                x,
                first: group * TOKENS,
                block,
                words: words.as_chunks_mut().0,
                scales: scales.as_chunks_mut().0,
                sums: sums.as_chunks_mut().0,
            });
        });
        Ok(())
    }

    /// The tokens of a tile, from `16 · group` on; behind the last one are zeros.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn group(&self, group: usize) -> RoundedGroup<'_> {
        let each = group * self.n_blocks..(group + 1) * self.n_blocks;
        let words = each.start * self.per_block..each.end * self.per_block;
        RoundedGroup {
            per_block: self.per_block,
            words: &self.words.as_chunks().0[words],
            scales: &self.scales.as_chunks().0[each.clone()],
            sums: &self.sums.as_chunks().0[each],
        }
    }
}

/// Tokens that become bytes.
struct Group<'a> {
    x: &'a Matrix<f32>,
    /// The first of them.
    first: usize,
    block: usize,
    /// `[block][per_block]`
    words: &'a mut [[i32; TOKENS]],
    /// `[block]`
    scales: &'a mut [[f32; TOKENS]],
    /// `[block]`
    sums: &'a mut [[f32; TOKENS]],
}

impl WithSimd for Group<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { x, first, block, words, scales, sums } = self;
        let there = first..x.nrows().min(first + TOKENS);
        let mut inputs = [[0.0; TOKENS]; MOST];
        let each = words.chunks_exact_mut(block / 4).zip(scales).zip(sums);
        for (nth, ((words, scales), sums)) in each.enumerate() {
            let columns = x.as_slice()[nth * block * x.nrows()..].chunks_exact(x.nrows());
            for (to, column) in inputs[..block].iter_mut().zip(columns) {
                to[..there.len()].copy_from_slice(&column[there.clone()]);
            }
            [*scales, *sums] = round(&inputs[..block], words);
        }
    }
}

/// A block of tokens in bytes; gives their scales and sums. What is not finite makes both
/// NaN.
#[inline(always)]
fn round(x: &[[f32; TOKENS]], words: &mut [[i32; TOKENS]]) -> [[f32; TOKENS]; 2] {
    let rounding = Rounding::new(x, 127.0);
    let mut sums = [0i32; TOKENS];
    for (word, x) in words.iter_mut().zip(x.as_chunks::<4>().0) {
        *word = [0; TOKENS];
        for (nth, x) in x.iter().enumerate() {
            for t in 0..TOKENS {
                let q = rounding.whole(t, x[t]);
                word[t] |= (q & 0xff) << (8 * nth);
                sums[t] = sums[t].wrapping_add(q);
            }
        }
    }
    let mut of_tokens = rounding.scales;
    of_tokens.iter_mut().zip(sums).for_each(|(of, sum)| *of *= sum as f32);
    [rounding.scales, of_tokens]
}
