//! Which queries meet which keys: groups of 48 queries, blocks of panels of 48 keys.

use std::f32::consts::LOG2_E;
use std::ops::Range;

use attention::{Dims, Mask};
use pulp::Simd;

use super::panels::{round_up, rows_of};
use crate::tile::{COLUMNS, ROWS, Segment, tile, vector_mut};
use crate::{Lengths, block_mask};

/// The lanes of a group that belong to one sequence, and the queries that they are.
pub(crate) struct Part {
    pub(crate) sequence: usize,
    pub(crate) lanes: Range<usize>,
    pub(crate) queries: Range<usize>,
}

impl Part {
    /// The parts of a group: a sequence may end within it, and the next one begin.
    pub(crate) fn of_group(group: usize, lengths: Lengths) -> impl Iterator<Item = Self> {
        let rows = rows_of(group, lengths.n_sequences * lengths.n_q);
        let sequences = rows.start / lengths.n_q..rows.end.div_ceil(lengths.n_q);
        sequences.map(move |s| Self::of_sequence(s, group, lengths))
    }

    /// The part of a group that belongs to sequence `s`.
    pub(crate) fn of_sequence(s: usize, group: usize, lengths: Lengths) -> Self {
        let (first, end) = (s * lengths.n_q, (s + 1) * lengths.n_q);
        let (from, to) = (first.max(group * ROWS), end.min((group + 1) * ROWS));
        Self {
            sequence: s,
            lanes: from - group * ROWS..to - group * ROWS,
            queries: from - first..to - first,
        }
    }
}

/// The keys and values of one head.
pub(crate) struct Keys<'a> {
    pub(crate) dims: Dims,
    pub(crate) head: usize,
    pub(crate) lengths: Lengths,
    /// `[group][head][d_k][48]`, as many rows as [`round_up`] says.
    pub(crate) k: &'a [f32],
    /// `[group][head][d_v][48]`, likewise.
    pub(crate) v: &'a [f32],
    pub(crate) mask: &'a Mask,
}

impl<'a> Keys<'a> {
    /// The keys of group `p`, `[d_k][48]`.
    pub(crate) fn k_panel(&self, p: usize) -> &'a [f32] {
        let len = round_up(self.dims.d_k()) * ROWS;
        &self.k[(p * self.dims.n_heads() + self.head) * len..][..len]
    }

    /// The values of group `p`, `[d_v][48]`.
    pub(crate) fn v_panel(&self, p: usize) -> &'a [f32] {
        let len = round_up(self.dims.d_v()) * ROWS;
        &self.v[(p * self.dims.n_heads() + self.head) * len..][..len]
    }

    /// The blocks of `n_panels` that hold all keys that a part may attend to.
    pub(crate) fn blocks(
        &self,
        part: &Part,
        n_panels: usize,
    ) -> impl Iterator<Item = KeyBlock> + use<> {
        let first = part.sequence * self.lengths.n_kv;
        let (n_q, n_kv) = (self.lengths.n_q, self.lengths.n_kv);
        let keys = block_mask::visible_keys(self.mask, part.queries.clone(), (n_q, n_kv));
        let rows = first + keys.start..first + keys.end;
        let panels = rows.start / ROWS..rows.end.div_ceil(ROWS);
        panels.step_by(n_panels).map(move |panel| {
            let start = panel * ROWS;
            let of_block = |row: usize| row.clamp(start, start + n_panels * ROWS) - start;
            let rows = of_block(rows.start)..of_block(rows.end);
            KeyBlock {
                first_panel: panel,
                first_key: start as isize - first as isize,
                rows,
            }
        })
    }

    /// The mask on the scores of a block, where it does anything.
    #[inline(always)]
    pub(crate) fn mask(&self, part: &Part, block: &KeyBlock, scores: &mut [f32]) {
        let lengths = (self.lengths.n_q, self.lengths.n_kv);
        let (queries, keys) = (part.queries.clone(), block.keys());
        if !block_mask::is_open(self.mask, queries.clone(), keys.clone(), lengths) {
            let scores = &mut scores[block.rows.start * ROWS + part.lanes.start..];
            block_mask::apply(self.mask, scores, ROWS, queries, keys, lengths, LOG2_E);
        }
    }
}

/// Some panels of keys, and which of their lanes are in use. Row r of a block's scores is
/// lane `r % 48` of panel `first_panel + r / 48`.
pub(crate) struct KeyBlock {
    first_panel: usize,
    /// The key that row 0 is, below 0 where another sequence's are before.
    first_key: isize,
    pub(crate) rows: Range<usize>,
}

impl KeyBlock {
    /// The keys of the sequence that the rows in use are.
    pub(crate) fn keys(&self) -> Range<usize> {
        let first = self.first_key.wrapping_add_unsigned(self.rows.start).unsigned_abs();
        first..first + self.rows.len()
    }

    /// Each panel, with its lanes in use and the row of its first lane.
    #[inline(always)]
    pub(crate) fn panels(&self) -> impl Iterator<Item = (usize, Range<usize>, usize)> {
        let (first, rows) = (self.first_panel, self.rows.clone());
        (rows.start / ROWS..rows.end.div_ceil(ROWS)).map(move |p| {
            let row = p * ROWS;
            let lanes = rows.start.max(row) - row..rows.end.min(row + ROWS) - row;
            (first + p, lanes, row)
        })
    }

    /// The first rows of the tiles that hold the rows in use.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = usize> + use<> {
        (self.rows.start / COLUMNS * COLUMNS..self.rows.end).step_by(COLUMNS)
    }
}

/// `to[key][query] = Σ_f a[f, query] · b[f, key]` for a block of keys, with b's panels.
#[inline(always)]
pub(crate) fn products<'b, S: Simd>(
    simd: S,
    a: &[f32],
    b: impl Fn(usize) -> &'b [f32],
    depth: usize,
    block: &KeyBlock,
    in_use: &Range<usize>,
    to: &mut [f32],
) {
    for (p, lanes, row) in block.panels() {
        let b = b(p);
        for lane in (lanes.start / COLUMNS * COLUMNS..lanes.end).step_by(COLUMNS) {
            tile::<S, _, ROWS, 1>(
                simd,
                in_use.clone(),
                &[Segment { a, b: &b[lane..], depth }],
                &mut to[(row + lane) * ROWS..][..COLUMNS * ROWS],
                |_, _, _| simd.splat_f32s(0.0),
                |to, j, v, sum| *vector_mut::<S>(to, j, v) = sum,
            );
        }
    }
}
