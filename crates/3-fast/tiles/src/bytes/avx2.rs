//! Bytes by `vpmaddubsw`: two products in 16 bits, which hold those of levels up to 15.

use std::arch::x86_64::__m256i;

use pulp::bytemuck::cast;
use pulp::x86::V3;
use pulp::{f32x8, u32x8};

use super::lanes::Lanes;

impl Lanes<2> for V3 {
    type Simd = Self;
    /// Of each lane two sums of 16 bits: eight times 2 · 15 · 127 is less than 2¹⁵.
    type Sums = __m256i;
    const TAKES_BYTES: bool = false;

    #[inline(always)]
    fn simd(self) -> Self {
        self
    }

    #[inline(always)]
    fn nothing(self) -> __m256i {
        self.avx._mm256_setzero_si256()
    }

    #[inline(always)]
    fn add(self, sums: __m256i, levels: u32x8, four: i32) -> __m256i {
        let four = self.avx._mm256_set1_epi32(four);
        let pairs = self.avx2._mm256_maddubs_epi16(cast(levels), four);
        self.avx2._mm256_add_epi16(sums, pairs)
    }

    #[inline(always)]
    fn total(self, [lower, upper]: [__m256i; 2]) -> f32x8 {
        let times = |sums, factor| {
            self.avx2._mm256_madd_epi16(sums, self.avx._mm256_set1_epi16(factor))
        };
        let total = self.avx2._mm256_add_epi32(times(lower, 1), times(upper, 16));
        cast(self.avx._mm256_cvtepi32_ps(total))
    }
}
