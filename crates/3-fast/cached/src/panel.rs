//! Queries of one group on a run of keys: panel after panel, with the softmax going along.
//!
//! While a panel of keys is computed with, the values of the same tokens are asked for, and
//! with those the keys of the next block: memory never waits for the arithmetic.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use tiles::exp2::exp2;
use tiles::panels::round_up;
use tiles::prefetch::Ahead;
use tiles::tile::ROWS;

use crate::panels::{Number, Numbers, Panels};

/// Panels of 48 keys whose scores are there at once: for a larger maximum, sums are
/// corrected once a block.
const BLOCK: usize = 4;

/// Query heads whose sums fit into registers, at most.
const HEADS: usize = 4;

/// Vectors of a panel's row that are read at once.
const AT_ONCE: usize = 3;

/// The longest vector, in numbers.
const LANES: usize = 16;

/// The query heads of a group on some of its keys.
pub(crate) struct Run<'a> {
    /// How many query heads.
    pub(crate) group: usize,
    pub(crate) d_k: usize,
    pub(crate) d_v: usize,
    /// Per [part](parts) of the group, `[d_k][heads of the part]`.
    pub(crate) q: &'a [f32],
    /// `[panel][d_k][48]`
    pub(crate) k: &'a Panels,
    /// `[panel][d_v][48]`, kept alike.
    pub(crate) v: &'a Panels,
    /// Which keys, at least one.
    pub(crate) keys: Range<usize>,
    /// The most that a score may be, as an exponent of 2.
    pub(crate) cap: Option<f32>,
    /// What comes out, and room to work in: so many numbers as [`memory`] says.
    pub(crate) memory: &'a mut [f32],
}

/// What a head has seen, `[n_heads of the group]` of these at the beginning of a run's
/// memory: the reference that was subtracted from its scores, `Σ 2^(score − reference)`, and
/// the sum of the values with these shares, `[d_v]`.
pub(crate) struct HeadState<'a> {
    pub(crate) reference: f32,
    pub(crate) sum: f32,
    pub(crate) out: &'a [f32],
}

impl<'a> HeadState<'a> {
    /// Head number `head` of a group.
    pub(crate) fn of(memory: &'a [f32], head: usize, d_v: usize) -> Self {
        let of_head = &memory[head * (2 + d_v)..][..2 + d_v];
        Self { reference: of_head[0], sum: of_head[1], out: &of_head[2..] }
    }
}

/// How many numbers a run works in.
pub(crate) fn memory(group: usize, d_v: usize) -> usize {
    let (seen, sums) = (group * (2 + d_v), group * d_v * LANES);
    seen + sums + HEADS * BLOCK * ROWS + round_up(d_v) * ROWS
}

/// Heads that go through a panel together: the first, and how many.
pub(crate) fn parts(group: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..group).step_by(HEADS).map(move |first| (first, HEADS.min(group - first)))
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match (&self.k.numbers, &self.v.numbers) {
            (Numbers::F32(k), Numbers::F32(v)) => self.on(simd, k.into(), v.into()),
            (Numbers::F16(k), Numbers::F16(v)) => self.on(simd, k.into(), v.into()),
            (
                Numbers::Q8 { levels: k, scales: of_k },
                Numbers::Q8 { levels: v, scales: of_v },
            ) => self.on(simd, Entries::scaled(k, of_k), Entries::scaled(v, of_v)),
            _ => unreachable!("keys and values of one cache are kept alike"),
        }
    }
}

/// Keys or values of one kind of numbers.
#[derive(Clone, Copy)]
struct Entries<'a, N> {
    /// As many rows a panel as [`round_up`] says.
    numbers: &'a [N],
    /// One per token, `[panel][48]`, unless the numbers are what they stand for.
    scales: Option<&'a [f32]>,
}

impl<'a, N> From<&'a Vec<N>> for Entries<'a, N> {
    fn from(numbers: &'a Vec<N>) -> Self {
        Self { numbers, scales: None }
    }
}

