//! Groups of 48 queries of one head that go through its keys together.

use std::ops::Range;

use crate::Lengths;
use crate::block_mask::BlockMask;
use crate::blocks::{Keys, Part};
use crate::panels::rows_of;
use crate::running::Running;
use crate::tile::ROWS;

/// 48 queries of one head, and where their outputs go.
pub(crate) struct Group<'a> {
    pub(crate) number: usize,
    /// Queries that are kept, `[rows of a head][48]`.
    pub(crate) q: Option<&'a [f32]>,
    /// The place of the outputs; where no queries are kept, they stand here.
    pub(crate) place: &'a mut [f32],
    pub(crate) normalisers: &'a mut [f32],
}

impl Group<'_> {
    #[inline]
    pub(crate) fn q(&self) -> &[f32] {
        self.q.unwrap_or(self.place)
    }

    /// Writes the lanes of one sequence. Where there is room that no output fills, zeros
    /// are written: what stands there goes through W^O too.
    #[inline]
    pub(crate) fn put(&mut self, lanes: Range<usize>, out: &[f32]) {
        let mut rows = out.chunks_exact(ROWS);
        for to in self.place.chunks_exact_mut(ROWS) {
            match rows.next() {
                Some(row) => to[lanes.clone()].copy_from_slice(&row[lanes.clone()]),
                None => to[lanes.clone()].fill(0.0),
            }
        }
    }
}

/// The lanes of a group that belong to one sequence, after some of its keys.
pub(crate) struct Lanes<'a> {
    pub(crate) part: Part,
    pub(crate) mask: BlockMask<'a>,
    /// The rows of the keys that they may attend to.
    pub(crate) visible: Range<usize>,
    pub(crate) running: Running,
    /// `Σ 2^(score − maximum) · v`, `[d_v][48]`.
    pub(crate) out: &'a mut [f32],
}

impl<'a> Lanes<'a> {
    #[inline]
    pub(crate) fn new(part: Part, keys: &Keys<'a>, out: &'a mut [f32]) -> Option<Self> {
        if part.lanes.is_empty() {
            return None;
        }
        let mask = keys.mask_of(&part);
        if keys.positions.is_some() && mask.visible().is_empty() {
            return None; // what other keys gave stays as it is
        }
        out.fill(0.0);
        let visible = keys.rows_of(part.sequence, mask.visible());
        Some(Self { part, mask, visible, running: Running::NOTHING, out })
    }
}

/// The sequences that these groups have queries of.
#[inline]
pub(crate) fn sequences(groups: &[Option<Group<'_>>], lengths: Lengths) -> Range<usize> {
    let n_rows = lengths.n_sequences * lengths.n_q;
    let mut rows = groups.iter().flatten().map(|group| rows_of(group.number, n_rows));
    let first = rows.next().unwrap_or_default();
    let end = rows.next_back().unwrap_or(first.clone()).end;
    first.start / lengths.n_q..end.div_ceil(lengths.n_q)
}

/// The rows of all keys that any of these lanes may attend to.
#[inline]
pub(crate) fn visible(all: &[Option<Lanes<'_>>]) -> Range<usize> {
    let rows = || all.iter().flatten().map(|lanes| &lanes.visible);
    let start = rows().map(|rows| rows.start).min().unwrap_or(0);
    let end = rows().map(|rows| rows.end).max().unwrap_or(0);
    start..end.max(start)
}
