//! Shares, from scores that are computed again, and the gradients of the scores.

use std::ops::Range;

use pulp::Simd;
use tiles::blocks::{KeyBlock, apply, product};
use tiles::exp2::exp2;
use tiles::running::Normalisers;
use tiles::tile::{COLUMNS, New, ROWS, Sums, put, vector, vector_mut, vectors};

use super::groups::{BLOCK, Group, Work, queries};
use super::turned::turn;

/// The shares of a panel's keys, from their scores, computed again.
#[inline(always)]
pub(super) fn shares<S: Simd>(
    simd: S,
    group: &Group<'_>,
    k_panel: &[f32],
    d_k: usize,
    block: &KeyBlock,
    added: &mut [f32],
    to: &mut [f32],
) {
    let lanes = vectors::<S>(block.rows.clone());
    let is_open = group.mask.is_open(block.keys());
    if !is_open {
        added_to_scores(simd, group, block, added);
    }
    for first in queries(&group.part) {
        let rows = &mut to[first * ROWS..][..COLUMNS * ROWS];
        let q = &group.q[first..];
        if is_open {
            let sums = &mut Shares { normalisers: group.normalisers, first, to: rows };
            product(simd, k_panel, q, d_k, &lanes, sums);
        } else {
            product(simd, k_panel, q, d_k, &lanes, &mut New(rows));
            let added = &added[first * ROWS..];
            masked_to_shares(simd, added, group.normalisers, first, &lanes, rows);
        }
    }
}

/// What the mask adds to the scores of a block, −∞ where it blocks: `[query][48 keys]`, and
/// behind it the same as the mask writes it, `[key][48 queries]`.
#[inline(always)]
fn added_to_scores<S: Simd>(
    simd: S,
    group: &Group<'_>,
    block: &KeyBlock,
    added: &mut [f32],
) {
    let (turned, by_key) = added.split_at_mut(BLOCK);
    by_key.fill(0.0);
    apply(&group.mask, &group.part.lanes, block, by_key);
    let key = |j: usize| &by_key[j * ROWS..][..ROWS];
    turn::<S, ROWS>(simd, ROWS, key, turned.as_chunks_mut().0);
}

/// Scores of 8 queries with a mask on them, to shares: what is blocked is −∞, whatever it
/// was.
#[inline(always)]
fn masked_to_shares<S: Simd>(
    simd: S,
    added: &[f32],
    normalisers: Normalisers<'_>,
    first: usize,
    lanes: &Range<usize>,
    to: &mut [f32],
) {
    let blocked = simd.splat_f32s(f32::NEG_INFINITY);
    for row in 0..COLUMNS {
        for v in lanes.clone() {
            let added = vector::<S>(added, row, v);
            let score = vector_mut::<S>(to, row, v);
            let is_blocked = simd.equal_f32s(added, blocked);
            let sum = simd.add_f32s(*score, added);
            let masked = simd.select_f32s(is_blocked, blocked, sum);
            *score = share(simd, masked, normalisers, first + row);
        }
    }
}

#[inline(always)]
fn share<S: Simd>(
    simd: S,
    score: S::f32s,
    Normalisers { references, factors }: Normalisers<'_>,
    query: usize,
) -> S::f32s {
    let reference = simd.splat_f32s(references[query]);
    let share = exp2(simd, simd.sub_f32s(score, reference));
    simd.mul_f32s(share, simd.splat_f32s(factors[query]))
}

/// Shares of 8 queries from `first` on, `[8][48]`, made of their scores in registers.
struct Shares<'a> {
    normalisers: Normalisers<'a>,
    first: usize,
    to: &'a mut [f32],
}

impl<S: Simd> Sums<S> for Shares<'_> {
    #[inline(always)]
    fn done<const N: usize>(&mut self, simd: S, j: usize, v: usize, sums: [S::f32s; N]) {
        let mut shares = sums;
        for i in 0..N {
            shares[i] = share(simd, sums[i], self.normalisers, self.first + j + i);
        }
        put::<S, N>(self.to, j, v, shares);
    }
}

/// The gradients of a panel's scores, from those of the heads' outputs.
#[inline(always)]
pub(super) fn d_scores<S: Simd>(
    simd: S,
    group: &Group<'_>,
    v_panel: &[f32],
    d_v: usize,
    lanes: &Range<usize>,
    Work { shares, d_scores, .. }: &mut Work<'_>,
) {
    for first in queries(&group.part) {
        let rows = first * ROWS..(first + COLUMNS) * ROWS;
        let sums = &mut ScoreGradients {
            deltas: &group.deltas[first..],
            shares: &shares[rows.clone()],
            to: &mut d_scores[rows],
        };
        product(simd, v_panel, &group.d_head[first..], d_v, lanes, sums);
    }
}

/// The gradients of 8 queries' scores, `[8][48]`:
/// `d_score = share · (d_share − Σ d_share · share)`.
struct ScoreGradients<'a> {
    deltas: &'a [f32],
    shares: &'a [f32],
    to: &'a mut [f32],
}

impl<S: Simd> Sums<S> for ScoreGradients<'_> {
    #[inline(always)]
    fn done<const N: usize>(&mut self, simd: S, j: usize, v: usize, sums: [S::f32s; N]) {
        let zero = simd.splat_f32s(0.0);
        let mut gradients = sums;
        for i in 0..N {
            let share = vector::<S>(self.shares, j + i, v);
            // What was not read has no gradient, whatever stands there.
            let not_read = simd.equal_f32s(share, zero);
            // Off last: where a query reads one key alone, its delta is this very sum, and
            // nothing is left, not even of the last digit.
            let rest = simd.sub_f32s(sums[i], simd.splat_f32s(self.deltas[j + i]));
            let product = simd.mul_f32s(share, rest);
            gradients[i] = simd.select_f32s(not_read, zero, product);
        }
        put::<S, N>(self.to, j, v, gradients);
    }
}
