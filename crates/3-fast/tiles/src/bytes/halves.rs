//! Numbers in float16.

use pulp::Simd;

/// Of a float16 its exponent's place in an f32: times this, the bits of the one are the other.
pub const FROM_HALF: f32 = f32::from_bits((127 + 112) << 23); // 2¹¹²

/// The finite float16 in the lower half of each lane, in steps that every set of vectors has.
#[inline(always)]
pub fn from_halves<S: Simd>(simd: S, half: S::u32s) -> S::f32s {
    let size = simd.and_u32s(half, simd.splat_u32s(0x7fff));
    let size = simd.wrapping_dyn_shl_u32s(size, simd.splat_u32s(13));
    let size = simd.mul_f32s(simd.transmute_f32s_u32s(size), simd.splat_f32s(FROM_HALF));
    let sign = simd.and_u32s(half, simd.splat_u32s(0x8000));
    let sign = simd.wrapping_dyn_shl_u32s(sign, simd.splat_u32s(16));
    simd.transmute_f32s_u32s(simd.or_u32s(simd.transmute_u32s_f32s(size), sign))
}
