//! Back through attention: one head of one sequence, 48 queries against 48 keys at a time.

use std::f32::consts::LN_2;
use std::ops::Range;

use attention::Dims;
use pulp::{Simd, WithSimd};

use super::strips::Strips;
use super::turned::turn;
use crate::exp2::exp2;
use crate::packed::blocks::{KeyBlock, Keys, Part, products};
use crate::packed::memory::Scratch;
use crate::packed::panels::{n_groups, round_up};
use crate::packed::units::Queue;
use crate::packed::weights::rows_per_head;
use crate::tile::{
    AddTo, COLUMNS, ROWS, Segment, Sums, load, store, tile, vector, vector_mut, vectors,
};
use crate::{Inputs, Lengths};

/// The gradients of queries, keys and values from those of the heads' outputs.
pub(crate) struct AttendBackward<'a> {
    pub(crate) kept: Kept<'a>,
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) lengths: Lengths,
    /// Of queries, keys and values, `[head][sequence]`, strips each.
    pub(crate) queue: &'a Queue<'a, 3>,
    pub(crate) scratch: &'a mut Scratch,
}

/// What the forward pass kept, and the gradients of the heads' outputs.
#[derive(Clone, Copy)]
pub(crate) struct Kept<'a> {
    pub(crate) dims: Dims,
    pub(crate) q: &'a [f32],
    pub(crate) k: &'a [f32],
    pub(crate) v: &'a [f32],
    pub(crate) concat: &'a [f32],
    pub(crate) log_sums: &'a [f32],
    pub(crate) d_heads: &'a [f32],
}

/// What is known of 48 queries of one head.
struct Group<'a> {
    q: &'a [f32],
    /// `log2 Σ 2^score` of each query.
    log_sums: &'a [f32],
    d_head: &'a [f32],
    /// `Σ_f d_head · head` of each query, which is `Σ_j d_attn_j · attn_j` too: what
    /// softmax takes from each of a row's gradients.
    deltas: [f32; ROWS],
}

impl WithSimd for AttendBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { kept, inputs, lengths, queue, scratch } = self;
        let Kept { dims, k, v, .. } = kept;
        while let Some((piece, [dq, dk, dv])) = queue.take() {
            let (head, s) = (piece / lengths.n_sequences, piece % lengths.n_sequences);
            dq.fill(0.0);
            dk.fill(0.0);
            dv.fill(0.0);
            let mask = inputs.mask(s).of_head(head);
            let keys = Keys { dims, head, lengths, k, v, mask: &mask };
            let of_sequence = s * lengths.n_q..(s + 1) * lengths.n_q;
            for g in of_sequence.start / ROWS..n_groups(of_sequence.end) {
                let part = Part::of_sequence(s, g, lengths);
                let at = g * dims.n_heads() + head;
                one_group(
                    simd,
                    &kept.group(simd, at),
                    &part,
                    &keys,
                    scratch,
                    [dq, dk, dv],
                );
            }
        }
    }
}

impl<'a> Kept<'a> {
    /// Group and head number `at`.
    #[inline(always)]
    fn group<S: Simd>(&self, simd: S, at: usize) -> Group<'a> {
        let (len, d_len) =
            (rows_per_head(self.dims) * ROWS, round_up(self.dims.d_v()) * ROWS);
        let d_head = &self.d_heads[at * d_len..][..d_len];
        let head = &self.concat[at * len..][..len];
        let mut deltas = [0.0; ROWS];
        let sums = S::as_mut_simd_f32s(&mut deltas).0;
        for feature in 0..self.dims.d_v() {
            for (v, sum) in sums.iter_mut().enumerate() {
                let (d, x) =
                    (vector::<S>(d_head, feature, v), vector::<S>(head, feature, v));
                *sum = simd.mul_add_e_f32s(d, x, *sum);
            }
        }
        let log_sums = &self.log_sums[at * ROWS..][..ROWS];
        Group { q: &self.q[at * len..][..len], log_sums, d_head, deltas }
    }
}

#[inline(always)]
fn one_group<S: Simd>(
    simd: S,
    group: &Group<'_>,
    part: &Part,
    keys: &Keys<'_>,
    scratch: &mut Scratch,
    [dq, dk, dv]: [&mut [f32]; 3],
) {
    let (d_k, d_v) = (keys.dims.d_k(), keys.dims.d_v());
    let n_kv = keys.lengths.n_kv;
    let in_use = vectors::<S>(part.lanes.clone());
    let [k_turned, v_turned] = [d_k, d_v].map(|d| d.div_ceil(ROWS) * ROWS * ROWS);
    let (q_turned, d_head_turned) =
        scratch.x.take(k_turned + v_turned).split_at_mut(k_turned);
    turn_panel(group.q, d_k, LN_2, q_turned);
    turn_panel(group.d_head, d_v, 1.0, d_head_turned);
    let (shares, d_scores) =
        scratch.scores.take(2 * ROWS * ROWS).split_at_mut(ROWS * ROWS);
    let dq_panel = scratch.out.take(round_up(d_k) * ROWS);
    dq_panel.fill(0.0);

    let of_keys = Strips { features: d_k, tokens: n_kv };
    let of_values = Strips { features: d_v, tokens: n_kv };
    for block in keys.blocks(part.sequence, keys.visible(part), 1) {
        let (k_panel, v_panel) = block
            .panels()
            .map(|(p, ..)| (keys.k_panel(p), keys.v_panel(p)))
            .next()
            .expect("a block has a panel");
        // let scores = q_i * k_i.transpose() / sqrt_d_k; let attn_i = softmax_rows(…);
        products(simd, group.q, |_| k_panel, d_k, &block, &in_use, shares);
        keys.mask(part, &block, shares);
        // let head_i = weighted_values(&attn_i, v_i);
        products(simd, group.d_head, |_| v_panel, d_v, &block, &in_use, d_scores);
        to_gradients(simd, group, &block, &in_use, shares, d_scores);

        add_turned(simd, d_head_turned, shares, part, &block, of_values, dv);
        add_turned(simd, q_turned, d_scores, part, &block, of_keys, dk);
        add_queries(simd, k_panel, d_scores, &block, &in_use, dq_panel);
    }
    let strips = Strips { features: d_k, tokens: keys.lengths.n_q };
    let factor = 1.0 / (d_k as f32).sqrt();
    for (lane, query) in part.lanes.clone().zip(part.queries.clone()) {
        for feature in 0..d_k {
            dq[strips.at(query, feature)] = dq_panel[feature * ROWS + lane] * factor;
        }
    }
}

