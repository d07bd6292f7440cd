//! Blocks as they are kept: small whole numbers u under a scale and an offset, each number
//! being `scale · u + offset`.
//!
//! Every kind of block can be said so, and loses nothing: the numbers are those of
//! [`Kind::numbers`], but for the sign of a 0.

use std::borrow::Cow;

use super::scaled::Block;
use super::{Kind, small, super_blocks};

/// A tensor whose numbers are kept in blocks.
#[derive(Debug, Clone)]
pub struct Levels<'a> {
    kind: Kind,
    width: usize,
    bytes: Cow<'a, [u8]>,
}

impl Kind {
    /// Whether numbers are kept in blocks, and not each by itself.
    pub fn is_in_blocks(self) -> bool {
        self.block().0 > 1
    }

    /// How many bits u has.
    fn bits(self) -> u32 {
        match self {
            Self::F32 => 32,
            Self::F16 | Self::BF16 => 16,
            Self::Q4_0 | Self::Q4_1 | Self::Q4_K => 4,
            Self::Q5_0 | Self::Q5_1 | Self::Q5_K => 5,
            Self::Q6_K => 6,
            Self::Q8_0 => 8,
        }
    }

    /// How many numbers have one scale.
    fn group(self) -> usize {
        if self == Self::Q6_K { 16 } else { self.block().0.min(32) }
    }
}

impl<'a> Levels<'a> {
    /// The bytes of a tensor whose rows are whole blocks, `width` numbers each.
    pub(in crate::gguf) fn new(kind: Kind, width: usize, bytes: Cow<'a, [u8]>) -> Self {
        Self { kind, width, bytes }
    }

    /// How many bits each u has.
    pub fn bits(&self) -> u32 {
        self.kind.bits()
    }

    /// How many numbers have one scale: 32, or 16.
    pub fn group(&self) -> usize {
        self.kind.group()
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.bytes.len() / self.bytes_of_row()
    }

    /// Row `j`: every u, and scale and offset of every group.
    ///
    /// # Shapes
    /// `levels` is `[width]`, `scales` `[width / group]`; what is shorter is filled as far as
    /// it goes.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, j: usize, levels: &mut [u8], scales: &mut [[f32; 2]]) {
        let n_bytes = self.bytes_of_row();
        let (bytes, to) = (&self.bytes[j * n_bytes..][..n_bytes], (levels, scales));
        match self.kind {
            Kind::F32 | Kind::F16 | Kind::BF16 => {}
            Kind::Q4_0 => each(bytes, small::q4_0, to),
            Kind::Q4_1 => each(bytes, small::q4_1, to),
            Kind::Q5_0 => each(bytes, small::q5_0, to),
            Kind::Q5_1 => each(bytes, small::q5_1, to),
            Kind::Q8_0 => each(bytes, small::q8_0, to),
            Kind::Q4_K => each(bytes, super_blocks::q4_k, to),
            Kind::Q5_K => each(bytes, super_blocks::q5_k, to),
            Kind::Q6_K => each(bytes, super_blocks::q6_k, to),
        }
    }

    fn bytes_of_row(&self) -> usize {
        let (per_block, n_bytes) = self.kind.block();
        self.width / per_block * n_bytes
    }
}

/// The levels of every block of N bytes.
fn each<const N: usize, const M: usize, const G: usize>(
    bytes: &[u8],
    levels_of: fn(&[u8; N]) -> Block<M, G>,
    (levels, scales): (&mut [u8], &mut [[f32; 2]]),
) {
    let to = levels.chunks_exact_mut(M).zip(scales.chunks_exact_mut(G));
    for (block, (levels, scales)) in bytes.as_chunks().0.iter().zip(to) {
        let (of_levels, of_scales) = levels_of(block);
        levels.copy_from_slice(&of_levels);
        scales.copy_from_slice(&of_scales);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 8] = [
        Kind::Q4_0,
        Kind::Q4_1,
        Kind::Q5_0,
        Kind::Q5_1,
        Kind::Q8_0,
        Kind::Q4_K,
        Kind::Q5_K,
        Kind::Q6_K,
    ];

    /// Random bytes, but no scale that is infinite or NaN: the upper byte of a float16 is
    /// below 0x7c.
    fn bytes(kind: Kind, n_blocks: usize) -> Vec<u8> {
        let (_, n_bytes) = kind.block();
        let mut state = 12_345u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let mut all: Vec<u8> = (0..n_blocks * n_bytes).map(|_| next()).collect();
        let halves: &[usize] = match kind {
            Kind::Q6_K => &[209],
            Kind::Q4_0 | Kind::Q5_0 | Kind::Q8_0 => &[1],
            _ => &[1, 3],
        };
        for block in all.chunks_exact_mut(n_bytes) {
            halves.iter().for_each(|&at| block[at] &= 0xbb); // an exponent below 15
        }
        all
    }

    #[test]
    fn scale_times_level_plus_offset_is_the_number() {
        for kind in KINDS {
            let bytes = bytes(kind, 12);
            let width = 4 * kind.block().0;
            let levels = Levels::new(kind, width, Cow::Borrowed(&bytes));
            let numbers: Vec<f32> = kind.numbers(&bytes);
            assert_eq!(levels.n_rows(), 3);
            let mut row = vec![0; width];
            let mut scales = vec![[0.0; 2]; width / levels.group()];
            for j in 0..3 {
                levels.row(j, &mut row, &mut scales);
                for (p, &u) in row.iter().enumerate() {
                    let [scale, offset] = scales[p / levels.group()];
                    let number = scale * f32::from(u) + offset;
                    assert_eq!(number, numbers[j * width + p], "{kind:?}, {j}, {p}");
                    assert!(u32::from(u) < 1 << levels.bits(), "{kind:?}: {u}");
                }
            }
        }
    }
}
