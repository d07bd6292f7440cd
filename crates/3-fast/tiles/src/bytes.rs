//! Weights in few bits by tokens in 8: four products of bytes in each lane at once.
//!
//! ```text
//! w = scale_w · u + offset        u: 4 or 8 bits, in blocks as a file has them
//! x = scale_x · q                 q: −127 to 127, in the same blocks
//! Σ w x  =  Σ_blocks  scale_w scale_x (Σ u q)  +  offset (Σ x)
//! ```
//!
//! Of each block only Σ u q grows with its length, and that is whole numbers, which no set of
//! instructions rounds: all give the same sums. What they differ in is how bytes are multiplied
//! (`lanes.rs` has the rest). Processors with VNNI (Intel's since 2019, AMD's since 2022) add four
//! products to each lane, and so do Arm's since 2018. Others multiply pairs into 16 bits, which
//! eight products of a level up to 15 do not fill; where levels go up to 255, their halves are
//! multiplied apart. What it costs is the rounding of tokens: half a step of the largest number
//! of their block, 1 in 254.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx2;
pub mod halves;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", test))]
mod lanes;
#[cfg(all(target_arch = "aarch64", not(miri)))]
mod neon;
mod rounded;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod vnni;

pub use rounded::{Rounded, RoundedGroup};

use crate::Instructions;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", test))]
use lanes::Lanes;

/// Outputs of a tile: two panels.
pub const OUTPUTS: usize = 16;

/// Tokens of a tile.
pub const TOKENS: usize = 16;

/// The outputs of a panel.
pub const LANES: usize = 8;

/// Where field `k` of a word begins, in bits: `byte` and `byte + 4` share a byte where a word
/// has eight fields, so that the lower halves of its bytes are four fields in a row.
#[inline(always)]
pub const fn place(k: usize) -> usize {
    k % 4 * 8 + k / 4 * 4
}

/// The inputs of a word of N fields that lie in the halves of a lane, pair by pair: the fields
/// from bit `32 / N · nth` on and from 16 bits above.
#[inline(always)]
pub const fn inputs<const N: usize>(nth: usize) -> [usize; 2] {
    let lower = 32 / N * nth;
    let k = lower / 8 + lower % 8 / 4 * 4; // place(k) is lower
    [k, k + 2]
}

/// Two panels of a weight.
#[derive(Debug, Clone, Copy)]
pub struct LevelPanels<'a> {
    /// Fields of 4 bits and not of 8.
    pub is_four_bits: bool,
    /// `[d_in / fields]` words of each.
    pub words: [&'a [[u32; LANES]]; 2],
    /// Scale and offset of each block.
    pub scales: PanelScales<'a>,
}

/// Scale and offset of each block of two panels.
#[derive(Debug, Clone, Copy)]
pub enum PanelScales<'a> {
    /// As float16 in one word, the offset above.
    Half([&'a [[u32; LANES]]; 2]),
    /// As f32, the scale first.
    Single([&'a [[[f32; 2]; LANES]]; 2]),
}

/// A proof that this processor multiplies bytes, and how.
#[derive(Debug, Clone, Copy)]
pub struct Bytes(Set);

#[derive(Debug, Clone, Copy)]
enum Set {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Vnni(vnni::Vnni),
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Avx2(pulp::x86::V3),
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    Sdot(neon::Four<true>),
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    Smull(neon::Four<false>),
    #[cfg(test)]
    Scalar(pulp::Scalar),
}

impl Bytes {
    /// The best way that goes with these instructions here: `None` for scalars, and in a page.
    pub fn with(instructions: Instructions) -> Option<Self> {
        Self::available(instructions).into_iter().next()
    }

    /// All ways that go with these instructions here, the best first.
    fn available(instructions: Instructions) -> Vec<Self> {
        let all: Vec<Option<Set>> = match instructions.name() {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            "AVX-512" => vec![
                vnni::Vnni::new().map(Set::Vnni),
                pulp::x86::V3::try_new().map(Set::Avx2),
            ],
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            "AVX2" => vec![pulp::x86::V3::try_new().map(Set::Avx2)],
            #[cfg(all(target_arch = "aarch64", not(miri)))]
            "NEON" => {
                vec![neon::Four::new().map(Set::Sdot), neon::Four::new().map(Set::Smull)]
            }
            _ => Vec::new(),
        };
        all.into_iter().flatten().map(Self).collect()
    }

    /// Sixteen outputs of sixteen tokens, `[output][token]`.
    ///
    /// # Panics
    /// If the panels have other blocks than the tokens.
    #[inline]
    pub fn tile(
        self,
        panels: LevelPanels<'_>,
        tokens: RoundedGroup<'_>,
    ) -> [[f32; TOKENS]; OUTPUTS] {
        let _ = (panels, tokens); // where there is no way at all
        match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Set::Vnni(lanes) => tile(lanes, panels, tokens),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Set::Avx2(lanes) => tile(lanes, panels, tokens),
            #[cfg(all(target_arch = "aarch64", not(miri)))]
            Set::Sdot(lanes) => tile(lanes, panels, tokens),
            #[cfg(all(target_arch = "aarch64", not(miri)))]
            Set::Smull(lanes) => tile(lanes, panels, tokens),
            #[cfg(test)]
            Set::Scalar(lanes) => tile(lanes, panels, tokens),
        }
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.0) == std::mem::discriminant(&other.0)
    }
}

/// Compiled for each size of a block and of a level.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", test))]
#[inline]
fn tile<L: Lanes<R>, const R: usize>(
    lanes: L,
    panels: LevelPanels<'_>,
    tokens: RoundedGroup<'_>,
) -> [[f32; TOKENS]; OUTPUTS] {
    match (tokens.per_block, panels.is_four_bits) {
        (4, true) => lanes.tile::<4, true>(panels, tokens),
        (4, false) => lanes.tile::<4, false>(panels, tokens),
        (_, true) => lanes.tile::<8, true>(panels, tokens),
        (_, false) => lanes.tile::<8, false>(panels, tokens),
    }
}

#[cfg(test)]
mod tests;
