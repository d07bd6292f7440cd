//! Attention itself: one head, 48 queries, all of their keys, block after block.

use std::ops::Range;

use attention::Dims;
use pulp::{Simd, WithSimd};

use super::blocks::{KeyBlock, Keys, Part, products};
use super::careful;
use super::memory::Scratch;
use super::panels::round_up;
use super::units::Queue;
use crate::exp2::exp2;
use crate::tile::{COLUMNS, ROWS, Segment, tile, vector, vector_mut, vectors};
use crate::{Inputs, Lengths};

/// Panels of 48 keys a block. Its scores are 36 KiB, and stay in the nearest caches.
const PANELS: usize = 4;

/// The heads' outputs, in the place of their queries.
pub(crate) struct Attend<'a> {
    pub(crate) dims: Dims,
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) lengths: Lengths,
    /// Queries, `[group][head][rows of a head][48]`; without them, they stand where the
    /// outputs go.
    pub(crate) q: Option<&'a [f32]>,
    /// `[group][head][d_k][48]`, as many rows as [`round_up`] says.
    pub(crate) k: &'a [f32],
    /// `[group][head][d_v][48]`, likewise.
    pub(crate) v: &'a [f32],
    /// Outputs, `[group][head][rows of a head][48]`, and `log2 Σ 2^score`,
    /// `[group][head][48]`.
    pub(crate) queue: &'a Queue<'a, 2>,
    pub(crate) scratch: &'a mut Scratch,
}

impl WithSimd for Attend<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { dims, inputs, lengths, q, k, v, queue, scratch } = self;
        while let Some((piece, [out, log_sums])) = queue.take() {
            let q = q.map_or(&*out, |q| &q[piece * out.len()..][..out.len()]);
            let len = out.len();
            let (group, head) = (piece / dims.n_heads(), piece % dims.n_heads());
            scratch.done.take(len).fill(0.0);
            for part in Part::of_group(group, lengths) {
                let mask = inputs.mask(part.sequence).of_head(head);
                let keys = Keys { dims, head, lengths, k, v, mask: &mask };
                one_sequence(simd, q, &part, &keys, scratch, log_sums);
            }
            out.copy_from_slice(scratch.done.get(len));
        }
    }
}

/// What is known of 48 queries after some blocks of keys.
struct Running {
    /// The largest score so far.
    maxima: [f32; ROWS],
    /// `Σ 2^(score − maximum)`.
    sums: [f32; ROWS],
    /// What the sums and outputs so far are to be multiplied with, since the maximum has
    /// grown: `2^(maximum before − maximum now)`.
    corrections: [f32; ROWS],
}

// ANCHOR: one_sequence
#[inline(always)]
fn one_sequence<S: Simd>(
    simd: S,
    q: &[f32],
    part: &Part,
    keys: &Keys<'_>,
    scratch: &mut Scratch,
    log_sums: &mut [f32],
) {
    let in_use = vectors::<S>(part.lanes.clone());
    let out = scratch.out.take(round_up(keys.dims.d_v()) * ROWS);
    out.fill(0.0);
    let scores = scratch.scores.take(PANELS * ROWS * ROWS);
    let mut running = Running {
        maxima: [f32::NEG_INFINITY; ROWS],
        sums: [0.0; ROWS],
        corrections: [0.0; ROWS],
    };
    for block in keys.blocks(part, PANELS) {
        products(simd, q, |p| keys.k_panel(p), keys.dims.d_k(), &block, &in_use, scores);
        keys.mask(part, &block, scores);
        running.take_in(simd, &block, &in_use, scores);
        add_values(simd, keys, &block, &in_use, scores, &running.corrections, out);
    }
    let done = scratch.done.take(q.len());
    if running.finish(simd, &in_use, part, out, done, log_sums) {
        return;
    }
    careful::one_sequence(q, part, keys, done);
}
// ANCHOR_END: one_sequence

/// `out[feature][query] = out · correction + Σ share · v`.
#[inline(always)]
fn add_values<S: Simd>(
    simd: S,
    keys: &Keys<'_>,
    block: &KeyBlock,
    in_use: &Range<usize>,
    shares: &[f32],
    corrections: &[f32; ROWS],
    out: &mut [f32],
) {
    let corrections = S::as_simd_f32s(corrections).0;
    for (at, out) in out.chunks_exact_mut(COLUMNS * ROWS).enumerate() {
        let mut segments = [Segment::default(); PANELS];
        let mut n_segments = 0;
        for (segment, (p, lanes, row)) in segments.iter_mut().zip(block.panels()) {
            let a = &shares[(row + lanes.start) * ROWS..];
            let b = &keys.v_panel(p)[at * COLUMNS * ROWS + lanes.start..];
            *segment = Segment { a, b, depth: lanes.len() };
            n_segments += 1;
        }
        tile::<S, _, 1, ROWS>(
            simd,
            in_use.clone(),
            &segments[..n_segments],
            out,
            |out, j, v| simd.mul_f32s(vector::<S>(out, j, v), corrections[v]),
            |out, j, v, sum| *vector_mut::<S>(out, j, v) = sum,
        );
    }
}

impl Running {
    /// Replaces a block of scores by `2^(score − maximum)`, which are shares once they
    /// are divided by their sum.
    #[inline(always)]
    fn take_in<S: Simd>(
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

    /// Divides the outputs by the sums. False if one of them is not finite.
    #[inline(always)]
    fn finish<S: Simd>(
        &mut self,
        simd: S,
        in_use: &Range<usize>,
        part: &Part,
        out: &mut [f32],
        done: &mut [f32],
        log_sums: &mut [f32],
    ) -> bool {
        for lane in part.lanes.clone() {
            let empty = self.sums[lane] == 0.0;
            log_sums[lane] = if empty {
                f32::INFINITY
            } else {
                self.maxima[lane] + self.sums[lane].log2()
            };
            self.sums[lane] = if empty { 1.0 } else { self.sums[lane] };
        }
        let mut zeros = [0.0; ROWS]; // 0 · x is 0 unless x is not finite
        for v in in_use.clone() {
            let factor =
                simd.div_f32s(simd.splat_f32s(1.0), S::as_simd_f32s(&self.sums).0[v]);
            let mut zero = simd.splat_f32s(0.0);
            for row in out.chunks_exact_mut(ROWS) {
                let x = &mut S::as_mut_simd_f32s(row).0[v];
                *x = simd.mul_f32s(*x, factor);
                zero = simd.mul_add_e_f32s(*x, simd.splat_f32s(0.0), zero);
            }
            S::as_mut_simd_f32s(&mut zeros).0[v] = zero;
        }
        for (done, out) in done.chunks_exact_mut(ROWS).zip(out.chunks_exact(ROWS)) {
            done[part.lanes.clone()].copy_from_slice(&out[part.lanes.clone()]);
        }
        zeros[part.lanes.clone()].iter().all(|&zero| zero == 0.0)
    }
}
