//! The product of bytes, in what every set of instructions has, and the rest in vectors.

use pulp::bytemuck::cast_slice;
use pulp::{Simd, WithSimd};

use super::{LANES, LevelPanels, OUTPUTS, PanelScales, RoundedGroup, TOKENS, halves};

/// Sixteen outputs in R vectors of 32-bit lanes, each of which multiplies four bytes by four.
/// A value is a proof that the processor can.
pub(super) trait Lanes<const R: usize>: Copy {
    type Simd: Simd;
    /// Sums of products, before they are whole.
    type Sums: Copy;
    /// Whether levels go up to 255, and not to 15.
    const TAKES_BYTES: bool;

    fn simd(self) -> Self::Simd;

    fn nothing(self) -> Self::Sums;

    /// Adds the products of four levels in each lane and four bytes of a token. Eight times
    /// nothing overflows.
    fn add(self, sums: Self::Sums, levels: Words<Self, R>, four: i32) -> Self::Sums;

    /// The first sums and 16 times the second.
    fn total(self, sums: [Self::Sums; 2]) -> Floats<Self, R>;

    /// Vector `r` of the words of two panels.
    #[inline(always)]
    fn load(self, [a, b]: [&[u32; LANES]; 2], r: usize) -> Words<Self, R> {
        let panel = if r < R / 2 { a } else { b };
        <Self::Simd as Simd>::as_simd_u32s(panel).0[r % (R / 2)]
    }

    /// As [`Bytes::tile`](super::Bytes::tile), of blocks of D words.
    #[inline]
    fn tile<const D: usize, const FOUR: bool>(
        self,
        panels: LevelPanels<'_>,
        tokens: RoundedGroup<'_>,
    ) -> [[f32; TOKENS]; OUTPUTS] {
        self.simd().vectorize(Tile::<_, R, D, FOUR> { lanes: self, panels, tokens })
    }

    /// Outputs token by token become tokens output by output.
    #[inline(always)]
    fn transposed(
        self,
        outs: [[Floats<Self, R>; R]; TOKENS],
    ) -> [[f32; TOKENS]; OUTPUTS] {
        let mut transposed = [[0.0; TOKENS]; OUTPUTS];
        for (t, outs) in outs.iter().enumerate() {
            let outs: &[f32] = cast_slice(outs);
            transposed.iter_mut().zip(outs).for_each(|(to, out)| to[t] = *out);
        }
        transposed
    }
}

pub(super) type Words<L, const R: usize> = <<L as Lanes<R>>::Simd as Simd>::u32s;
pub(super) type Floats<L, const R: usize> = <<L as Lanes<R>>::Simd as Simd>::f32s;

/// One tile, of blocks of D words, and levels of 4 bits or of 8.
pub(super) struct Tile<'a, L, const R: usize, const D: usize, const FOUR: bool> {
    pub lanes: L,
    pub panels: LevelPanels<'a>,
    pub tokens: RoundedGroup<'a>,
}

impl<L: Lanes<R>, const R: usize, const D: usize, const FOUR: bool> WithSimd
    for Tile<'_, L, R, D, FOUR>
{
    type Output = [[f32; TOKENS]; OUTPUTS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { lanes, panels, tokens } = self;
        let simd = lanes.simd();
        let (x, _) = tokens.words.as_chunks::<D>();
        let mut outs = [[simd.splat_f32s(0.0); R]; TOKENS];
        let blocks = x.iter().zip(tokens.scales).zip(tokens.sums);
        for (block, ((x, scales), sums)) in blocks.enumerate() {
            let levels = levels::<L, R, D, FOUR>(lanes, panels, block);
            let [scale, offset] = scale_and_offset(lanes, panels.scales, block);
            for t in 0..TOKENS {
                for r in 0..R {
                    let mut products = [lanes.nothing(); 2];
                    for d in 0..D {
                        for (part, product) in products.iter_mut().enumerate() {
                            if part == 0 || !(FOUR || L::TAKES_BYTES) {
                                *product =
                                    lanes.add(*product, levels[d][part][r], x[d][t]);
                            }
                        }
                    }
                    let scale = simd.mul_f32s(scale[r], simd.splat_f32s(scales[t]));
                    let sum = simd.splat_f32s(sums[t]);
                    let out = simd.mul_add_e_f32s(offset[r], sum, outs[t][r]);
                    outs[t][r] = simd.mul_add_e_f32s(lanes.total(products), scale, out);
                }
            }
        }
        lanes.transposed(outs)
    }
}

/// The levels of a block, four inputs of sixteen outputs in each word; of 8 bits the lower
/// halves and the upper ones, unless bytes are taken whole.
#[inline(always)]
fn levels<L: Lanes<R>, const R: usize, const D: usize, const FOUR: bool>(
    lanes: L,
    panels: LevelPanels<'_>,
    block: usize,
) -> [[[Words<L, R>; R]; 2]; D] {
    let simd = lanes.simd();
    let (lower, four) = (simd.splat_u32s(0x0f0f_0f0f), simd.splat_u32s(4));
    let mut levels = [[[simd.splat_u32s(0); R]; 2]; D];
    let n = if FOUR { D / 2 } else { D };
    let [a, b] = panels.words.map(|words| &words[block * n..][..n]);
    for k in 0..n {
        for r in 0..R {
            let words = lanes.load([&a[k], &b[k]], r);
            let upper = simd.wrapping_dyn_shr_u32s(words, four);
            let both = [words, upper].map(|half| simd.and_u32s(half, lower));
            if FOUR {
                levels[2 * k][0][r] = both[0];
                levels[2 * k + 1][0][r] = both[1];
            } else if L::TAKES_BYTES {
                levels[k][0][r] = words;
            } else {
                levels[k][0][r] = both[0];
                levels[k][1][r] = both[1];
            }
        }
    }
    levels
}

/// Those of the weight.
#[inline(always)]
fn scale_and_offset<L: Lanes<R>, const R: usize>(
    lanes: L,
    scales: PanelScales<'_>,
    block: usize,
) -> [[Floats<L, R>; R]; 2] {
    let simd = lanes.simd();
    let mut parts = [[simd.splat_f32s(0.0); R]; 2];
    match scales {
        PanelScales::Half([a, b]) => {
            for r in 0..R {
                let words = lanes.load([&a[block], &b[block]], r);
                let upper = simd.wrapping_dyn_shr_u32s(words, simd.splat_u32s(16));
                parts[0][r] = halves::from_halves(simd, words);
                parts[1][r] = halves::from_halves(simd, upper);
            }
        }
        PanelScales::Single(panels) => {
            for part in 0..2 {
                let of =
                    panels.map(|pairs| pairs[block].map(|pair| pair[part].to_bits()));
                for r in 0..R {
                    let bits = lanes.load([&of[0], &of[1]], r);
                    parts[part][r] = simd.transmute_f32s_u32s(bits);
                }
            }
        }
    }
    parts
}
