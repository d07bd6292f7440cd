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
    let mut outs = [_mm512_setzero_ps(); TOKENS];
    let blocks = x.iter().zip(tokens.scales).zip(tokens.sums);
    for (block, ((x, scales), sums)) in blocks.enumerate() {
        let levels = levels::<D>(panels, block);
        let [scale, offset] = scale_and_offset(panels.scales, block);
        for t in 0..TOKENS {
            let mut products = _mm512_setzero_si512();
            for d in 0..D {
                let four = _mm512_set1_epi32(x[d][t]);
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
    for (size, places) in PLACES {
        let [left, right]: [__m512i; 2] = [cast(places[0]), cast(places[1])];
        for i in 0..TOKENS {
            if i & size == 0 {
                let [a, b] = [rows[i], rows[i + size]];
                rows[i] = _mm512_permutex2var_ps(a, left, b);
                rows[i + size] = _mm512_permutex2var_ps(a, right, b);
            }
        }
    }
    let mut turned = [[0.0; TOKENS]; OUTPUTS];
    for i in 0..OUTPUTS {
        turned[i] = cast(rows[i]);
    }
    turned
}

/// Which numbers two rows keep where blocks of a size change places, the left blocks and the
/// right ones; those of the second row are counted from 16 on.
const PLACES: [(usize, [[i32; OUTPUTS]; 2]); 4] = [
    (8, of_blocks_of(8)),
    (4, of_blocks_of(4)),
    (2, of_blocks_of(2)),
    (1, of_blocks_of(1)),
];

const fn of_blocks_of(size: usize) -> [[i32; OUTPUTS]; 2] {
    let mut places = [[0; OUTPUTS]; 2];
    let mut i = 0;
    while i < OUTPUTS {
        let row = if i & size > 0 { OUTPUTS } else { 0 };
        places[0][i] = (row + (i & !size)) as i32;
        places[1][i] = (row + (i | size)) as i32;
        i += 1;
    }
    places
}

const _: () = assert!(2 * LANES == OUTPUTS && TOKENS == OUTPUTS);
