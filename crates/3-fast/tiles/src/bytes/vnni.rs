//! Bytes by `vpdpbusd`: four products a lane, sixteen lanes.

use std::arch::x86_64::*;

use pulp::bytemuck::cast;
use pulp::x86::V4;
use pulp::{WithSimd, f32x16, u32x16};

use super::lanes::{Lanes, Tile};
use super::{LANES, LevelPanels, OUTPUTS, RoundedGroup, TOKENS};

/// AVX-512 with VNNI.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vnni(V4);

impl Vnni {
    /// If this processor has it.
    pub(super) fn new() -> Option<Self> {
        V4::try_new().filter(|_| is_x86_feature_detected!("avx512vnni")).map(Self)
    }
}

impl Lanes<1> for Vnni {
    type Simd = V4;
    type Sums = __m512i;
    const TAKES_BYTES: bool = true;

    #[inline(always)]
    fn simd(self) -> V4 {
        self.0
    }

    #[inline(always)]
    fn nothing(self) -> __m512i {
        self.0.avx512f._mm512_setzero_si512()
    }

    #[inline(always)]
    fn add(self, sums: __m512i, levels: u32x16, four: i32) -> __m512i {
        let four = self.0.avx512f._mm512_set1_epi32(four);
        // SAFETY: a value of this type is made only where the processor has the instruction.
        unsafe { _mm512_dpbusd_epi32(sums, cast(levels), four) }
    }

    #[inline(always)]
    fn total(self, [all, _]: [__m512i; 2]) -> f32x16 {
        cast(self.0.avx512f._mm512_cvtepi32_ps(all))
    }

    #[inline(always)]
    fn load(self, [a, b]: [&[u32; LANES]; 2], _: usize) -> u32x16 {
        cast([*a, *b])
    }

    #[inline]
    fn tile<const D: usize, const FOUR: bool>(
        self,
        panels: LevelPanels<'_>,
        tokens: RoundedGroup<'_>,
    ) -> [[f32; TOKENS]; OUTPUTS] {
        let tile = Tile::<_, 1, D, FOUR> { lanes: self, panels, tokens };
        // SAFETY: as above.
        unsafe { compiled(self.0, tile) }
    }

    #[inline(always)]
    fn transposed(self, outs: [[f32x16; 1]; TOKENS]) -> [[f32; TOKENS]; OUTPUTS] {
        transposed(self.0, outs.map(|[out]| cast(out))).map(cast)
    }
}

/// An operation compiled for these instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni")]
fn compiled<Op: WithSimd>(simd: V4, op: Op) -> Op::Output {
    op.with_simd(simd)
}

/// Number j of row i becomes number i of row j: blocks of 8, 4, 2 and 1 change places.
#[inline(always)]
fn transposed(simd: V4, mut rows: [__m512; TOKENS]) -> [__m512; OUTPUTS] {
    for (size, places) in PLACES {
        let [left, right]: [__m512i; 2] = [cast(places[0]), cast(places[1])];
        for i in 0..TOKENS {
            if i & size == 0 {
                let [a, b] = [rows[i], rows[i + size]];
                rows[i] = simd.avx512f._mm512_permutex2var_ps(a, left, b);
                rows[i + size] = simd.avx512f._mm512_permutex2var_ps(a, right, b);
            }
        }
    }
    rows
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
