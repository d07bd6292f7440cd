//! Which queries meet which keys: groups of 48 queries, blocks of panels of 48 keys.

use std::f32::consts::LOG2_E;
use std::ops::Range;

use attention::{Dims, Mask, Positions};
use pulp::Simd;

use crate::Lengths;
use crate::block_mask::BlockMask;
use crate::panels::{HeadPanels, n_groups};
use crate::tile::{AddTo, COLUMNS, New, ROWS, Segment, Sums, tile};

/// The lanes of a group that belong to one sequence, and the tokens that they are.
pub struct Part {
    /// Which sequence.
    pub sequence: usize,
    /// The lanes of the group.
    pub lanes: Range<usize>,
    /// The tokens of the sequence, as many.
    pub tokens: Range<usize>,
}

impl Part {
    /// The part of a group that belongs to sequence `s` of so many tokens: empty where the
    /// sequence lies elsewhere.
    #[inline]
    pub fn of_sequence(s: usize, group: usize, n_tokens: usize) -> Self {
        let lane =
            |row: usize| row.clamp(group * ROWS, (group + 1) * ROWS) - group * ROWS;
        let first = s * n_tokens;
        let lanes = lane(first)..lane(first + n_tokens);
        let start = (group * ROWS + lanes.start).saturating_sub(first);
        let tokens = start..start + lanes.len();
        Self { sequence: s, lanes, tokens }
    }
}

/// The keys and values of one head.
pub struct Keys<'a> {
    /// The sizes of the layer.
    pub dims: Dims,
    /// Which head of queries reads them.
    pub head: usize,
    /// What is here.
    pub lengths: Lengths,
    /// Where it stands in sequences of which it is a part; `None` where it is all.
    pub positions: Option<&'a Positions>,
    /// The keys.
    pub k: HeadPanels<'a>,
    /// The values.
    pub v: HeadPanels<'a>,
    /// Of this head, for whole sequences.
    pub mask: &'a Mask,
}

impl<'a> Keys<'a> {
    /// The keys of group `p`, `[d_k][48]`.
    #[inline]
    pub fn k_panel(&self, p: usize) -> &'a [f32] {
        self.k.panel(p)
    }

    /// The values of group `p`, `[d_v][48]`.
    #[inline]
    pub fn v_panel(&self, p: usize) -> &'a [f32] {
        self.v.panel(p)
    }

    /// The keys of a tile, `[d_k][48]` without what stands before the first.
    #[inline]
    pub(crate) fn of_tile(&self, tile: &KeyBlock) -> &'a [f32] {
        &self.k_panel(tile.first_panel + tile.rows.start / ROWS)[tile.rows.start % ROWS..]
    }

    /// Panel `i` of the block behind this one, keys first and then values; nothing where
    /// there is none.
    #[inline]
    pub fn panel_behind(&self, block: &KeyBlock, i: usize, n_panels: usize) -> &'a [f32] {
        let panel = block.first_panel + n_panels + i % n_panels;
        if panel >= n_groups(self.lengths.n_sequences * self.lengths.n_kv) {
            return &[];
        }
        if i < n_panels { self.k_panel(panel) } else { self.v_panel(panel) }
    }

    /// The mask as the queries of a part see it.
    #[inline]
    pub fn mask_of(&self, part: &Part) -> BlockMask<'a> {
        let Some(Positions { queries, keys, lengths }) = self.positions else {
            let lengths = (self.lengths.n_q, self.lengths.n_kv);
            return BlockMask::new(self.mask, part.tokens.clone(), lengths);
        };
        let tokens = queries.start + part.tokens.start..queries.start + part.tokens.end;
        BlockMask::of_keys(self.mask, tokens, keys.clone(), *lengths)
    }

    /// What the mask adds to the scores of query `i` and of each key, or `None` where it
    /// hides one.
    pub(crate) fn added(&self, i: usize) -> Vec<Option<f64>> {
        match self.positions {
            None => self.mask.row(i, (self.lengths.n_q, self.lengths.n_kv)),
            Some(Positions { queries, keys, lengths }) => {
                self.mask.row(queries.start + i, *lengths)[keys.clone()].to_vec()
            }
        }
    }

    /// The rows of some keys of sequence `s` among those of all sequences.
    #[inline]
    pub fn rows_of(&self, s: usize, keys: Range<usize>) -> Range<usize> {
        let first = s * self.lengths.n_kv;
        first + keys.start..first + keys.end
    }

    /// Blocks of `n_panels` that hold these rows of one sequence.
    #[inline]
    pub fn blocks(
        &self,
        sequence: usize,
        rows: Range<usize>,
        n_panels: usize,
    ) -> impl Iterator<Item = KeyBlock> + use<> {
        let first = sequence * self.lengths.n_kv;
        let panels = rows.start / ROWS..rows.end.div_ceil(ROWS);
        panels.step_by(n_panels).map(move |panel| {
            let start = panel * ROWS;
            let whole = KeyBlock {
                first_panel: panel,
                first_key: start as isize - first as isize,
                rows: 0..n_panels * ROWS,
            };
            whole.within(&rows)
        })
    }
}

