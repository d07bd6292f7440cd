//! Weights in few bits by tokens in 8: four products of bytes in one instruction.
//!
//! ```text
//! w = scale_w · u + offset        u: 4 or 8 bits, in blocks as a file has them
//! x = scale_x · q                 q: −127 to 127, in the same blocks
//! Σ w x  =  Σ_blocks  scale_w scale_x (Σ u q)  +  offset (Σ x)
//! ```
//!
//! Of each block only Σ u q grows with its length, and that is whole numbers: processors with
//! VNNI (Intel's since 2019, AMD's since 2022) add four products of bytes to each lane at once,
//! four times as many as of floats. What it costs is the rounding of tokens: half a step of
//! the largest number of their block, 1 in 254.

mod rounded;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod vnni;

pub use rounded::{Rounded, RoundedGroup};

use crate::Instructions;

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

/// A proof that this processor multiplies bytes four at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(());

impl Bytes {
    /// If these instructions go with it here: AVX-512 with VNNI.
    pub fn with(instructions: Instructions) -> Option<Self> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if instructions.name() == "AVX-512" && vnni::is_there() {
            return Some(Self(()));
        }
        let _ = instructions;
        None
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
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        return vnni::tile(self, panels, tokens);
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        {
            let _ = (panels, tokens);
            unreachable!("there is no such value here")
        }
    }
}

#[cfg(test)]
mod tests;
