//! A few tokens through a weight in few bits.

use attention::Matrix;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use tiles::Instructions;
use tiles::bytes::halves::from_halves;
use tiles::bytes::place;
use tiles::memory::Aligned;

use crate::few::{To, groups, in_groups, panels_of_a_piece};

use super::{Bits, LANES, Quantised, Scales};

/// `out = x · W + b`, each word of W read from memory once.
///
/// # Shapes
/// `x` is `[n, d_in]` and `out` `[n, d_out]`.
pub(crate) fn few_tokens(
    instructions: Instructions,
    x: &Matrix<f32>,
    weight: &Quantised,
    memory: &mut Aligned,
    out: &mut Matrix<f32>,
) {
    let (n, d_in) = x.shape();
    let n_blocks = d_in / weight.block;
    let rows = memory.take(n * (d_in + n_blocks));
    let (tokens, sums) = rows.split_at_mut(n * d_in);
    in_groups(x, tokens);
    for (token, n_tokens) in groups(n) {
        let sums = &mut sums[token * n_blocks..][..n_tokens * n_blocks];
        let of_group = &tokens[token * d_in..][..n_tokens * d_in];
        let blocks = of_group.chunks_exact(n_tokens * weight.block);
        for (sums, block) in sums.chunks_exact_mut(n_tokens).zip(blocks) {
            sums.fill(0.0);
            for x in block.chunks_exact(n_tokens) {
                sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
            }
        }
    }
    let (tokens, sums) = (&*tokens, &*sums);
    let panels = panels_of_a_piece(weight.bytes(), weight.d_out.div_ceil(LANES));
    let pieces = panels * LANES * n.max(1);
    out.as_mut_slice().par_chunks_mut(pieces).enumerate().for_each(|(i, out)| {
        let first = i * panels;
        instructions.run_in_eights(FewTokens { tokens, sums, n, weight, first, out });
    });
}

/// Some panels of the weight.
struct FewTokens<'a> {
    /// `[d_in][tokens of the group]` of each group.
    tokens: &'a [f32],
    /// Σ x of each block, `[d_in / block][tokens of the group]` of each group.
    sums: &'a [f32],
    n: usize,
    weight: &'a Quantised,
    /// The first panel.
    first: usize,
    /// `[column][n]`
    out: &'a mut [f32],
}

impl WithSimd for FewTokens<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match (self.weight.bits, &self.weight.scales) {
            (Bits::Four, Scales::Half(scales)) => self.all::<S, _, 8>(simd, scales),
            (Bits::Four, Scales::Single(scales)) => self.all::<S, _, 8>(simd, scales),
            (Bits::Eight, Scales::Half(scales)) => self.all::<S, _, 4>(simd, scales),
            (Bits::Eight, Scales::Single(scales)) => self.all::<S, _, 4>(simd, scales),
        }
    }
}

impl FewTokens<'_> {
    /// All panels, of words of N fields.
    #[inline(always)]
    fn all<S: Simd, F: Form, const N: usize>(self, simd: S, scales: &[F]) {
        let Self { tokens, sums, n, weight, first, out } = self;
        let (d_in, n_blocks) = (weight.d_in, weight.d_in / weight.block);
        for (i, out) in out.chunks_mut(LANES * n).enumerate() {
            let panel = first + i;
            let words = &weight.words[panel * d_in / N * LANES..][..d_in / N * LANES];
            let scales = &scales[panel * n_blocks * LANES..][..n_blocks * LANES];
            let of_panel = Panel { words, scales, block: weight.block };
            let bias = &weight.bias[panel * LANES..][..LANES];
            for (token, n_tokens) in groups(n) {
                let (x, sums) = (&tokens[token * d_in..], &sums[token * n_blocks..]);
                let to = &mut To { bias, n, out };
                match n_tokens {
                    4 => of_panel.products::<S, N, 4>(simd, x, sums, token, to),
                    2 => of_panel.products::<S, N, 2>(simd, x, sums, token, to),
                    _ => of_panel.products::<S, N, 1>(simd, x, sums, token, to),
                }
            }
        }
    }
}

/// Eight outputs of the weight.
struct Panel<'a, F> {
    /// `[d_in / N][8]`
    words: &'a [u32],
    /// `[d_in / block][8]`
    scales: &'a [F],
    block: usize,
}

