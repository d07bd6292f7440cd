//! Levels by tokens of 16 bits: two products in each lane at once.
//!
//! ```text
//! word      u₇ u₃ u₆ u₂ u₅ u₁ u₄ u₀      eight levels of 4 bits, of one output
//! fields     0  0  0 u₆  0  0  0 u₄      two of them, each in a half of the lane
//! pair             q₆          q₄        the token's entries there, −32,767 to 32,767
//! ```
//!
//! All that is added is a whole number, which no set of instructions rounds. What is lost is the
//! rounding of the token: half a step of the largest number of its block, 1 in 65,534.

use pulp::bytemuck::cast;
use pulp::{Scalar, Simd, WithSimd};

/// Two entries in the halves of a lane, in the order of [`inputs`](crate::bytes::inputs).
#[inline(always)]
pub const fn pair([lower, upper]: [i32; 2]) -> u32 {
    (lower & 0xffff) as u32 | (upper as u32) << 16
}

/// Vectors whose lanes multiply their halves.
pub trait Pairs: Simd {
    /// Words moved down by so many bits.
    #[inline(always)]
    fn moved(self, words: Self::u32s, bits: u32) -> Self::u32s {
        self.wrapping_dyn_shr_u32s(words, self.splat_u32s(bits))
    }

    /// Adds to each lane what its halves, as signed numbers, give times those of `pair`.
    fn add_products(self, sums: Self::i32s, fields: Self::u32s, pair: u32) -> Self::i32s;

    /// The sums as floats.
    fn floats(self, sums: Self::i32s) -> Self::f32s;
}

impl Pairs for Scalar {
    #[inline(always)]
    fn add_products(self, sum: i32, fields: u32, pair: u32) -> i32 {
        let product = |bits: u32| {
            i32::from((fields >> bits) as i16) * i32::from((pair >> bits) as i16)
        };
        sum.wrapping_add(product(0)).wrapping_add(product(16))
    }

    #[inline(always)]
    fn floats(self, sum: i32) -> f32 {
        sum as f32
    }
}

#[cfg(target_arch = "x86_64")]
impl Pairs for pulp::x86::V3 {
    #[inline(always)]
    fn add_products(self, sums: Self::i32s, fields: Self::u32s, pair: u32) -> Self::i32s {
        let pair = self.avx._mm256_set1_epi32(pair as i32);
        let products = self.avx2._mm256_madd_epi16(cast(fields), pair);
        cast(self.avx2._mm256_add_epi32(cast(sums), products))
    }

    #[inline(always)]
    fn floats(self, sums: Self::i32s) -> Self::f32s {
        cast(self.avx._mm256_cvtepi32_ps(cast(sums)))
    }
}

#[cfg(target_arch = "aarch64")]
impl Pairs for pulp::aarch64::Neon {
    #[inline(always)]
    fn add_products(self, sums: Self::i32s, fields: Self::u32s, pair: u32) -> Self::i32s {
        let neon = self.neon;
        let [a, b] = [cast(fields), cast(neon.vdupq_n_u32(pair))];
        let lower = neon.vmull_s16(neon.vget_low_s16(a), neon.vget_low_s16(b));
        let products = neon.vpaddq_s32(lower, neon.vmull_high_s16(a, b));
        cast(neon.vaddq_s32(cast(sums), products))
    }

    #[inline(always)]
    fn floats(self, sums: Self::i32s) -> Self::f32s {
        cast(self.neon.vcvtq_f32_s32(cast(sums)))
    }
}

#[cfg(target_arch = "wasm32")]
impl Pairs for pulp::wasm::Simd128 {
    /// By one number for all lanes, which a page's instructions have.
    #[inline(always)]
    fn moved(self, words: Self::u32s, bits: u32) -> Self::u32s {
        cast(self.simd128.u32x4_shr(cast(words), bits))
    }

    #[inline(always)]
    fn add_products(self, sums: Self::i32s, fields: Self::u32s, pair: u32) -> Self::i32s {
        let simd = self.simd128;
        let products = simd.i32x4_dot_i16x8(cast(fields), simd.u32x4_splat(pair));
        cast(simd.i32x4_add(cast(sums), products))
    }

    #[inline(always)]
    fn floats(self, sums: Self::i32s) -> Self::f32s {
        cast(self.simd128.f32x4_convert_i32x4(cast(sums)))
    }
}

/// An operation in vectors whose lanes multiply their halves.
pub trait WithPairs {
    /// What comes out.
    type Output;

    /// The operation, in these vectors.
    fn with_pairs<P: Pairs>(self, simd: P) -> Self::Output;
}

/// The same, as `pulp` compiles it.
pub(crate) struct In<P, Op>(pub P, pub Op);

impl<P: Pairs, Op: WithPairs> WithSimd for In<P, Op> {
    type Output = Op::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Op::Output {
        self.1.with_pairs(self.0)
    }
}

#[cfg(test)]
mod tests;
