//! Bytes on Arm: by `sdot`, four products a lane, where the processor has it (all since 2018);
//! else by `smull`, whose products have 16 bits.

use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

use pulp::aarch64::Neon;
use pulp::bytemuck::cast;
use pulp::{f32x4, u32x4};

use super::lanes::Lanes;

/// NEON, with `sdot` or without.
#[derive(Debug, Clone, Copy)]
pub(super) struct Four<const SDOT: bool>(Neon);

impl<const SDOT: bool> Four<SDOT> {
    /// If this processor has it.
    pub(super) fn new() -> Option<Self> {
        let is_there = !SDOT || is_aarch64_feature_detected!("dotprod");
        Neon::try_new().filter(|_| is_there).map(Self)
    }
}

impl<const SDOT: bool> Lanes<4> for Four<SDOT> {
    type Simd = Neon;
    /// Sums of 32 bits, or in each lane two of 16: eight times 2 · 15 · 127 is less than 2¹⁵.
    type Sums = int32x4_t;
    const TAKES_BYTES: bool = false;

    #[inline(always)]
    fn simd(self) -> Neon {
        self.0
    }

    #[inline(always)]
    fn nothing(self) -> int32x4_t {
        self.0.neon.vdupq_n_s32(0)
    }

    #[inline(always)]
    fn add(self, sums: int32x4_t, levels: u32x4, four: i32) -> int32x4_t {
        let (neon, levels) = (self.0.neon, cast::<u32x4, int8x16_t>(levels));
        let four: int8x16_t = cast(neon.vdupq_n_s32(four));
        if SDOT {
            let mut sums = sums;
            // SAFETY: a value of this type is made only where the processor has the
            // instruction, which reads and writes these registers alone.
            unsafe {
                std::arch::asm!(
                    ".arch_extension dotprod",
                    "sdot {sums:v}.4s, {levels:v}.16b, {four:v}.16b",
                    sums = inout(vreg) sums,
                    levels = in(vreg) levels,
                    four = in(vreg) four,
                    options(pure, nomem, nostack, preserves_flags),
                );
            }
            return sums;
        }
        let low = neon.vmull_s8(neon.vget_low_s8(levels), neon.vget_low_s8(four));
        let pairs = neon.vpaddq_s16(low, neon.vmull_high_s8(levels, four));
        cast(neon.vaddq_s16(cast(sums), pairs))
    }

    #[inline(always)]
    fn total(self, sums: [int32x4_t; 2]) -> f32x4 {
        let neon = self.0.neon;
        let whole = |sums| if SDOT { sums } else { neon.vpaddlq_s16(cast(sums)) };
        let [lower, upper] = sums.map(whole);
        let total = neon.vaddq_s32(lower, neon.vshlq_n_s32::<4>(upper));
        cast(neon.vcvtq_f32_s32(total))
    }
}
