//! The same in 24 instructions that move halves and pairs of numbers between registers.

use std::any::Any;
use std::arch::x86_64::__m256;

use pulp::Simd;
use pulp::bytemuck::cast;
use pulp::x86::{V3, V4};

use super::Square;

/// AVX2, if `simd` has it. The compiler knows; nothing is asked at run time.
#[inline(always)]
pub(super) fn of<S: Simd>(simd: S) -> Option<V3> {
    let simd = &simd as &dyn Any;
    let by_v4 = || simd.downcast_ref::<V4>().map(|v4| **v4);
    simd.downcast_ref().copied().or_else(by_v4)
}

/// Pairs of numbers, then pairs of pairs, then halves.
#[inline(always)]
pub(super) fn turn_8(v3: V3, rows: &Square) -> Square {
    let avx = v3.avx;
    let r: [__m256; 8] = cast(*rows);
    let (a, b) = (
        [
            avx._mm256_unpacklo_ps(r[0], r[1]),
            avx._mm256_unpackhi_ps(r[0], r[1]),
            avx._mm256_unpacklo_ps(r[2], r[3]),
            avx._mm256_unpackhi_ps(r[2], r[3]),
        ],
        [
            avx._mm256_unpacklo_ps(r[4], r[5]),
            avx._mm256_unpackhi_ps(r[4], r[5]),
            avx._mm256_unpacklo_ps(r[6], r[7]),
            avx._mm256_unpackhi_ps(r[6], r[7]),
        ],
    );
    const FIRST: i32 = 0b01_00_01_00; // pair 0 of each
    const LAST: i32 = 0b11_10_11_10; // pair 1 of each
    let (a, b) = (
        [
            avx._mm256_shuffle_ps::<FIRST>(a[0], a[2]),
            avx._mm256_shuffle_ps::<LAST>(a[0], a[2]),
            avx._mm256_shuffle_ps::<FIRST>(a[1], a[3]),
            avx._mm256_shuffle_ps::<LAST>(a[1], a[3]),
        ],
        [
            avx._mm256_shuffle_ps::<FIRST>(b[0], b[2]),
            avx._mm256_shuffle_ps::<LAST>(b[0], b[2]),
            avx._mm256_shuffle_ps::<FIRST>(b[1], b[3]),
            avx._mm256_shuffle_ps::<LAST>(b[1], b[3]),
        ],
    );
    const LOW: i32 = 0x20; // the first half of each
    const HIGH: i32 = 0x31; // the second half of each
    cast([
        avx._mm256_permute2f128_ps::<LOW>(a[0], b[0]),
        avx._mm256_permute2f128_ps::<LOW>(a[1], b[1]),
        avx._mm256_permute2f128_ps::<LOW>(a[2], b[2]),
        avx._mm256_permute2f128_ps::<LOW>(a[3], b[3]),
        avx._mm256_permute2f128_ps::<HIGH>(a[0], b[0]),
        avx._mm256_permute2f128_ps::<HIGH>(a[1], b[1]),
        avx._mm256_permute2f128_ps::<HIGH>(a[2], b[2]),
        avx._mm256_permute2f128_ps::<HIGH>(a[3], b[3]),
    ])
}
