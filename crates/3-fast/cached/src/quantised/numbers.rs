//! A weight in few bits as numbers, a few rows at a time: many tokens read each of them.

use std::ops::Range;

use tiles::bytes::place;
use tiles::merge::Weight;

use super::{Bits, LANES, Quantised, Scales};
use crate::float16::from_half;

impl Weight for Quantised {
    #[inline(always)]
    fn d_in(&self) -> usize {
        self.d_in
    }

    #[inline(always)]
    fn bias(&self, i: usize) -> &[f32] {
        &self.bias[i * LANES..][..LANES]
    }

    #[inline(always)]
    fn rows<'a>(
        &'a self,
        i: usize,
        rows: Range<usize>,
        room: &'a mut Vec<f32>,
    ) -> &'a [f32] {
        room.resize(rows.len() * LANES, 0.0);
        match self.bits {
            Bits::Four => self.numbers::<8>(i, rows, room),
            Bits::Eight => self.numbers::<4>(i, rows, room),
        }
        room
    }
}

impl Quantised {
    /// Rows of a panel, of words of N fields.
    #[inline(always)]
    fn numbers<const N: usize>(&self, panel: usize, rows: Range<usize>, to: &mut [f32]) {
        let (width, n_blocks) = (32 / N, self.d_in / self.block);
        let words = &self.words[panel * self.d_in / N * LANES..];
        let (words, _) = words.as_chunks::<LANES>();
        let mut scales = [[0.0; LANES]; 2];
        let mut of = None;
        for (p, to) in rows.zip(to.as_chunks_mut::<LANES>().0) {
            let block = p / self.block;
            if of != Some(block) {
                scales = self.scales((panel * n_blocks + block) * LANES);
                of = Some(block);
            }
            let (word, shift) = (&words[p / N], place(p % N));
            for lane in 0..LANES {
                let level = (word[lane] >> shift) & ((1 << width) - 1);
                to[lane] = scales[0][lane] * level as f32 + scales[1][lane];
            }
        }
    }

    /// Scales and offsets of a block, from this place on.
    #[inline(always)]
    fn scales(&self, at: usize) -> [[f32; LANES]; 2] {
        let mut pairs = [[0.0; LANES]; 2];
        for lane in 0..LANES {
            let [scale, offset] = match &self.scales {
                Scales::Half(words) => {
                    [from_half(words[at + lane]), from_half(words[at + lane] >> 16)]
                }
                Scales::Single(pairs) => pairs[at + lane],
            };
            pairs[0][lane] = scale;
            pairs[1][lane] = offset;
        }
        pairs
    }
}
