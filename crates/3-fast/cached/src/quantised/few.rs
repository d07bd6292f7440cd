//! A few tokens through a weight in few bits.
//!
//! One token meets each weight once, so that what a word costs in registers is what a token
//! takes. As floats its eight levels would need a multiplication each; against entries of 16
//! bits they need half as many, and no exponent.

use attention::Matrix;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use tiles::Instructions;
use tiles::bytes::halves::from_halves;
use tiles::bytes::inputs;
use tiles::memory::Aligned;
use tiles::pairs::{Pairs, WithPairs, pair};
use tiles::rounding::Rounding;

use crate::few::{To, groups, in_groups, panels_of_a_piece};

use super::{Bits, LANES, Quantised, Scales};

/// Tokens in 16 bits, in blocks as a weight's.
#[derive(Debug, Default)]
pub(crate) struct InPairs {
    /// Before they are rounded.
    rows: Aligned,
    /// Two entries in a word, `[d_in / 2][tokens of the group]` of each group.
    pairs: Vec<u32>,
    /// `[d_in / block][tokens of the group]` of each group.
    scales: Vec<f32>,
    /// Σ x of each block, of the rounded x.
    sums: Vec<f32>,
}

/// `out = x · W + b`, each word of W read from memory once.
///
/// # Shapes
/// `x` is `[n, d_in]` and `out` `[n, d_out]`.
pub(crate) fn few_tokens(
    instructions: Instructions,
    x: &Matrix<f32>,
    weight: &Quantised,
    memory: &mut InPairs,
    out: &mut Matrix<f32>,
) {
    let n = x.nrows();
    memory.round(instructions, x, weight);
    let panels = panels_of_a_piece(weight.bytes(), weight.d_out.div_ceil(LANES));
    let pieces = panels * LANES * n.max(1);
    let tokens = &*memory;
    out.as_mut_slice().par_chunks_mut(pieces).enumerate().for_each(|(i, out)| {
        let first = i * panels;
        instructions.run_in_pairs(FewTokens { tokens, n, weight, first, out });
    });
}

impl InPairs {
    /// Other tokens, `[n, d_in]`.
    fn round(&mut self, instructions: Instructions, x: &Matrix<f32>, weight: &Quantised) {
        let ((n, d_in), n_blocks) = (x.shape(), weight.d_in / weight.block);
        let rows = self.rows.take(n * d_in);
        in_groups(x, rows);
        self.pairs.resize(n * d_in / 2, 0);
        self.scales.resize(n * n_blocks, 0.0);
        self.sums.resize(n * n_blocks, 0.0);
        for (token, n_tokens) in groups(n) {
            let [entries, blocks] = [d_in, n_blocks].map(|of_each| {
                let first = token * of_each;
                first..first + n_tokens * of_each
            });
            instructions.run(Group {
                x: &rows[entries.clone()],
                n_tokens,
                weight,
                pairs: &mut self.pairs[entries.start / 2..entries.end / 2],
                scales: &mut self.scales[blocks.clone()],
                sums: &mut self.sums[blocks],
            });
        }
    }
}

/// Tokens that go through a panel together, to be rounded.
struct Group<'a> {
    /// `[d_in][tokens]`
    x: &'a [f32],
    n_tokens: usize,
    weight: &'a Quantised,
    pairs: &'a mut [u32],
    scales: &'a mut [f32],
    sums: &'a mut [f32],
}

impl WithSimd for Group<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match (self.weight.bits, self.n_tokens) {
            (Bits::Four, 4) => self.round::<8, 4>(),
            (Bits::Four, 2) => self.round::<8, 2>(),
            (Bits::Four, _) => self.round::<8, 1>(),
            (Bits::Eight, 4) => self.round::<4, 4>(),
            (Bits::Eight, 2) => self.round::<4, 2>(),
            (Bits::Eight, _) => self.round::<4, 1>(),
        }
    }
}

impl Group<'_> {
    /// T tokens, before words of N fields. What is not finite makes the scale of its block
    /// and Σ x NaN.
    #[inline(always)]
    fn round<const N: usize, const T: usize>(self) {
        let Self { x, weight, pairs, scales, sums, .. } = self;
        let blocks = x.as_chunks::<T>().0.chunks_exact(weight.block);
        let pairs = pairs.as_chunks_mut::<T>().0.chunks_exact_mut(weight.block / 2);
        let scales = scales.as_chunks_mut::<T>().0.iter_mut();
        let of_blocks = scales.zip(sums.as_chunks_mut::<T>().0);
        for ((x, pairs), (scales, sums)) in blocks.zip(pairs).zip(of_blocks) {
            let rounding = Rounding::new(x, f32::from(i16::MAX));
            let mut totals = [0i32; T];
            let words = x.as_chunks::<N>().0.iter().zip(pairs.chunks_exact_mut(N / 2));
            for (x, pairs) in words {
                for (nth, to) in pairs.iter_mut().enumerate() {
                    for t in 0..T {
                        let entries =
                            inputs::<N>(nth).map(|k| rounding.whole(t, x[k][t]));
                        let [a, b] = entries;
                        totals[t] = totals[t].wrapping_add(a).wrapping_add(b);
                        to[t] = pair(entries);
                    }
                }
            }
            *scales = rounding.scales;
            for t in 0..T {
                sums[t] = scales[t] * totals[t] as f32;
            }
        }
    }
}