/// A mask on the scores of a block, `[key][48 queries]`, where it does anything.
#[inline(always)]
pub fn apply(
    mask: &BlockMask<'_>,
    lanes: &Range<usize>,
    block: &KeyBlock,
    scores: &mut [f32],
) {
    if !mask.is_open(block.keys()) {
        let scores = &mut scores[block.rows.start * ROWS + lanes.start..];
        mask.apply(scores, ROWS, block.keys(), LOG2_E);
    }
}

/// Some panels of keys, and which of their lanes are in use. Row r of a block's scores is
/// lane `r % 48` of panel `first_panel + r / 48`.
pub struct KeyBlock {
    /// The panel of row 0.
    pub first_panel: usize,
    /// The key that row 0 is, below 0 where another sequence's are before.
    first_key: isize,
    /// The rows in use.
    pub rows: Range<usize>,
}

impl KeyBlock {
    /// The keys of the sequence that the rows in use are.
    #[inline]
    pub fn keys(&self) -> Range<usize> {
        let first = self.first_key.wrapping_add_unsigned(self.rows.start).unsigned_abs();
        first..first + self.rows.len()
    }

    /// The block with only those of its rows in use that are among these rows of all
    /// sequences.
    #[inline]
    pub(crate) fn within(&self, rows: &Range<usize>) -> Self {
        let start = self.first_panel * ROWS;
        let of_block =
            |row: usize| row.saturating_sub(start).clamp(self.rows.start, self.rows.end);
        Self { rows: of_block(rows.start)..of_block(rows.end), ..*self }
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
    #[inline]
    pub(crate) fn first_rows(&self) -> impl Iterator<Item = usize> + use<> {
        (self.rows.start / COLUMNS * COLUMNS..self.rows.end).step_by(COLUMNS)
    }

    /// The tiles themselves: each with those of its rows that are in use.
    #[inline]
    pub(crate) fn tiles(&self) -> impl Iterator<Item = Self> + use<'_> {
        self.first_rows().map(|row| {
            let rows = row.max(self.rows.start)..(row + COLUMNS).min(self.rows.end);
            Self { rows, ..*self }
        })
    }
}

/// `Σ_f a[f, query] · b[f, key]` for a block of keys, `to[key][query]`, with b's panels.
#[inline(always)]
pub fn products<'b, S: Simd>(
    simd: S,
    a: &[f32],
    b: impl Fn(usize) -> &'b [f32],
    depth: usize,
    block: &KeyBlock,
    in_use: &Range<usize>,
    to: &mut [f32],
) {
    for row in block.first_rows() {
        let b = b(block.first_panel + row / ROWS);
        let to = &mut to[row * ROWS..][..COLUMNS * ROWS];
        product(simd, a, &b[row % ROWS..], depth, in_use, &mut New(to));
    }
}

/// The same for one tile of keys, of which b is the first.
#[inline(always)]
pub fn product<S: Simd>(
    simd: S,
    a: &[f32],
    b: &[f32],
    depth: usize,
    in_use: &Range<usize>,
    to: &mut impl Sums<S>,
) {
    tile::<S, ROWS, 1>(simd, in_use.clone(), &[Segment { a, b, depth }], to);
}

/// `to[feature, lane] += Σ a[row, lane] · b[feature, row]`, summed over all segments.
#[inline(always)]
pub fn add_products<S: Simd>(
    simd: S,
    segments: &mut [Segment<'_>],
    in_use: &Range<usize>,
    to: &mut [f32],
) {
    for to in to.chunks_exact_mut(COLUMNS * ROWS) {
        tile::<S, 1, ROWS>(simd, in_use.clone(), segments, &mut AddTo(to));
        for segment in &mut *segments {
            segment.b = segment.b.get(COLUMNS * ROWS..).unwrap_or_default();
        }
    }
}
