//! Back through attention: one head of one sequence, some groups of 48 queries against one
//! panel of 48 keys at a time.
//!
//! Everything here has the keys side by side, `[query][48 keys]`, where the forward pass
//! has the queries. So the gradients of keys and values come out as panels, like the keys
//! and values themselves; each is one sum over all queries of the groups, and only those of
//! the queries need the keys turned round. At the end all are laid out in strips.

use std::f32::consts::LN_2;
use std::ops::Range;

use attention::Dims;
use pulp::{Simd, WithSimd};

use super::strips::to_strip;
use super::turned::turn;
use crate::block_mask::BlockMask;
use crate::exp2::exp2;
use crate::packed::blocks::{KeyBlock, Keys, Part, apply, product};
use crate::packed::memory::{Aligned, Scratch};
use crate::packed::panels::{n_groups, round_up};
use crate::packed::running::Normalisers;
use crate::packed::units::{Block, Blocks};
use crate::packed::weights::rows_per_head;
use crate::tile::{
    AddTo, COLUMNS, New, ROWS, Segment, Sums, WIDTH, put, tile, vector, vector_mut,
    vectors,
};
use crate::{Inputs, Lengths};

/// Groups of queries that meet a panel of keys together: what is read and written of keys,
/// values and their gradients then serves all of them. What they need meanwhile, 60 KiB
/// each where a head has 64 features, stays in the second cache.
const GROUPS: usize = 8;

/// The numbers of 48 queries and 48 keys.
const BLOCK: usize = ROWS * ROWS;

/// The gradients of queries, keys and values from those of the heads' outputs.
pub(crate) struct AttendBackward<'a> {
    pub(crate) kept: Kept<'a>,
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) lengths: Lengths,
    /// Of queries, keys and values, as [`Strips`](super::strips::Strips): each block is one
    /// head and sequence.
    pub(crate) blocks: &'a Blocks<'a, 3>,
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
    pub(crate) normalisers: &'a [f32],
    pub(crate) d_heads: &'a [f32],
}

/// What is known of 48 queries of one head.
struct Group<'a> {
    part: Part,
    mask: BlockMask<'a>,
    /// `[d_k][48]`.
    q: &'a [f32],
    normalisers: Normalisers<'a>,
    /// `[d_v][48]`.
    d_head: &'a [f32],
    /// `Σ_f d_head · head` of each query, which is `Σ_j d_attn_j · attn_j` too: what
    /// softmax takes from each of a row's gradients.
    deltas: [f32; ROWS],
}

/// The memory of one group: its shares, `[query][48 keys]`, the gradients of its scores,
/// likewise, and those of its queries, `[features / 48][query][48]`.
struct Work<'a> {
    shares: &'a mut [f32],
    d_scores: &'a mut [f32],
    dq: &'a mut [f32],
}

impl WithSimd for AttendBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { kept, inputs, lengths, blocks, scratch } = self;
        let Kept { dims, k, v, .. } = kept;
        while let Some([mut dq, mut dk, mut dv]) = blocks.take() {
            let head = dq.columns().start / dims.d_k().div_ceil(WIDTH);
            let s = dq.rows().start / (lengths.n_q * WIDTH);
            let mask = inputs.mask(s).of_head(head);
            let keys = Keys { dims, head, lengths, k, v, mask: &mask };
            let panels = groups(s, lengths.n_kv);
            let lens =
                [dims.d_k(), dims.d_v()].map(|d| round_up(d) * ROWS * panels.len());
            let both = scratch.gradients.take(lens[0] + lens[1]);
            both.fill(0.0);
            let (dk_panels, dv_panels) = both.split_at_mut(lens[0]);

            let queries = groups(s, lengths.n_q);
            for first in queries.clone().step_by(GROUPS) {
                let some = first..queries.end.min(first + GROUPS);
                let mut groups = [const { None }; GROUPS];
                for (group, number) in groups.iter_mut().zip(some) {
                    *group = Some(kept.group(simd, &keys, s, number));
                }
                let work = (&mut scratch.scores, &mut scratch.out, &mut scratch.x);
                let to = [&mut *dk_panels, &mut *dv_panels];
                let work = against_all_keys(simd, s, &groups, &keys, work, to);
                for (group, work) in groups.iter().zip(&work) {
                    if let (Some(group), Some(work)) = (group, work) {
                        queries_to_strips(&group.part, work.dq, dims.d_k(), &mut dq);
                    }
                }
            }
            // A score counts in powers of two: q holds the factor log2 e.
            panels_to_strips(simd, s, dk_panels, LN_2, &mut dk);
            panels_to_strips(simd, s, dv_panels, 1.0, &mut dv);
        }
    }
}