/// Some panels of the weight.
struct FewTokens<'a> {
    tokens: &'a InPairs,
    n: usize,
    weight: &'a Quantised,
    /// The first panel.
    first: usize,
    /// `[column][n]`
    out: &'a mut [f32],
}

impl WithPairs for FewTokens<'_> {
    type Output = ();

    #[inline(always)]
    fn with_pairs<P: Pairs>(self, simd: P) {
        match (self.weight.bits, &self.weight.scales) {
            (Bits::Four, Scales::Half(scales)) => self.all::<P, _, 8>(simd, scales),
            (Bits::Four, Scales::Single(scales)) => self.all::<P, _, 8>(simd, scales),
            (Bits::Eight, Scales::Half(scales)) => self.all::<P, _, 4>(simd, scales),
            (Bits::Eight, Scales::Single(scales)) => self.all::<P, _, 4>(simd, scales),
        }
    }
}

impl FewTokens<'_> {
    /// All panels, of words of N fields.
    #[inline(always)]
    fn all<P: Pairs, F: Form, const N: usize>(self, simd: P, scales: &[F]) {
        let Self { tokens, n, weight, first, out } = self;
        let (d_in, n_blocks) = (weight.d_in, weight.d_in / weight.block);
        for (i, out) in out.chunks_mut(LANES * n).enumerate() {
            let panel = first + i;
            let words = &weight.words[panel * d_in / N * LANES..][..d_in / N * LANES];
            let scales = &scales[panel * n_blocks * LANES..][..n_blocks * LANES];
            let of_panel = Panel { words, scales, block: weight.block };
            let to = &mut To { bias: &weight.bias[panel * LANES..][..LANES], n, out };
            for (token, n_tokens) in groups(n) {
                let x = Tokens {
                    first: token,
                    pairs: &tokens.pairs[token * d_in / 2..],
                    scales: &tokens.scales[token * n_blocks..],
                    sums: &tokens.sums[token * n_blocks..],
                };
                match n_tokens {
                    4 => of_panel.products::<P, N, 4>(simd, &x, to),
                    2 => of_panel.products::<P, N, 2>(simd, &x, to),
                    _ => of_panel.products::<P, N, 1>(simd, &x, to),
                }
            }
        }
    }
}

/// The tokens from one on.
struct Tokens<'a> {
    first: usize,
    pairs: &'a [u32],
    scales: &'a [f32],
    sums: &'a [f32],
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
    /// The outputs of T tokens.
    #[inline(always)]
    fn products<P: Pairs, const N: usize, const T: usize>(
        &self,
        simd: P,
        x: &Tokens<'_>,
        to: &mut To<'_>,
    ) {
        let words = self.words.as_chunks::<LANES>().0.chunks_exact(self.block / N);
        let pairs = x.pairs.as_chunks::<T>().0.chunks_exact(self.block / 2);
        let of_weight = self.scales.as_chunks::<LANES>().0;
        let of_tokens = x.scales.as_chunks::<T>().0.iter().zip(x.sums.as_chunks::<T>().0);
        for v in 0..LANES / P::F32_LANES {
            let mut outs = [simd.splat_f32s(0.0); T];
            let blocks = words.clone().zip(pairs.clone());
            let scales = of_weight.iter().zip(of_tokens.clone());
            for ((words, pairs), (of_weight, (of_tokens, sums))) in blocks.zip(scales) {
                let products = products::<P, N, T>(simd, words, pairs, v);
                let [scale, offset] = F::load(simd, of_weight, v);
                for t in 0..T {
                    let scale = simd.mul_f32s(scale, simd.splat_f32s(of_tokens[t]));
                    let sum = simd.splat_f32s(sums[t]);
                    let out = simd.mul_add_e_f32s(offset, sum, outs[t]);
                    outs[t] = simd.mul_add_e_f32s(simd.floats(products[t]), scale, out);
                }
            }
            for (t, out) in outs.into_iter().enumerate() {
                to.put::<P>(x.first + t, v, out);
            }
        }
    }
}

/// `Σ_p u[p] · q[p]` of a block, of one vector of its lanes.
#[inline(always)]
fn products<P: Pairs, const N: usize, const T: usize>(
    simd: P,
    words: &[[u32; LANES]],
    pairs: &[[u32; T]],
    v: usize,
) -> [P::i32s; T] {
    let width = 32 / N;
    let of_a_half = (1u32 << width) - 1;
    let mask = simd.splat_u32s(of_a_half << 16 | of_a_half);
    let mut sums = [simd.splat_i32s(0); T];
    for (words, pairs) in words.iter().zip(pairs.chunks_exact(N / 2)) {
        let words = P::as_simd_u32s(words).0[v];
        for (nth, pair) in pairs.iter().enumerate() {
            let fields = simd.and_u32s(simd.moved(words, (width * nth) as u32), mask);
            for t in 0..T {
                sums[t] = simd.add_products(sums[t], fields, pair[t]);
            }
        }
    }
    sums
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