/// `[feature][48]` to `[feature / 48][lane][48]`, times a factor.
#[inline(always)]
fn turn_panel(panel: &[f32], n_features: usize, factor: f32, to: &mut [f32]) {
    for (at, rows) in to.chunks_exact_mut(ROWS * ROWS).enumerate() {
        let features = at * ROWS..((at + 1) * ROWS).min(n_features);
        let columns = &panel[features.start * ROWS..features.end * ROWS];
        turn::<ROWS>(columns.chunks_exact(ROWS), rows.as_chunks_mut().0);
        rows.iter_mut().for_each(|x| *x *= factor);
    }
}

// ANCHOR: to_gradients
/// Scores to shares, and the gradients of shares to those of scores:
/// `d_score = share · (d_share − Σ d_share · share)`.
#[inline(always)]
fn to_gradients<S: Simd>(
    simd: S,
    group: &Group<'_>,
    block: &KeyBlock,
    in_use: &Range<usize>,
    shares: &mut [f32],
    d_scores: &mut [f32],
) {
    let log_sums = S::as_simd_f32s(group.log_sums).0;
    let deltas = S::as_simd_f32s(&group.deltas).0;
    for row in block.rows.clone() {
        for v in in_use.clone() {
            let share =
                exp2(simd, simd.sub_f32s(vector::<S>(shares, row, v), log_sums[v]));
            *vector_mut::<S>(shares, row, v) = share;
            let d = vector_mut::<S>(d_scores, row, v);
            let d_score = simd.mul_f32s(share, simd.sub_f32s(*d, deltas[v]));
            // What was not read has no gradient, whatever stands there.
            let zero = simd.splat_f32s(0.0);
            *d = simd.select_f32s(simd.equal_f32s(share, zero), zero, d_score);
        }
    }
}
// ANCHOR_END: to_gradients

/// `to[key] += Σ_query b[key, query] · a[query]`, features side by side.
#[inline(always)]
fn add_turned<S: Simd>(
    simd: S,
    a: &[f32],
    b: &[f32],
    part: &Part,
    block: &KeyBlock,
    strips: Strips,
    to: &mut [f32],
) {
    for (at, a) in a.chunks_exact(ROWS * ROWS).enumerate() {
        let features = at * ROWS..((at + 1) * ROWS).min(strips.features);
        for row in block.first_rows() {
            let segment = Segment {
                a: &a[part.lanes.start * ROWS..],
                b: &b[row * ROWS + part.lanes.start..],
                depth: part.lanes.len(),
            };
            let lanes = vectors::<S>(0..features.len());
            let first = features.start;
            let sums = &mut AddToKeys { block, row, strips, first, to: &mut *to };
            tile::<S, 1, ROWS>(simd, lanes, &[segment], sums);
        }
    }
}

/// The strips of 8 keys from `row` on, features from `first` on.
struct AddToKeys<'a> {
    block: &'a KeyBlock,
    row: usize,
    strips: Strips,
    first: usize,
    to: &'a mut [f32],
}

impl AddToKeys<'_> {
    /// Where vector `v` of key `j` stands, if that row is in use.
    #[inline(always)]
    fn place<S: Simd>(&self, j: usize, v: usize) -> Option<Range<usize>> {
        let key = (self.row + j).checked_sub(self.block.rows.start)?;
        let token = self.block.keys().start + key;
        let here = self.strips.at(token, self.first + v * S::F32_LANES);
        (self.row + j < self.block.rows.end).then_some(here..here + S::F32_LANES)
    }
}

impl<S: Simd> Sums<S> for AddToKeys<'_> {
    #[inline(always)]
    fn start(&self, simd: S, j: usize, v: usize) -> S::f32s {
        match self.place::<S>(j, v) {
            Some(here) => load(simd, &self.to[here]),
            None => simd.splat_f32s(0.0),
        }
    }

    #[inline(always)]
    fn done<const N: usize>(&mut self, simd: S, j: usize, v: usize, sums: [S::f32s; N]) {
        for i in 0..N {
            if let Some(here) = self.place::<S>(j + i, v) {
                store(simd, &mut self.to[here], sums[i]);
            }
        }
    }
}

/// `to[feature][query] += Σ_key d_score[key, query] · k[feature, key]`.
#[inline(always)]
fn add_queries<S: Simd>(
    simd: S,
    k: &[f32],
    d_scores: &[f32],
    block: &KeyBlock,
    in_use: &Range<usize>,
    to: &mut [f32],
) {
    for (at, to) in to.chunks_exact_mut(COLUMNS * ROWS).enumerate() {
        let segment = Segment {
            a: &d_scores[block.rows.start * ROWS..],
            b: &k[at * COLUMNS * ROWS + block.rows.start..],
            depth: block.rows.len(),
        };
        tile::<S, 1, ROWS>(simd, in_use.clone(), &[segment], &mut AddTo(to));
    }
}