impl<'a, N: Number> Entries<'a, N> {
    fn scaled(numbers: &'a [N], scales: &'a [f32]) -> Self {
        Self { numbers, scales: Some(scales) }
    }

    /// The features of panel `p`; none behind the last.
    #[inline(always)]
    fn panel(&self, p: usize, width: usize) -> &'a [N] {
        let behind = self.numbers.get(p * round_up(width) * ROWS..).unwrap_or_default();
        &behind[..behind.len().min(width * ROWS)]
    }

    /// Multiplies a number for each token of panel `p` with its scale.
    #[inline(always)]
    fn scale<S: Simd>(&self, simd: S, p: usize, row: &mut [f32; ROWS]) {
        let Some(scales) = self.scales else { return };
        let (scales, _) = S::as_simd_f32s(&scales[p * ROWS..][..ROWS]);
        for (x, scale) in S::as_mut_simd_f32s(row).0.iter_mut().zip(scales) {
            *x = simd.mul_f32s(*x, *scale);
        }
    }
}

impl Run<'_> {
    #[inline(always)]
    fn on<S: Simd, N: Number>(self, simd: S, k: Entries<'_, N>, v: Entries<'_, N>) {
        let Self { group, d_k, d_v, q, keys, cap, memory, .. } = self;
        let (seen, rest) = memory.split_at_mut(group * (2 + d_v));
        let (sums, rest) = rest.split_at_mut(group * d_v * LANES);
        let (scores, open) = rest.split_at_mut(HEADS * BLOCK * ROWS);
        sums.fill(0.0);
        for head in seen.chunks_exact_mut(2 + d_v) {
            (head[0], head[1]) = (f32::NEG_INFINITY, 0.0);
        }
        let panels = keys.start / ROWS..keys.end.div_ceil(ROWS);
        for first in panels.clone().step_by(BLOCK) {
            let panels = first..panels.end.min(first + BLOCK);
            let block = Block { d_k, k, v, panels, keys: &keys, cap };
            for (head, n) in parts(group) {
                let q = &q[head * d_k..][..n * d_k];
                let seen = &mut seen[head * (2 + d_v)..][..n * (2 + d_v)];
                let sums = &mut sums[head * d_v * LANES..][..n * d_v * LANES];
                match n {
                    4 => block.run::<S, 4>(simd, q, seen, sums, scores, open),
                    3 => block.run::<S, 3>(simd, q, seen, sums, scores, open),
                    2 => block.run::<S, 2>(simd, q, seen, sums, scores, open),
                    _ => block.run::<S, 1>(simd, q, seen, sums, scores, open),
                }
            }
        }
        for (head, n) in parts(group) {
            let sums = &sums[head * d_v * LANES..][..n * d_v * LANES];
            let (sums, _) = S::as_simd_f32s(&sums[..n * d_v * S::F32_LANES]);
            for r in 0..n {
                let out = &mut seen[(head + r) * (2 + d_v) + 2..][..d_v];
                for (f, out) in out.iter_mut().enumerate() {
                    *out = simd.reduce_sum_f32s(sums[f * n + r]);
                }
            }
        }
    }
}

/// Some panels of keys and values.
struct Block<'a, N> {
    d_k: usize,
    k: Entries<'a, N>,
    v: Entries<'a, N>,
    panels: Range<usize>,
    /// The keys of the run.
    keys: &'a Range<usize>,
    cap: Option<f32>,
}

