//! Attention itself: groups of 48 queries of one head, and all of their keys, block after
//! block.
//!
//! A few groups go through the keys together, so that a block of keys and values that has
//! come from memory serves all of them.

use std::ops::Range;

use attention::{Dims, Mask, Positions};
use pulp::{Simd, WithSimd};

use crate::Lengths;
use crate::blocks::{KeyBlock, Keys, Part, add_products, apply, product, products};
use crate::groups::{Group, Lanes, sequences, visible};
use crate::memory::Scratch;
use crate::non_finite;
use crate::panels::{HeadPanels, round_up};
use crate::prefetch::prefetch;
use crate::queue::{Order, Queue};
use crate::running::{Normalisers, Shares};
use crate::tile::{COLUMNS, ROWS, Segment, vectors};

/// Panels of 48 keys a block. Its scores are 36 KiB, and stay in the nearest caches.
const PANELS: usize = 4;

/// Tiles of keys a block.
const TILES: usize = PANELS * ROWS / COLUMNS;

/// Groups of queries that go through the keys together, as many as a block has panels of
/// keys and of values. What they keep meanwhile, 24 KiB each where a head has 64 features,
/// stays in the second cache.
pub const GROUPS: usize = 2 * PANELS;

/// How many runs of groups a thread has to do in the attention, where there is enough to
/// do: the more, the sooner all threads are done together; the fewer, the more often a
/// thread finds its keys and values in its own cache.
const UNITS_A_THREAD: usize = 48;

/// Groups a run, at most.
const LONGEST_RUN: usize = 16;

/// The keys and values of a head of queries: its own, or those that it shares.
pub type PanelsOf<'a> = dyn Fn(usize) -> [HeadPanels<'a>; 2] + Sync + 'a;

/// The heads' outputs, where their queries were.
pub struct Attend<'a, 'p> {
    /// The sizes of the layer.
    pub dims: Dims,
    /// One for all sequences, or one a sequence.
    pub masks: &'a [Mask],
    /// How many sequences, queries and keys there are.
    pub lengths: Lengths,
    /// Of what the queries and keys are a part. The outputs then join those that stand in
    /// their place, of other keys; `None` where these keys are all.
    pub positions: Option<&'a Positions>,
    /// Queries, `[group][head][rows of a head][48]`; without them, they stand where the
    /// outputs go.
    pub q: Option<&'a [f32]>,
    /// The keys and values that a head of queries reads.
    pub panels: &'a PanelsOf<'p>,
    /// Outputs, `[group][head][rows of a head][48]`, and what makes shares of scores,
    /// `[group][head]` of [`Normalisers`].
    pub queue: &'a Queue<'a, 2>,
    /// What this thread works in.
    pub scratch: &'a mut Scratch,
}

/// The order of so many groups of queries, of all heads.
pub fn in_runs(n_pieces: usize, dims: Dims, n_threads: usize) -> Order {
    let run = (n_pieces / (UNITS_A_THREAD * n_threads)).clamp(1, LONGEST_RUN);
    Order::ByHead { n_heads: dims.n_heads(), run }
}

impl WithSimd for Attend<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { dims, masks, lengths, positions, q, panels, queue, scratch } = self;
        while let Some(run) = queue.take_run() {
            let mut run = run.peekable();
            while let Some(&(first, _)) = run.peek() {
                let head = first % dims.n_heads();
                let [k, v] = panels(head);
                let mut groups: [_; GROUPS] = std::array::from_fn(|_| {
                    let (piece, [place, normalisers]) = run.next()?;
                    let q = q.map(|q| &q[piece * place.len()..][..place.len()]);
                    let number = piece / dims.n_heads();
                    Some(Group { number, q, place, normalisers })
                });
                for s in sequences(&groups, lengths) {
                    let mask = masks[s % masks.len()].of_head(head);
                    let keys = Keys { dims, head, lengths, positions, k, v, mask: &mask };
                    one_sequence(simd, s, &keys, &mut groups, scratch);
                }
            }
        }
    }
}

