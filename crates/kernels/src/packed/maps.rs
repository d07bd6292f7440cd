//! Attention maps, for those who want to see them.
//!
//! A map has n_q × n_kv shares and cannot be had for less memory than that. It is made
//! from what a forward pass keeps: scores, computed again, and the logarithms of the sums.

use attention::Matrix;
use pulp::{Simd, WithSimd};

use super::blocks::{KeyBlock, Keys, Part, products};
use super::panels::n_groups;
use crate::exp2::exp2;
use crate::tile::{ROWS, vector, vector_mut, vectors};

/// The map of one head and sequence.
pub(crate) struct Map<'a> {
    pub(crate) keys: Keys<'a>,
    pub(crate) sequence: usize,
    /// Queries, `[group][head][…][48]`, with so many numbers a group and head.
    pub(crate) q: &'a [f32],
    pub(crate) q_len: usize,
    /// `log2 Σ 2^score`, `[group][head][48]`.
    pub(crate) log_sums: &'a [f32],
    /// `[n_q, n_kv]`, zeros.
    pub(crate) attn: &'a mut Matrix<f32>,
}

impl WithSimd for Map<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { keys, sequence, q, q_len, log_sums, attn } = self;
        let n_q = keys.lengths.n_q;
        let mut shares = vec![0.0; ROWS * ROWS];
        for group in sequence * n_q / ROWS..n_groups((sequence + 1) * n_q) {
            let part = Part::of_sequence(sequence, group, keys.lengths);
            let in_use = vectors::<S>(part.lanes.clone());
            let at = group * keys.dims.n_heads() + keys.head;
            let (q, log_sums) =
                (&q[at * q_len..][..q_len], &log_sums[at * ROWS..][..ROWS]);
            for block in keys.blocks(sequence, keys.visible(&part), 1) {
                let d_k = keys.dims.d_k();
                products(simd, q, |p| keys.k_panel(p), d_k, &block, &in_use, &mut shares);
                keys.mask(&part, &block, &mut shares);
                for row in block.rows.clone() {
                    for v in in_use.clone() {
                        let x = simd.sub_f32s(
                            vector::<S>(&shares, row, v),
                            vector::<S>(log_sums, 0, v),
                        );
                        *vector_mut::<S>(&mut shares, row, v) = exp2(simd, x);
                    }
                }
                copy(&shares, &part, &block, attn);
            }
        }
    }
}

fn copy(shares: &[f32], part: &Part, block: &KeyBlock, attn: &mut Matrix<f32>) {
    for (row, key) in block.rows.clone().zip(block.keys()) {
        let from = &shares[row * ROWS..][part.lanes.clone()];
        attn.column_mut(key).as_mut_slice()[part.queries.clone()].copy_from_slice(from);
    }
}