/// The groups of 48 that sequence `s` has tokens of.
fn groups(s: usize, n_tokens: usize) -> Range<usize> {
    s * n_tokens / ROWS..n_groups((s + 1) * n_tokens)
}

impl<'a> Kept<'a> {
    /// The queries of sequence `s` among those of group `number`.
    #[inline(always)]
    fn group<S: Simd>(
        &self,
        simd: S,
        keys: &Keys<'a>,
        s: usize,
        number: usize,
    ) -> Group<'a> {
        let at = number * self.dims.n_heads() + keys.head;
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
        let part = Part::of_sequence(s, number, keys.lengths);
        let mask = keys.mask_of(&part);
        let normalisers = Normalisers::of(self.normalisers, at);
        let q = &self.q[at * len..][..len];
        Group { part, mask, q, normalisers, d_head, deltas }
    }
}

/// All keys of sequence `s` that these groups may attend to. What they came to is in the
/// work that is given back.
#[inline(always)]
fn against_all_keys<'b, S: Simd>(
    simd: S,
    s: usize,
    groups: &[Option<Group<'_>>; GROUPS],
    keys: &Keys<'_>,
    (scores, dqs, x): (&'b mut Aligned, &'b mut Aligned, &mut Aligned),
    [dk, dv]: [&mut [f32]; 2],
) -> [Option<Work<'b>>; GROUPS] {
    let (d_k, d_v) = (keys.dims.d_k(), keys.dims.d_v());
    let d_k_blocks = d_k.div_ceil(ROWS) * BLOCK;
    let n_groups = groups.iter().flatten().count();
    let mut blocks = scores.take(2 * n_groups * BLOCK).chunks_exact_mut(BLOCK);
    let dqs = dqs.take(n_groups * d_k_blocks);
    dqs.fill(0.0);
    let mut dqs = dqs.chunks_exact_mut(d_k_blocks);
    let mut work = std::array::from_fn(|_| {
        let (shares, d_scores) = (blocks.next()?, blocks.next()?);
        Some(Work { shares, d_scores, dq: dqs.next()? })
    });
    let (k_turned, added) = x.take(d_k_blocks + 2 * BLOCK).split_at_mut(d_k_blocks);
    let panels =
        [(dk, d_k), (dv, d_v)].map(|(to, d)| to.chunks_exact_mut(round_up(d) * ROWS));

    let all = keys.rows_of(s, 0..keys.lengths.n_kv);
    let [dk, dv] = panels;
    for ((block, dk), dv) in keys.blocks(s, all, 1).zip(dk).zip(dv) {
        let sees = |group: &&Group<'_>| {
            let (visible, keys) = (group.mask.visible(), block.keys());
            visible.start < keys.end && keys.start < visible.end
        };
        let panel = block.first_panel;
        let (k_panel, v_panel) = (keys.k_panel(panel), keys.v_panel(panel));
        let lanes = vectors::<S>(block.rows.clone());
        let mut of_values = [Segment::default(); GROUPS];
        let mut of_keys = [Segment::default(); GROUPS];
        let mut n_seen = 0;
        for (group, work) in groups.iter().zip(&mut work) {
            let (Some(group), Some(work)) = (group.as_ref().filter(sees), work) else {
                continue;
            };
            if n_seen == 0 {
                let feature = |at: usize| &k_panel[at * ROWS..][..ROWS];
                turn_features(simd, d_k, feature, k_turned);
            }
            // let scores = q_i * k_i.transpose() / sqrt_d_k; let attn_i = softmax_rows(…);
            shares(simd, group, k_panel, d_k, &block, added, work.shares);
            // let head_i = weighted_values(&attn_i, v_i);
            d_scores(simd, group, v_panel, d_v, &lanes, work);
            add_to_queries(simd, group, k_turned, &block, d_k, work);
            let (first, depth) = (group.part.lanes.start, group.part.lanes.len());
            let (p, d) = (&work.shares[first * ROWS..], &work.d_scores[first * ROWS..]);
            of_values[n_seen] = Segment { a: p, b: &group.d_head[first..], depth };
            of_keys[n_seen] = Segment { a: d, b: &group.q[first..], depth };
            n_seen += 1;
        }
        add_to_keys(simd, &mut of_keys[..n_seen], &lanes, dk);
        add_to_keys(simd, &mut of_values[..n_seen], &lanes, dv);
    }
    work
}

