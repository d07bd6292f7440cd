//! Back through attention: one head of one sequence, some groups of 48 queries against one
//! panel of 48 keys at a time.
//!
//! Everything here has the keys side by side, `[query][48 keys]`, where the forward pass
//! has the queries. So the gradients of keys and values come out as panels, like the keys
//! and values themselves; each is one sum over all queries of the groups, and only those of
//! the queries need the keys turned round. At the end all are laid out in strips.

use std::f32::consts::LN_2;

use pulp::{Simd, WithSimd};
use tiles::Lengths;
use tiles::blocks::{KeyBlock, Keys, add_products};
use tiles::memory::{Aligned, Scratch};
use tiles::panels::{HeadPanels, groups_of, round_up};
use tiles::prefetch::Ahead;
use tiles::queue::Blocks;
use tiles::tile::{AddTo, COLUMNS, ROWS, Segment, WIDTH, tile, vectors};

use super::groups::{BLOCK, Group, Intermediates, Work, queries};
use super::shares::{d_scores, shares};
use super::strips::{panels_to_strips, queries_to_strips};
use super::turned::turn;
use crate::Inputs;

/// Groups of queries that meet a panel of keys together: what is read and written of keys,
/// values and their gradients then serves all of them. What they need meanwhile, 60 KiB
/// each where a head has 64 features, stays in the second cache.
const GROUPS: usize = 8;

/// The gradients of queries, keys and values from those of the heads' outputs.
pub(crate) struct AttendBackward<'a> {
    pub(crate) kept: Intermediates<'a>,
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) lengths: Lengths,
    /// Of queries, keys and values, as [`Strips`](super::strips::Strips): each block is one
    /// head and sequence.
    pub(crate) blocks: &'a Blocks<'a, 3>,
    pub(crate) scratch: &'a mut Scratch,
}

impl WithSimd for AttendBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { kept, inputs, lengths, blocks, scratch } = self;
        let Intermediates { dims, k, v, .. } = kept;
        while let Some([mut dq, mut dk, mut dv]) = blocks.take() {
            let head = dq.columns().start / dims.d_k().div_ceil(WIDTH);
            let s = dq.rows().start / (lengths.n_q * WIDTH);
            let mask = inputs.mask(s).of_head(head);
            let [k, v] = HeadPanels::of_layer(dims, head, [k, v]);
            let keys = Keys { dims, head, lengths, positions: None, k, v, mask: &mask };
            let panels = groups_of(s, lengths.n_kv);
            let lens =
                [dims.d_k(), dims.d_v()].map(|d| round_up(d) * ROWS * panels.len());
            let both = scratch.gradients.take(lens[0] + lens[1]);
            both.fill(0.0);
            let (dk_panels, dv_panels) = both.split_at_mut(lens[0]);

            let queries = groups_of(s, lengths.n_q);
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

    let all = keys.rows_of(s, 0..keys.lengths.n_kv);
    for (nth, block) in keys.blocks(s, all, 1).enumerate() {
        let (dk, next_dk) = panel_and_next(dk, nth, d_k);
        let (dv, next_dv) = panel_and_next(dv, nth, d_v);
        let [next_k, next_v] = [0, 1].map(|of| keys.panel_behind(&block, of, 1));
        let ahead = [next_k, next_v, next_dk, next_dv];
        let ahead = ahead.map(|panel| Ahead::new(panel, n_groups));
        let panel = block.first_panel;
        let (k_panel, v_panel) = (keys.k_panel(panel), keys.v_panel(panel));
        let lanes = vectors::<S>(block.rows.clone());
        let mut of_values = [Segment::default(); GROUPS];
        let mut of_keys = [Segment::default(); GROUPS];
        let mut n_seen = 0;
        for (i, (group, work)) in groups.iter().zip(&mut work).enumerate() {
            let seen = group.as_ref().filter(|group| sees(group, &block));
            let (Some(group), Some(work)) = (seen, work) else { continue };
            // Each group asks for its part of what the next keys need.
            ahead.iter().for_each(|panel| panel.row(i));
            if n_seen == 0 {
                turn_panel(simd, k_panel, d_k, k_turned);
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
        add_products(simd, &mut of_keys[..n_seen], &lanes, dk);
        add_products(simd, &mut of_values[..n_seen], &lanes, dv);
    }
    work
}

/// Whether a query of this group may attend to a key of this block.
#[inline(always)]
fn sees(group: &Group<'_>, block: &KeyBlock) -> bool {
    let (visible, keys) = (group.mask.visible(), block.keys());
    visible.start < keys.end && keys.start < visible.end
}

/// A panel of gradients, of `d` features, and the one behind it, empty if there is none.
#[inline(always)]
fn panel_and_next(panels: &mut [f32], nth: usize, d: usize) -> (&mut [f32], &[f32]) {
    let len = round_up(d) * ROWS;
    let (panel, behind) = panels[nth * len..].split_at_mut(len);
    (panel, &behind[..len.min(behind.len())])
}

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

/// `[feature][48]` to `[feature / 48][lane][48]`.
#[inline(always)]
fn turn_panel<S: Simd>(simd: S, panel: &[f32], n_features: usize, to: &mut [f32]) {
    for (at, rows) in to.chunks_exact_mut(BLOCK).enumerate() {
        let first = at * ROWS;
        let feature = |j: usize| &panel[(first + j) * ROWS..][..ROWS];
        let n = (n_features - first).min(ROWS);
        turn::<S, ROWS>(simd, n, feature, rows.as_chunks_mut().0);
    }
}
