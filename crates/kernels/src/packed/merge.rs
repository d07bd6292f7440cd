//! The heads' outputs to tokens: W^O.

use pulp::{Simd, WithSimd};

use super::panels::Panels;
use super::units::{Block, Blocks};
use crate::tile::{COLUMNS, ROWS, Segment, Sums, store, tile, vectors};

/// `out = concat · W^O + b^O` with the concatenation in panels.
pub(crate) struct Merge<'a> {
    /// `[group][h · rows of a head][48]`.
    pub(crate) concat: &'a [f32],
    pub(crate) w_o: &'a Panels,
    pub(crate) blocks: &'a Blocks<'a>,
}

impl WithSimd for Merge<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { concat, w_o, blocks } = self;
        let len = w_o.d_in() * ROWS;
        while let Some(mut block) = blocks.take() {
            let (rows, columns) = (block.rows.clone(), block.columns.clone());
            for first in columns.clone().step_by(COLUMNS) {
                let (b, bias) = w_o.panel(first / COLUMNS);
                for row in rows.clone().step_by(ROWS) {
                    let a = &concat[row / ROWS * len..][..len];
                    let lanes = 0..ROWS.min(rows.end - row);
                    let sums = &mut Tokens { bias, block: &mut block, row, first };
                    let segment = Segment { a, b, depth: w_o.d_in() };
                    tile::<S, COLUMNS, 1>(simd, vectors::<S>(lanes), &[segment], sums);
                }
            }
        }
    }
}

/// A tile of tokens: 48 from `row` on, 8 features from `first` on, or what the block has of
/// them.
struct Tokens<'a, 'b> {
    bias: &'a [f32],
    block: &'a mut Block<'b>,
    row: usize,
    first: usize,
}

impl<S: Simd> Sums<S> for Tokens<'_, '_> {
    #[inline(always)]
    fn start(&self, simd: S, j: usize, _: usize) -> S::f32s {
        simd.splat_f32s(self.bias[j])
    }

    #[inline(always)]
    fn done<const N: usize>(&mut self, simd: S, j: usize, v: usize, sums: [S::f32s; N]) {
        let rows = &self.block.rows;
        let from = self.row - rows.start + v * S::F32_LANES;
        let to = (self.row + ROWS).min(rows.end) - rows.start;
        for i in 0..N {
            if self.first + j + i < self.block.columns.end {
                let column = self.block.column(self.first + j + i);
                store(simd, &mut column[from..to], sums[i]);
            }
        }
    }
}