/// The queries of sequence `s` in these groups (a lane is one of a group's 48): they go
/// through all of its keys, block by block, and then their outputs are finished.
#[inline(always)]
fn one_sequence<S: Simd>(
    simd: S,
    s: usize,
    keys: &Keys<'_>,
    groups: &mut [Option<Group<'_>>; GROUPS],
    scratch: &mut Scratch,
) {
    let len = round_up(keys.dims.d_v()) * ROWS;
    let mut outs = scratch.out.take(GROUPS * len).chunks_exact_mut(len);
    let scores = scratch.scores.take(PANELS * ROWS * ROWS);
    let mut all = groups.each_ref().map(|group| {
        let part = Part::of_sequence(s, group.as_ref()?.number, keys.lengths.n_q);
        Lanes::new(part, keys, outs.next()?)
    });
    for block in keys.blocks(s, visible(&all), PANELS) {
        for (i, (group, lanes)) in groups.iter().zip(&mut all).enumerate() {
            if let (Some(group), Some(lanes)) = (group, lanes) {
                // Each group asks for one panel of the next block.
                let ahead = keys.panel_behind(&block, i, PANELS);
                one_block(simd, group.q(), lanes, &block, keys, scores, ahead);
            }
        }
    }
    for (group, lanes) in groups.iter_mut().zip(all) {
        if let (Some(group), Some(lanes)) = (group, lanes) {
            finish(simd, group, lanes, keys);
        }
    }
}

/// A block with the references as they are, and once more if they will not do. (Nor do they
/// where a query has seen no key yet.)
#[inline(always)]
fn one_block<S: Simd>(
    simd: S,
    q: &[f32],
    lanes: &mut Lanes<'_>,
    block: &KeyBlock,
    keys: &Keys<'_>,
    scores: &mut [f32],
    ahead: &[f32],
) {
    let block = block.within(&lanes.visible);
    if block.rows.is_empty() {
        return;
    }
    let in_use = vectors::<S>(lanes.part.lanes.clone());
    let before = lanes.running;
    let open = lanes.mask.is_open(block.keys());
    for (i, tile) in block.tiles().enumerate() {
        prefetch(ahead, i, TILES);
        let open = open || lanes.mask.is_open(tile.keys());
        one_tile(simd, q, lanes, &tile, open, keys, scores);
    }
    if !lanes.running.will_do(lanes.part.lanes.clone()) {
        lanes.running = before;
        masked_scores(simd, q, lanes, &block, keys, scores);
        let rows = &mut scores[block.rows.start * ROWS..block.rows.end * ROWS];
        lanes.running.refer_to_largest(simd, &in_use, rows, lanes.out);
        lanes.running.take_in(simd, &in_use, rows);
    }
    add_values(simd, keys, &block, &in_use, scores, lanes.out);
}

/// The shares of 8 keys, or of what the block has of them: in registers, where the mask is
/// `open` and all 8 are there.
#[inline(always)]
fn one_tile<S: Simd>(
    simd: S,
    q: &[f32],
    lanes: &mut Lanes<'_>,
    tile: &KeyBlock,
    open: bool,
    keys: &Keys<'_>,
    scores: &mut [f32],
) {
    let in_use = vectors::<S>(lanes.part.lanes.clone());
    if open && tile.rows.len() == COLUMNS {
        let to = &mut scores[tile.rows.start * ROWS..][..COLUMNS * ROWS];
        let sums = &mut Shares { running: &mut lanes.running, to };
        product(simd, q, keys.of_tile(tile), keys.dims.d_k(), &in_use, sums);
    } else {
        masked_scores(simd, q, lanes, tile, keys, scores);
        let rows = &mut scores[tile.rows.start * ROWS..tile.rows.end * ROWS];
        lanes.running.take_in(simd, &in_use, rows);
    }
}

/// The scores of a block with the mask on them.
#[inline(always)]
fn masked_scores<S: Simd>(
    simd: S,
    q: &[f32],
    Lanes { part, mask, .. }: &Lanes<'_>,
    block: &KeyBlock,
    keys: &Keys<'_>,
    scores: &mut [f32],
) {
    let in_use = vectors::<S>(part.lanes.clone());
    products(simd, q, |p| keys.k_panel(p), keys.dims.d_k(), block, &in_use, scores);
    apply(mask, &part.lanes, block, scores);
}

#[inline(always)]
fn finish<S: Simd>(simd: S, group: &mut Group<'_>, lanes: Lanes<'_>, keys: &Keys<'_>) {
    let Lanes { part, mut running, out, .. } = lanes;
    let lanes = part.lanes.clone();
    let in_use = vectors::<S>(lanes.clone());
    if !running.divide(simd, &in_use, lanes.clone(), out) {
        non_finite::outputs(group.q(), &part, keys, out);
    }
    if keys.positions.is_some() {
        let before = Normalisers::of(group.normalisers, 0);
        running.join(simd, &in_use, before, group.place, out);
    }
    running.normalisers(lanes.clone(), group.normalisers);
    group.put(lanes, out);
}

/// `out[feature][query] += Σ share · v`.
#[inline(always)]
fn add_values<S: Simd>(
    simd: S,
    keys: &Keys<'_>,
    block: &KeyBlock,
    in_use: &Range<usize>,
    shares: &[f32],
    out: &mut [f32],
) {
    let mut segments = [Segment::default(); PANELS];
    let mut n_segments = 0;
    for (segment, (p, lanes, row)) in segments.iter_mut().zip(block.panels()) {
        let a = &shares[(row + lanes.start) * ROWS..];
        *segment = Segment { a, b: &keys.v_panel(p)[lanes.start..], depth: lanes.len() };
        n_segments += 1;
    }
    add_products(simd, &mut segments[..n_segments], in_use, out);
}

#[cfg(test)]
mod tests;
