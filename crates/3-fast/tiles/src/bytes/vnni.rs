//! The tile by `vpdpbusd`: four products of bytes a lane, sixteen lanes.

use std::arch::x86_64::*;

use pulp::bytemuck::cast;

use super::{Bytes, LANES, LevelPanels, OUTPUTS, PanelScales, RoundedGroup, TOKENS};

/// Whether this processor has it.
pub(super) fn is_there() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni")
}

/// As [`Bytes::tile`].
#[inline]
pub(super) fn tile(
    _: Bytes,
    panels: LevelPanels<'_>,
    tokens: RoundedGroup<'_>,
) -> [[f32; TOKENS]; OUTPUTS] {
    match tokens.per_block {
        // SAFETY: a value of `Bytes` is made only where the processor has these instructions.
        4 => unsafe { of_blocks::<4>(panels, tokens) },
        // SAFETY: the same.
        _ => unsafe { of_blocks::<8>(panels, tokens) },
    }
}

/// In blocks of D words of four bytes.
#[target_feature(enable = "avx512f,avx512vnni")]
fn of_blocks<const D: usize>(
    panels: LevelPanels<'_>,
    tokens: RoundedGroup<'_>,
) -> [[f32; TOKENS]; OUTPUTS] {
    let (x, _) = tokens.words.as_chunks::<D>();
    let (x, _) = x.as_chunks::<TOKENS>();
    let (scales, _) = tokens.scales.as_chunks::<TOKENS>();
    let (sums, _) = tokens.sums.as_chunks::<TOKENS>();
    let mut outs = [_mm512_setzero_ps(); TOKENS];
    for (block, ((x, scales), sums)) in x.iter().zip(scales).zip(sums).enumerate() {
        let levels = levels::<D>(panels, block);
        let [scale, offset] = scale_and_offset(panels.scales, block);
        for t in 0..TOKENS {
            let mut products = _mm512_setzero_si512();
            for d in 0..D {
                let four = _mm512_set1_epi32(x[t][d]);
                products = _mm512_dpbusd_epi32(products, levels[d], four);
            }
            let scale = _mm512_mul_ps(scale, _mm512_set1_ps(scales[t]));
            outs[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products), scale, outs[t]);
            outs[t] = _mm512_fmadd_ps(offset, _mm512_set1_ps(sums[t]), outs[t]);
        }
    }
    turn(outs)
}

/// The levels of a block as bytes, four inputs of sixteen outputs in each.
#[inline]
#[target_feature(enable = "avx512f")]
fn levels<const D: usize>(panels: LevelPanels<'_>, block: usize) -> [__m512i; D] {
    let [a, b] = panels.words;
    let lower = _mm512_set1_epi32(0x0f0f_0f0f);
    let mut levels = [_mm512_setzero_si512(); D];
    if panels.is_four_bits {
        let (a, b) = (&a[block * D / 2..][..D / 2], &b[block * D / 2..][..D / 2]);
        for k in 0..D / 2 {
            let words: __m512i = cast([a[k], b[k]]);
            levels[2 * k] = _mm512_and_si512(words, lower);
            levels[2 * k + 1] = _mm512_and_si512(_mm512_srli_epi32::<4>(words), lower);
        }
    } else {
        let (a, b) = (&a[block * D..][..D], &b[block * D..][..D]);
        for k in 0..D {
            levels[k] = cast([a[k], b[k]]);
        }
    }
    levels
}

/// Those of the weight.
#[inline]
#[target_feature(enable = "avx512f")]
fn scale_and_offset(scales: PanelScales<'_>, block: usize) -> [__m512; 2] {
    match scales {
        PanelScales::Half([a, b]) => {
            let both: __m512i = cast([a[block], b[block]]);
            let upper = _mm512_srli_epi32::<16>(both);
            [both, upper].map(|half| _mm512_cvtph_ps(_mm512_cvtepi32_epi16(half)))
        }
        PanelScales::Single([a, b]) => {
            let (a, b): (__m512, __m512) = (cast(a[block]), cast(b[block]));
            let every_second = |first: i32| -> __m512i {
                cast::<[i32; OUTPUTS], _>(std::array::from_fn(|i| first + 2 * i as i32))
            };
            [0, 1].map(|first| _mm512_permutex2var_ps(a, every_second(first), b))
        }
    }
}

/// Number j of row i becomes number i of row j: blocks of 8, 4, 2 and 1 change places.
#[inline]
#[target_feature(enable = "avx512f")]
fn turn(mut rows: [__m512; TOKENS]) -> [[f32; TOKENS]; OUTPUTS] {
    for size in [8, 4, 2, 1] {
        // Lanes of two rows: those of the first have their own numbers, those of the second
        // lie 16 further.
        let lane = |i: usize, upper: usize| {
            let of_second = i & size;
            (i & !size | upper * size) + if of_second > 0 { OUTPUTS } else { 0 }
        };
        let places = [0, 1].map(|upper| -> __m512i {
            cast::<[i32; OUTPUTS], _>(std::array::from_fn(|i| lane(i, upper) as i32))
        });
        for i in (0..TOKENS).filter(|i| i & size == 0) {
            let [a, b] = [rows[i], rows[i + size]];
            rows[i] = _mm512_permutex2var_ps(a, places[0], b);
            rows[i + size] = _mm512_permutex2var_ps(a, places[1], b);
        }
    }
    rows.map(|row| cast(row))
}

const _: () = assert!(2 * LANES == OUTPUTS && TOKENS == OUTPUTS);
