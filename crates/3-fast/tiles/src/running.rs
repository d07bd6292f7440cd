//! The online softmax of 48 queries, with a reference in place of the maximum.
//!
//! The `OnlineSoftmax` of `kernels` subtracts the largest score so far, so that no
//! exponential becomes too large. Any number will do for that which is not too far away: each share has it,
//! and so does their sum, by which they are divided. So here a **reference** is subtracted.
//! It is 0 at first, and stays as it is while the sum is neither huge nor tiny. Then a
//! score can become a share in the register that it was summed in: nobody has to look for
//! the largest first.

use std::ops::Range;

use pulp::Simd;

use crate::exp2::exp2;
use crate::tile::{ROWS, Sums, put, vector, vector_mut};

// ANCHOR: will_do
/// A reference will do as long as the sum of shares is in this range. A float has 24 bits
/// at any size, so a share may be large. Below 2^40, none of the sum's shares can have
/// overflowed. Above 2^−40, a share that became 0 (it was below 2^−126) would not have
/// changed the sum.
const WILL_DO: Range<f32> = 1.0 / HUGE..HUGE;

/// 2^40.
const HUGE: f32 = (1u64 << 40) as f32;
// ANCHOR_END: will_do

/// What is known of 48 queries after some keys.
#[derive(Clone, Copy)]
pub(crate) struct Running {
    /// What is subtracted from a score.
    references: [f32; ROWS],
    /// `Σ share`, where a share is `2^(score − reference)`. The last step divides by it.
    sums: [f32; ROWS],
}

impl Running {
    /// Before any key is seen.
    pub(crate) const NOTHING: Self = Self { references: [0.0; ROWS], sums: [0.0; ROWS] };

    /// Replaces rows of scores by shares.
    #[inline(always)]
    pub(crate) fn take_in<S: Simd>(
        &mut self,
        simd: S,
        in_use: &Range<usize>,
        scores: &mut [f32],
    ) {
        for v in in_use.clone() {
            let reference = vector::<S>(&self.references, 0, v);
            let mut sum = vector::<S>(&self.sums, 0, v);
            for j in 0..scores.len() / ROWS {
                let score = vector_mut::<S>(scores, j, v);
                *score = exp2(simd, simd.sub_f32s(*score, reference));
                sum = simd.add_f32s(sum, *score);
            }
            *vector_mut::<S>(&mut self.sums, 0, v) = sum;
        }
    }

    /// Whether the references of these lanes will do.
    #[inline(always)]
    pub(crate) fn will_do(&self, lanes: Range<usize>) -> bool {
        // All are looked at: without a way out of the loop it is done in vectors.
        self.sums[lanes].iter().fold(true, |so_far, sum| so_far & WILL_DO.contains(sum))
    }

