//! Panels of tokens by a weight, to the rows of a matrix: `x · W + b`.

use std::ops::Range;

use attention::Matrix;
use pulp::{Simd, WithSimd};

use crate::panels::{Panels, n_groups};
use crate::queue::{Block, Blocks};
use crate::tile::{COLUMNS, ROWS, Segment, Sums, load, store, tile, vectors};

/// `out = concat · W^O + b^O` with the concatenation in panels.
pub struct Merge<'a> {
    /// `[group][h · rows of a head][48]`.
    pub concat: &'a [f32],
    /// W^O and b^O.
    pub w_o: &'a Panels,
    /// Those of the result.
    pub blocks: &'a Blocks<'a, 1>,
}

impl WithSimd for Merge<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { concat, w_o, blocks } = self;
        let len = w_o.d_in() * ROWS;
        while let Some([mut block]) = blocks.take() {
            merge_block(simd, |group| &concat[group * len..][..len], w_o, &mut block);
        }
    }
}

/// Tokens in blocks of whole groups: each panel of a weight that has come from memory
/// serves two of them, and the columns are cut where there are too few for the threads.
pub fn blocks_of_tokens(tokens: &mut Matrix<f32>, n_threads: usize) -> Blocks<'_, 1> {
    let (n_rows, width) = tokens.shape();
    let part = |n: usize| width.div_ceil(n).next_multiple_of(COLUMNS);
    let block = match n_groups(n_rows) / (4 * n_threads) {
        0 => (ROWS, part(2 * n_threads)),
        1 => (2 * ROWS, part(4)),
        _ => (2 * ROWS, width),
    };
    Blocks::new([(tokens.as_mut_slice(), (n_rows, width), block)])
}

/// Rows of a weight that all columns of a block go through before the next rows: those of
/// two panels of tokens, 288 KiB, stay in the second cache meanwhile.
const DEPTH: usize = 768;

/// A weight as this product reads it: panels of 8 columns.
pub trait Weight {
    /// The width of a token that goes in.
    fn d_in(&self) -> usize;

    /// The biases of panel `i`, `[8]`.
    fn bias(&self, i: usize) -> &[f32];

    /// Rows of panel `i`, `[rows][8]`, as they lie, or made in the room that is given.
    fn rows<'a>(
        &'a self,
        i: usize,
        rows: Range<usize>,
        room: &'a mut Vec<f32>,
    ) -> &'a [f32];
}

impl Weight for Panels {
    #[inline(always)]
    fn d_in(&self) -> usize {
        self.d_in()
    }

    #[inline(always)]
    fn bias(&self, i: usize) -> &[f32] {
        self.panel(i).1
    }

    #[inline(always)]
    fn rows<'a>(
        &'a self,
        i: usize,
        rows: Range<usize>,
        _: &'a mut Vec<f32>,
    ) -> &'a [f32] {
        &self.panel(i).0[rows.start * COLUMNS..rows.end * COLUMNS]
    }
}

/// One block of the result, from the panels of its groups of tokens, `[d_in][48]` each.
#[inline(always)]
pub fn merge_block<'a, S: Simd>(
    simd: S,
    panel: impl Fn(usize) -> &'a [f32],
    weight: &impl Weight,
    block: &mut Block<'_>,
) {
    let (rows, columns) = (block.rows(), block.columns());
    let mut room = Vec::new();
    for p in (0..weight.d_in()).step_by(DEPTH) {
        let depth = DEPTH.min(weight.d_in() - p);
        for first in columns.clone().step_by(COLUMNS) {
            let (at, bias) = (first / COLUMNS, weight.bias(first / COLUMNS));
            let b = weight.rows(at, p..p + depth, &mut room);
            let start = if p == 0 { Start::Bias(bias) } else { Start::There };
            for row in rows.clone().step_by(ROWS) {
                let a = &panel(row / ROWS)[p * ROWS..];
                let segment = Segment { a, b, depth };
                let lanes = 0..ROWS.min(rows.end - row);
                let columns = first..columns.end.min(first + COLUMNS);
                let sums = &mut InBlock { start, block: &mut *block, row, columns };
                tile::<S, COLUMNS, 1>(simd, vectors::<S>(lanes), &[segment], sums);
            }
        }
    }
}

/// What sums begin with.
#[derive(Clone, Copy)]
pub enum Start<'a> {
    /// 0.
    Zero,
    /// A number for each column, `[8]`.
    Bias(&'a [f32]),
    /// What stands there.
    There,
}

/// A tile of a block: 48 rows from `row` on, or what the block has of them, and up to 8
/// columns.
pub struct InBlock<'a, 'b> {
    /// What its sums begin with.
    pub start: Start<'a>,
    /// Where they go.
    pub block: &'a mut Block<'b>,
    /// The tile's first row of the matrix.
    pub row: usize,
    /// Its columns of the matrix.
    pub columns: Range<usize>,
}

impl InBlock<'_, '_> {
    /// Vector `v` of column `j`, as much of it as the block has.
    #[inline(always)]
    fn place<S: Simd>(&mut self, j: usize, v: usize) -> Option<&mut [f32]> {
        let (rows, column) = (self.block.rows(), self.columns.start + j);
        let from = self.row - rows.start + v * S::F32_LANES;
        let to = (self.row + ROWS).min(rows.end) - rows.start;
        let is_there = column < self.columns.end;
        is_there.then(|| &mut self.block.column(column)[from..to])
    }
}

impl<S: Simd> Sums<S> for InBlock<'_, '_> {
    #[inline(always)]
    fn start(&mut self, simd: S, j: usize, v: usize) -> S::f32s {
        match self.start {
            Start::Zero => simd.splat_f32s(0.0),
            Start::Bias(bias) => simd.splat_f32s(bias[j]),
            Start::There => match self.place::<S>(j, v) {
                Some(place) => load(simd, place),
                None => simd.splat_f32s(0.0),
            },
        }
    }

    #[inline(always)]
    fn done<const N: usize>(&mut self, simd: S, j: usize, v: usize, sums: [S::f32s; N]) {
        for i in 0..N {
            if let Some(place) = self.place::<S>(j + i, v) {
                store(simd, place, sums[i]);
            }
        }
    }
}
