//! The exponential by three instructions that AVX-512 has for it: to round a number, to
//! take what is left of it, and to multiply by a power of two.

use std::any::Any;
use std::arch::x86_64::__m512;

use pulp::Simd;
use pulp::bytemuck::cast;
use pulp::x86::V4;

/// Rounding to the nearest integer, no digits of a fraction kept.
const NEAREST: i32 = 0;

/// AVX-512, if that is what `simd` is. The compiler knows; nothing is asked at run time.
#[inline(always)]
pub(super) fn of<S: Simd>(simd: S) -> Option<V4> {
    (&simd as &dyn Any).downcast_ref().copied()
}

/// `2^x`, of 0 to the smallest float there is; NaN stays NaN, −∞ gives 0.
#[inline(always)]
pub(super) fn exp2(v4: V4, x: __m512) -> __m512 {
    let n = v4.avx512f._mm512_roundscale_ps::<NEAREST>(x);
    let f = v4.avx512dq._mm512_reduce_ps::<NEAREST>(x); // x − n, and 0 where x is −∞
    let power = super::fraction(v4, cast(f));
    v4.avx512f._mm512_scalef_ps(cast(power), n)
}