    /// Makes the largest number of these rows the reference, or keeps the one there is if
    /// that is larger. The outputs and sums so far are corrected: their terms have all
    /// become smaller by the same factor.
    #[inline(always)]
    pub(crate) fn refer_to_largest<S: Simd>(
        &mut self,
        simd: S,
        in_use: &Range<usize>,
        scores: &[f32],
        out: &mut [f32],
    ) {
        let (zero, nothing) = (simd.splat_f32s(0.0), simd.splat_f32s(f32::NEG_INFINITY));
        for v in in_use.clone() {
            let before = vector::<S>(&self.references, 0, v);
            let sum = vector::<S>(&self.sums, 0, v);
            let new = simd.equal_f32s(sum, zero);
            let mut largest = simd.select_f32s(new, nothing, before);
            for j in 0..scores.len() / ROWS {
                largest = simd.max_f32s(largest, vector::<S>(scores, j, v));
            }
            // −∞ − (−∞) is NaN, and 2^(−∞ − 0) is the 0 that an empty row is made of.
            let empty = simd.equal_f32s(largest, nothing);
            let reference = simd.select_f32s(empty, zero, largest);
            let correction = exp2(simd, simd.sub_f32s(before, reference));
            let correction = simd.select_f32s(new, zero, correction);
            *vector_mut::<S>(&mut self.references, 0, v) = reference;
            *vector_mut::<S>(&mut self.sums, 0, v) = simd.mul_f32s(sum, correction);
            for j in 0..out.len() / ROWS {
                let x = vector_mut::<S>(out, j, v);
                *x = simd.mul_f32s(*x, correction);
            }
        }
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

    /// Makes one softmax of this and of an earlier one over other keys. Both outputs are
    /// divided by their sums, and so is what they become.
    // ANCHOR: join
    #[inline(always)]
    pub(crate) fn join<S: Simd>(
        &mut self,
        simd: S,
        in_use: &Range<usize>,
        earlier: Normalisers<'_>,
        earlier_out: &[f32],
        out: &mut [f32],
    ) {
        let [zero, one, nothing] =
            [0.0, 1.0, f32::NEG_INFINITY].map(|x| simd.splat_f32s(x));
        for v in in_use.clone() {
            let factor = vector::<S>(earlier.factors, 0, v);
            let sums = [
                simd.div_f32s(one, factor), // where it is 0, no key was seen
                vector::<S>(&self.sums, 0, v),
            ];
            let empty = [simd.equal_f32s(factor, zero), simd.equal_f32s(sums[1], zero)];
            let references = [
                simd.select_f32s(
                    empty[0],
                    nothing,
                    vector::<S>(earlier.references, 0, v),
                ),
                simd.select_f32s(empty[1], nothing, vector::<S>(&self.references, 0, v)),
            ];
            let larger = simd.max_f32s(references[0], references[1]);
            // −∞ − (−∞) is NaN.
            let reference =
                simd.select_f32s(simd.equal_f32s(larger, nothing), zero, larger);
            let weights = [0, 1].map(|i| {
                let share = exp2(simd, simd.sub_f32s(references[i], reference));
                simd.select_f32s(empty[i], zero, simd.mul_f32s(sums[i], share))
            });
            let sum = simd.add_f32s(weights[0], weights[1]);
            let divisor = simd.select_f32s(simd.equal_f32s(sum, zero), one, sum);
            let weights = weights.map(|weight| simd.div_f32s(weight, divisor));
            // What is not finite counts only where it has a weight.
            let without = weights.map(|weight| simd.equal_f32s(weight, zero));
            for j in 0..out.len() / ROWS {
                let outs = [vector::<S>(earlier_out, j, v), vector::<S>(out, j, v)];
                let [before, now] = [0, 1].map(|i| {
                    let weighted = simd.mul_f32s(weights[i], outs[i]);
                    simd.select_f32s(without[i], zero, weighted)
                });
                *vector_mut::<S>(out, j, v) = simd.add_f32s(before, now);
            }
            *vector_mut::<S>(&mut self.references, 0, v) = reference;
            *vector_mut::<S>(&mut self.sums, 0, v) = sum;
        }
    }
    // ANCHOR_END: join

    /// What makes shares of these lanes' scores, once all keys are seen.
    #[inline]
    pub(crate) fn normalisers(&self, lanes: Range<usize>, to: &mut [f32]) {
        let (references, factors) = to.split_at_mut(ROWS);
        for lane in lanes {
            let empty = self.sums[lane] == 0.0;
            references[lane] = self.references[lane];
            factors[lane] = if empty { 0.0 } else { 1.0 / self.sums[lane] };
        }
    }
}

/// What makes shares of 48 queries' scores: `share = 2^(score − reference) · factor`.
///
/// The factor is 1 over the sum. One number for both, `reference + log2 Σ`, would lose the
/// sum's last digits beside a large reference. A score less the reference loses none that
/// matter: where both are large and near each other, the difference is exact.
#[derive(Clone, Copy)]
pub struct Normalisers<'a> {
    /// What is subtracted from the scores of each query.
    pub references: &'a [f32; ROWS],
    /// What the powers of 2 are multiplied by.
    pub factors: &'a [f32; ROWS],
}

impl<'a> Normalisers<'a> {
    /// How many numbers they are.
    pub const LEN: usize = 2 * ROWS;

    /// Group and head number `at` of all of them.
    #[inline]
    pub fn of(all: &'a [f32], at: usize) -> Self {
        let (both, _) = all[at * Self::LEN..][..Self::LEN].as_chunks();
        Self { references: &both[0], factors: &both[1] }
    }
}

/// Shares of 8 keys, `[8][48]`, made of their scores in the registers of a tile.
pub(crate) struct Shares<'a> {
    pub(crate) running: &'a mut Running,
    pub(crate) to: &'a mut [f32],
}

impl<S: Simd> Sums<S> for Shares<'_> {
    /// The reference goes off last. A sum that began with it would end as the same number,
    /// but not in the last digits that a score has when it is computed again.
    #[inline(always)]
    fn done<const N: usize>(&mut self, simd: S, j: usize, v: usize, sums: [S::f32s; N]) {
        let mut shares = sums;
        let reference = vector::<S>(&self.running.references, 0, v);
        let sum = vector_mut::<S>(&mut self.running.sums, 0, v);
        for share in &mut shares {
            *share = exp2(simd, simd.sub_f32s(*share, reference));
            *sum = simd.add_f32s(*sum, *share);
        }
        put::<S, N>(self.to, j, v, shares);
    }
}
