//! The heads' outputs to tokens: W^O.

use pulp::{Simd, WithSimd};

use super::panels::Panels;
use super::units::Blocks;
use crate::tile::{COLUMNS, ROWS, Segment, store, tile, vectors};

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
                    let lanes = ROWS.min(rows.end - row);
                    let a = &concat[row / ROWS * len..][..len];
                    tile::<S, _, COLUMNS, 1>(
                        simd,
                        vectors::<S>(0..lanes),
                        &[Segment { a, b, depth: w_o.d_in() }],
                        &mut block,
                        |_, j, _| simd.splat_f32s(bias[j]),
                        |block, j, v, sum| {
                            if first + j < columns.end {
                                let at = row - rows.start + v * S::F32_LANES;
                                store(
                                    simd,
                                    &mut block.column(first + j)[at..]
                                        [..lanes - v * S::F32_LANES],
                                    sum,
                                );
                            }
                        },
                    );
                }
            }
        }
    }
}
