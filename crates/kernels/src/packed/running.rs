//! The online softmax of 48 queries: what `online_softmax.rs` does, in vectors.

use std::ops::Range;

use pulp::Simd;

use super::blocks::KeyBlock;
use crate::exp2::exp2;
use crate::tile::ROWS;

/// What is known of 48 queries after some blocks of keys.
pub(crate) struct Running {
    /// The largest score so far.
    maxima: [f32; ROWS],
    /// `Σ 2^(score − maximum)`.
    sums: [f32; ROWS],
    /// What the sums and outputs so far are to be multiplied with, since the maximum has
    /// grown: `2^(maximum before − maximum now)`.
    pub(crate) corrections: [f32; ROWS],
}

impl Running {
    /// Before any key is seen.
    pub(crate) const NOTHING: Self = Self {
        maxima: [f32::NEG_INFINITY; ROWS],
        sums: [0.0; ROWS],
        corrections: [0.0; ROWS],
    };

    /// Replaces a block of scores by `2^(score − maximum)`, which are shares once they
    /// are divided by their sum.
    #[inline(always)]
    pub(crate) fn take_in<S: Simd>(
        &mut self,
        simd: S,
        block: &KeyBlock,
        in_use: &Range<usize>,
        scores: &mut [f32],
    ) {
        let rows =
            scores[block.rows.start * ROWS..block.rows.end * ROWS].as_chunks_mut().0;
        let mut v = in_use.start;
        while v < in_use.end {
            let m = (in_use.end - v).min(3);
            match m {
                3 => self.take_in_vectors::<S, 3>(simd, v, rows),
                2 => self.take_in_vectors::<S, 2>(simd, v, rows),
                _ => self.take_in_vectors::<S, 1>(simd, v, rows),
            }
            v += m;
        }
    }

    /// The same for M vectors of queries, from vector `v` on.
    #[inline(always)]
    fn take_in_vectors<S: Simd, const M: usize>(
        &mut self,
        simd: S,
        v: usize,
        rows: &mut [[f32; ROWS]],
    ) {
        // Loops and not `from_fn`: a closure that is not inlined is compiled without
        // this processor's instructions.
        let zero = simd.splat_f32s(0.0);
        let nothing = simd.splat_f32s(f32::NEG_INFINITY);
        let (mut maxima, mut from, mut sums) = ([nothing; M], [zero; M], [zero; M]);
        maxima.copy_from_slice(&S::as_simd_f32s(&self.maxima).0[v..v + M]);
        for row in &*rows {
            for m in 0..M {
                maxima[m] = simd.max_f32s(maxima[m], S::as_simd_f32s(row).0[v + m]);
            }
        }
        for m in 0..M {
            // −∞ − (−∞) is NaN, and 2^(−∞ − 0) is the 0 that an empty row is made of.
            let empty = simd.equal_f32s(maxima[m], nothing);
            from[m] = simd.select_f32s(empty, zero, maxima[m]);
            let before = &mut S::as_mut_simd_f32s(&mut self.maxima).0[v + m];
            let correction = exp2(simd, simd.sub_f32s(*before, from[m]));
            *before = maxima[m];
            S::as_mut_simd_f32s(&mut self.corrections).0[v + m] = correction;
            sums[m] = simd.mul_f32s(S::as_simd_f32s(&self.sums).0[v + m], correction);
        }
        for row in rows {
            for m in 0..M {
                let score = &mut S::as_mut_simd_f32s(row).0[v + m];
                *score = exp2(simd, simd.sub_f32s(*score, from[m]));
                sums[m] = simd.add_f32s(sums[m], *score);
            }
        }
        S::as_mut_simd_f32s(&mut self.sums).0[v..v + M].copy_from_slice(&sums);
    }

    /// Divides the outputs by the sums. False if one of these lanes is not finite.
    #[inline(always)]
    pub(crate) fn divide<S: Simd>(
        &self,
        simd: S,
        in_use: &Range<usize>,
        lanes: Range<usize>,
        out: &mut [f32],
    ) -> bool {
        let mut zeros = [0.0; ROWS]; // 0 · x is 0 unless x is not finite
        let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
        for v in in_use.clone() {
            let sum = S::as_simd_f32s(&self.sums).0[v];
            let empty = simd.equal_f32s(sum, zero);
            let factor = simd.div_f32s(one, simd.select_f32s(empty, one, sum));
            let mut products = zero;
            for row in out.chunks_exact_mut(ROWS) {
                let x = &mut S::as_mut_simd_f32s(row).0[v];
                *x = simd.mul_f32s(*x, factor);
                products = simd.mul_add_e_f32s(*x, zero, products);
            }
            S::as_mut_simd_f32s(&mut zeros).0[v] = products;
        }
        zeros[lanes].iter().all(|&zero| zero == 0.0)
    }

    /// `log2 Σ 2^score` of these lanes; ∞ where nothing may be attended to, so that every
    /// share comes out as 0.
    pub(crate) fn log_sums(&self, lanes: Range<usize>, to: &mut [f32]) {
        for lane in lanes {
            let empty = self.sums[lane] == 0.0;
            let log_sum = self.maxima[lane] + self.sums[lane].log2();
            to[lane] = if empty { f32::INFINITY } else { log_sum };
        }
    }
}