impl<N: Number> Block<'_, N> {
    /// R heads: scores of all panels, then shares, then values.
    #[inline(always)]
    fn run<S: Simd, const R: usize>(
        &self,
        simd: S,
        q: &[f32],
        seen: &mut [f32],
        sums: &mut [f32],
        scores: &mut [f32],
        open: &mut [f32],
    ) {
        let d_v = seen.len() / R - 2;
        let sums = &mut sums[..R * d_v * S::F32_LANES];
        let scores = &mut scores[..self.panels.len() * R * ROWS];
        for (p, scores) in self.panels.clone().zip(scores.chunks_exact_mut(R * ROWS)) {
            let (lanes, scores) = (self.lanes(p), scores.as_chunks_mut::<ROWS>().0);
            let ahead = Ahead::new(self.v.panel(p, d_v), self.d_k);
            scores_of::<S, N, R>(simd, self.k.panel(p, self.d_k), q, ahead, scores);
            for row in scores {
                self.k.scale(simd, p, row);
                if let Some(cap) = self.cap {
                    bound(simd, cap, row);
                }
                row[..lanes.start].fill(f32::NEG_INFINITY);
                row[lanes.end..].fill(f32::NEG_INFINITY);
            }
        }
        for (r, seen) in seen.chunks_exact_mut(2 + d_v).enumerate() {
            let scores = scores.as_chunks_mut::<ROWS>().0;
            let correction = shares::<S, R>(simd, r, seen, scores);
            if correction != 1.0 {
                let correction = simd.splat_f32s(correction);
                let (sums, _) = S::as_mut_simd_f32s(sums);
                for sum in sums.iter_mut().skip(r).step_by(R) {
                    *sum = simd.mul_f32s(*sum, correction);
                }
            }
        }
        for (p, shares) in self.panels.clone().zip(scores.chunks_exact_mut(R * ROWS)) {
            let (lanes, shares) = (self.lanes(p), shares.as_chunks_mut::<ROWS>().0);
            shares.iter_mut().for_each(|row| self.v.scale(simd, p, row));
            let panel = self.v.panel(p, d_v);
            let ahead = Ahead::new(self.k.panel(p + BLOCK, self.d_k), d_v);
            match N::unchecked(panel) {
                Some(panel) if lanes.len() < ROWS => {
                    // A share of 0 leaves nothing out where a value is NaN.
                    let open = &mut open[..panel.len()];
                    open.copy_from_slice(panel);
                    for row in open.chunks_exact_mut(ROWS) {
                        row[..lanes.start].fill(0.0);
                        row[lanes.end..].fill(0.0);
                    }
                    add_values::<S, f32, R>(simd, open, shares, Ahead::default(), sums);
                }
                _ => add_values::<S, N, R>(simd, panel, shares, ahead, sums),
            }
        }
    }

    /// The lanes of a panel that are among the keys of the run.
    fn lanes(&self, panel: usize) -> Range<usize> {
        let lane =
            |key: usize| key.clamp(panel * ROWS, (panel + 1) * ROWS) - panel * ROWS;
        lane(self.keys.start)..lane(self.keys.end)
    }
}

/// `scores[r][key] = Σ_f q[f][r] · k[f][key]`.
#[inline(always)]
fn scores_of<S: Simd, N: Number, const R: usize>(
    simd: S,
    k: &[N],
    q: &[f32],
    ahead: Ahead<'_, N>,
    scores: &mut [[f32; ROWS]],
) {
    let (k, q) = (k.as_chunks::<ROWS>().0, q.as_chunks::<R>().0);
    for part in 0..ROWS / (AT_ONCE * S::F32_LANES) {
        let mut sums = [[simd.splat_f32s(0.0); AT_ONCE]; R];
        for (f, (k, q)) in k.iter().zip(q).enumerate() {
            if part == 0 {
                ahead.row(f);
            }
            let k = N::vectors::<S, AT_ONCE>(simd, k, part * AT_ONCE);
            for r in 0..R {
                let q = simd.splat_f32s(q[r]);
                for m in 0..AT_ONCE {
                    sums[r][m] = simd.mul_add_e_f32s(k[m], q, sums[r][m]);
                }
            }
        }
        for r in 0..R {
            let to = S::as_mut_simd_f32s(&mut scores[r]).0;
            to[part * AT_ONCE..][..AT_ONCE].copy_from_slice(&sums[r]);
        }
    }
}