/// The shares of a panel's keys, from their scores, computed again.
#[inline(always)]
fn shares<S: Simd>(
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
            mask_scores(simd, &added[first * ROWS..], &lanes, rows);
            to_shares(simd, group.normalisers, first, &lanes, rows);
        }
    }
}

/// The first of each 8 queries that have one of this part.
#[inline(always)]
fn queries(part: &Part) -> impl Iterator<Item = usize> + use<> {
    (part.lanes.start / COLUMNS * COLUMNS..part.lanes.end).step_by(COLUMNS)
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

/// Scores with a mask on them: what is blocked is −∞, whatever it was.
#[inline(always)]
fn mask_scores<S: Simd>(simd: S, added: &[f32], lanes: &Range<usize>, to: &mut [f32]) {
    let blocked = simd.splat_f32s(f32::NEG_INFINITY);
    for row in 0..COLUMNS {
        for v in lanes.clone() {
            let added = vector::<S>(added, row, v);
            let score = vector_mut::<S>(to, row, v);
            let sum = simd.add_f32s(*score, added);
            *score = simd.select_f32s(simd.equal_f32s(added, blocked), blocked, sum);
        }
    }
}

/// Scores of 8 queries to shares.
#[inline(always)]
fn to_shares<S: Simd>(
    simd: S,
    normalisers: Normalisers<'_>,
    first: usize,
    lanes: &Range<usize>,
    to: &mut [f32],
) {
    for row in 0..COLUMNS {
        for v in lanes.clone() {
            let score = vector_mut::<S>(to, row, v);
            *score = share(simd, *score, normalisers, first + row);
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
    fn start(&mut self, simd: S, _: usize, _: usize) -> S::f32s {
        simd.splat_f32s(0.0)
    }

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
fn d_scores<S: Simd>(
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

// ANCHOR: to_gradients
/// The gradients of 8 queries' scores, `[8][48]`:
/// `d_score = share · (d_share − Σ d_share · share)`.
struct ScoreGradients<'a> {
    deltas: &'a [f32],
    shares: &'a [f32],
    to: &'a mut [f32],
}

impl<S: Simd> Sums<S> for ScoreGradients<'_> {
    #[inline(always)]
    fn start(&mut self, simd: S, _: usize, _: usize) -> S::f32s {
        simd.splat_f32s(0.0)
    }

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
// ANCHOR_END: to_gradients

/// `dq[query] += Σ_key d_score[query, key] · k[key]`, features side by side.
#[inline(always)]
fn add_to_queries<S: Simd>(
    simd: S,
    group: &Group<'_>,
    k_turned: &[f32],
    block: &KeyBlock,
    d_k: usize,
    Work { d_scores, dq, .. }: &mut Work<'_>,
) {
    let depth = block.rows.len();
    let blocks = k_turned.chunks_exact(BLOCK).zip(dq.chunks_exact_mut(BLOCK));
    for (at, (k, dq)) in blocks.enumerate() {
        let features = vectors::<S>(0..(d_k - at * ROWS).min(ROWS));
        for first in queries(&group.part) {
            let a = &k[block.rows.start * ROWS..];
            let b = &d_scores[first * ROWS + block.rows.start..];
            let to = &mut dq[first * ROWS..][..COLUMNS * ROWS];
            let segment = Segment { a, b, depth };
            tile::<S, 1, ROWS>(simd, features.clone(), &[segment], &mut AddTo(to));
        }
    }
}

/// `to[feature, key] += Σ_query a[query, key] · b[feature, query]`, over all groups.
#[inline(always)]
fn add_to_keys<S: Simd>(
    simd: S,
    groups: &mut [Segment<'_>],
    lanes: &Range<usize>,
    to: &mut [f32],
) {
    for to in to.chunks_exact_mut(COLUMNS * ROWS) {
        tile::<S, 1, ROWS>(simd, lanes.clone(), groups, &mut AddTo(to));
        for segment in &mut *groups {
            segment.b = segment.b.get(COLUMNS * ROWS..).unwrap_or_default();
        }
    }
}

/// Features of 48 tokens each to `[feature / 48][token][48]`.
#[inline(always)]
fn turn_features<'a, S: Simd>(
    simd: S,
    n_features: usize,
    feature: impl Fn(usize) -> &'a [f32],
    to: &mut [f32],
) {
    for (at, rows) in to.chunks_exact_mut(BLOCK).enumerate() {
        let first = at * ROWS;
        let n = (n_features - first).min(ROWS);
        turn::<S, ROWS>(simd, n, |j| feature(first + j), rows.as_chunks_mut().0);
    }
}

/// `[features / 48][query][48]` of a group to the strips of its sequence.
#[inline(always)]
fn queries_to_strips(part: &Part, dq: &[f32], d_k: usize, strips: &mut Block<'_>) {
    let factor = 1.0 / (d_k as f32).sqrt();
    for (nth, strip) in strips.columns().enumerate() {
        let (at, column) = (nth * WIDTH / ROWS * BLOCK, nth * WIDTH % ROWS);
        let to = &mut strips.column(strip)[part.queries.start * WIDTH..];
        for (lane, to) in part.lanes.clone().zip(to.as_chunks_mut::<WIDTH>().0) {
            let from = &dq[at + lane * ROWS + column..][..WIDTH];
            for i in 0..WIDTH {
                to[i] = from[i] * factor;
            }
        }
    }
}

/// `[panel][feature][48]` of sequence `s` to its strips, times a factor.
#[inline(always)]
fn panels_to_strips<S: Simd>(
    simd: S,
    s: usize,
    panels: &[f32],
    factor: f32,
    strips: &mut Block<'_>,
) {
    let len = strips.columns().len() * WIDTH * ROWS;
    let tokens = strips.rows().start / WIDTH..strips.rows().end / WIDTH;
    for (group, panel) in groups(s, tokens.len()).zip(panels.chunks_exact(len)) {
        let here = tokens.start.max(group * ROWS)..tokens.end.min((group + 1) * ROWS);
        let lanes = here.start - group * ROWS..here.end - group * ROWS;
        for (strip, rows) in strips.columns().zip(panel.chunks_exact(WIDTH * ROWS)) {
            let first = (here.start - tokens.start) * WIDTH;
            let to = &mut strips.column(strip)[first..][..here.len() * WIDTH];
            to_strip(simd, rows, lanes.clone(), factor, to);
        }
    }
}