impl<F: Form> Panel<'_, F> {
    /// The outputs of T tokens, from `token` on.
    #[inline(always)]
    fn products<S: Simd, const N: usize, const T: usize>(
        &self,
        simd: S,
        x: &[f32],
        sums: &[f32],
        token: usize,
        to: &mut To<'_>,
    ) {
        let Self { words, scales, block } = self;
        let (words, _) = words.as_chunks::<LANES>();
        let (scales, _) = scales.as_chunks::<LANES>();
        let (x, _) = x.as_chunks::<T>();
        let (x, _) = x.as_chunks::<N>();
        let (sums, _) = sums.as_chunks::<T>();
        let per_block = block / N;
        for v in 0..LANES / S::F32_LANES {
            let mut outs = [simd.splat_f32s(0.0); T];
            let blocks = words.chunks_exact(per_block).zip(x.chunks_exact(per_block));
            for ((words, x), (scales, sums)) in blocks.zip(scales.iter().zip(sums)) {
                let with_one = fields::<S, N, T>(simd, words, x, v);
                let [scale, offset] = F::load(simd, scales, v);
                let scale = simd.mul_f32s(scale, simd.splat_f32s(steps::<N>()));
                for t in 0..T {
                    let x = simd.splat_f32s(sums[t]);
                    let levels = simd.sub_f32s(with_one[t], x);
                    let out = simd.mul_add_e_f32s(scale, levels, outs[t]);
                    outs[t] = simd.mul_add_e_f32s(offset, x, out);
                }
            }
            for (t, out) in outs.into_iter().enumerate() {
                to.put::<S>(token + t, v, out);
            }
        }
    }
}

/// What a field is divided by behind the exponent: 16 or 256.
const fn steps<const N: usize>() -> f32 {
    (1u64 << (32 / N)) as f32
}

/// `Σ_p (1 + u[p] / steps) · x[p]` of a block, of one vector of its lanes.
#[inline(always)]
fn fields<S: Simd, const N: usize, const T: usize>(
    simd: S,
    words: &[[u32; LANES]],
    x: &[[[f32; T]; N]],
    v: usize,
) -> [S::f32s; T] {
    let width = 32 / N;
    let mask = simd.splat_u32s(((1u32 << width) - 1) << (23 - width));
    let one = simd.splat_u32s(1f32.to_bits());
    let mut even = [simd.splat_f32s(0.0); T];
    let mut odd = [simd.splat_f32s(0.0); T];
    for (word, x) in words.iter().zip(x) {
        let word = S::as_simd_u32s(word).0[v];
        for k in 0..N {
            // Field k from its place to the bits under the exponent.
            let (from, to) = (place(k), 23 - width);
            let placed = if from >= to {
                simd.wrapping_dyn_shr_u32s(word, simd.splat_u32s((from - to) as u32))
            } else {
                simd.wrapping_dyn_shl_u32s(word, simd.splat_u32s((to - from) as u32))
            };
            let bits = simd.or_u32s(simd.and_u32s(placed, mask), one);
            let weight = simd.transmute_f32s_u32s(bits);
            for t in 0..T {
                let x = simd.splat_f32s(x[k][t]);
                if k % 2 == 0 {
                    even[t] = simd.mul_add_e_f32s(weight, x, even[t]);
                } else {
                    odd[t] = simd.mul_add_e_f32s(weight, x, odd[t]);
                }
            }
        }
    }
    for t in 0..T {
        even[t] = simd.add_f32s(even[t], odd[t]);
    }
    even
}

/// How scale and offset are kept.
trait Form: Sized + Sync {
    /// Those of one vector of the eight lanes.
    fn load<S: Simd>(simd: S, lanes: &[Self; LANES], v: usize) -> [S::f32s; 2];
}

impl Form for u32 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, lanes: &[Self; LANES], v: usize) -> [S::f32s; 2] {
        let word = S::as_simd_u32s(lanes).0[v];
        let upper = simd.wrapping_dyn_shr_u32s(word, simd.splat_u32s(16));
        [from_halves(simd, word), from_halves(simd, upper)]
    }
}

impl Form for [f32; 2] {
    #[inline(always)]
    fn load<S: Simd>(simd: S, lanes: &[Self; LANES], v: usize) -> [S::f32s; 2] {
        let mut parts = [simd.splat_f32s(0.0); 2];
        for (which, part) in parts.iter_mut().enumerate() {
            let to: &mut [f32] =
                pulp::bytemuck::cast_slice_mut(std::slice::from_mut(part));
            for (to, pair) in to.iter_mut().zip(&lanes[v * S::F32_LANES..]) {
                *to = pair[which];
            }
        }
        parts
    }
}