/// Replaces numbers by `cap · tanh(x)`, where they are `2 log2 e · x`.
///
/// The cap can be large, and a score is then off by that many times what its tanh is: near 0,
/// where `1 − 2 / (e^2x + 1)` has lost its digits, it is a continued fraction instead.
#[inline(always)]
fn bound<S: Simd>(simd: S, cap: f32, row: &mut [f32; ROWS]) {
    let of = |number: f32| simd.splat_f32s(number);
    let (one, two, cap) = (of(1.0), of(2.0), of(cap));
    for entry in S::as_mut_simd_f32s(row).0 {
        let x = simd.mul_f32s(*entry, of(std::f32::consts::LN_2 / 2.0));
        // tanh x = 1 − 2 / (e^2x + 1), which is 1 where the power is infinite.
        let power = simd.add_f32s(exp2(simd, *entry), one);
        let far = simd.sub_f32s(one, simd.div_f32s(two, power));
        // tanh x = x / (1 + x² / (3 + x² / (5 + x² / (7 + …)))), cut behind the 11.
        let square = simd.mul_f32s(x, x);
        let polynomial = |coefficients: [f32; 3]| {
            let [first, rest @ ..] = coefficients;
            rest.into_iter().fold(of(first), |sum, coefficient| {
                simd.mul_add_e_f32s(sum, square, of(coefficient))
            })
        };
        let upper = polynomial([21.0, 1_260.0, 10_395.0]);
        let lower =
            simd.mul_add_e_f32s(square, polynomial([1.0, 210.0, 4_725.0]), of(10_395.0));
        let near = simd.div_f32s(simd.mul_f32s(x, upper), lower);
        let is_near = simd.less_than_f32s(simd.abs_f32s(x), of(0.5));
        *entry = simd.mul_f32s(cap, simd.select_f32s(is_near, near, far));
    }
}

/// Replaces the scores of head r by shares; gives by how much the sums so far are too large.
#[inline(always)]
fn shares<S: Simd, const R: usize>(
    simd: S,
    r: usize,
    seen: &mut [f32],
    scores: &mut [[f32; ROWS]],
) -> f32 {
    let mut largest = simd.splat_f32s(f32::NEG_INFINITY);
    for row in scores.iter().skip(r).step_by(R) {
        for x in S::as_simd_f32s(row).0 {
            largest = simd.max_f32s(largest, *x);
        }
    }
    let before = seen[0];
    let reference = before.max(simd.reduce_max_f32s(largest));
    let subtracted = simd.splat_f32s(reference);
    let mut sum = simd.splat_f32s(0.0);
    for row in scores.iter_mut().skip(r).step_by(R) {
        for x in S::as_mut_simd_f32s(row).0 {
            *x = exp2(simd, simd.sub_f32s(*x, subtracted));
            sum = simd.add_f32s(sum, *x);
        }
    }
    let correction = if reference == before { 1.0 } else { (before - reference).exp2() };
    seen[0] = reference;
    seen[1] = seen[1] * correction + simd.reduce_sum_f32s(sum);
    correction
}

/// `sums[f][r] += Σ_key share[r][key] · v[f][key]`, lane by lane.
#[inline(always)]
fn add_values<S: Simd, N: Number, const R: usize>(
    simd: S,
    v: &[N],
    shares: &[[f32; ROWS]],
    ahead: Ahead<'_, N>,
    sums: &mut [f32],
) {
    let (v, sums) = (v.as_chunks::<ROWS>().0, S::as_mut_simd_f32s(sums).0);
    let sums = sums.as_chunks_mut::<R>().0;
    for part in 0..ROWS / (AT_ONCE * S::F32_LANES) {
        let mut of_part = [[simd.splat_f32s(0.0); AT_ONCE]; R];
        for r in 0..R {
            let row = S::as_simd_f32s(&shares[r]).0;
            of_part[r].copy_from_slice(&row[part * AT_ONCE..][..AT_ONCE]);
        }
        for (f, (row, sums)) in v.iter().zip(&mut *sums).enumerate() {
            if part == 0 {
                ahead.row(f);
            }
            let v = N::vectors::<S, AT_ONCE>(simd, row, part * AT_ONCE);
            for r in 0..R {
                let mut sum = sums[r]; // in a register, and written once
                for m in 0..AT_ONCE {
                    sum = simd.mul_add_e_f32s(v[m], of_part[r][m], sum);
                }
                sums[r] = sum;
            }
        }
    }
}
