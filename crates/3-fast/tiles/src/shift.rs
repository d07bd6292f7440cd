//! The bits of all lanes moved by as many places.
//!
//! `pulp` moves each lane by a number of its own. The vectors of a page have no instruction for
//! that, so that a compiler takes them apart, lane by lane; they have one for a number that all
//! lanes share, which is what is needed here.

use pulp::Simd;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use pulp::bytemuck::cast;

/// Towards the lowest bit, with zeros behind.
#[inline(always)]
pub fn right<S: Simd>(simd: S, words: S::u32s, places: u32) -> S::u32s {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    if S::U32_LANES == 4 {
        return cast(std::arch::wasm32::u32x4_shr(cast(words), places));
    }
    simd.wrapping_dyn_shr_u32s(words, simd.splat_u32s(places))
}

/// Towards the highest bit, with zeros behind.
#[inline(always)]
pub fn left<S: Simd>(simd: S, words: S::u32s, places: u32) -> S::u32s {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    if S::U32_LANES == 4 {
        return cast(std::arch::wasm32::u32x4_shl(cast(words), places));
    }
    simd.wrapping_dyn_shl_u32s(words, simd.splat_u32s(places))
}
