//! Attention maps, for those who want to see them.
//!
//! A map has n_q × n_kv shares and cannot be had for less memory than that. It is made
//! from what a forward pass keeps: scores, computed again, and what makes shares of them.

use attention::{Matrix, Result};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use tiles::blocks::{KeyBlock, Keys, Part, apply, products};
use tiles::exp2::exp2;
use tiles::panels::{HeadPanels, groups_of, rows_per_head};
use tiles::running::Normalisers;
use tiles::tile::{ROWS, vector, vector_mut, vectors};

use super::forward::Queries;
use super::layer::Packed;
use crate::{Inputs, Rung};

impl Packed {
    /// The attention maps, `maps[s][i]` of sequence s and head i, `[n_q, n_kv]` each.
    ///
    /// # Shapes
    /// As [`Rung::forward`], which makes none: they need `n_sequences · h · n_q · n_kv`
    /// numbers.
    ///
    /// # Errors
    /// As [`Rung::forward`].
    pub fn maps(&mut self, inputs: &Inputs<'_>) -> Result<Vec<Vec<Matrix<f32>>>> {
        let mut out = Matrix::zeros(inputs.query.nrows(), self.dims().d_model());
        self.forward_with_maps(inputs, &mut out)
    }

    /// A forward pass and its maps, for those who want both: one pass less than by
    /// [`Rung::forward`] and [`maps`](Self::maps).
    ///
    /// # Shapes
    /// As [`maps`](Self::maps); `out` as in [`Rung::forward`].
    ///
    /// # Errors
    /// As [`Rung::forward`].
    pub fn forward_with_maps(
        &mut self,
        inputs: &Inputs<'_>,
        out: &mut Matrix<f32>,
    ) -> Result<Vec<Vec<Matrix<f32>>>> {
        let lengths = inputs.check(self.dims(), out)?;
        let extent = self.run(inputs, lengths, Queries::Keep, out);
        let (dims, n_heads) = (self.dims(), self.dims().n_heads());
        let Self { instructions, memory, .. } = self;
        let map = |i: usize| {
            let (sequence, head) = (i / n_heads, i % n_heads);
            let mut attn = Matrix::zeros(lengths.n_q, lengths.n_kv);
            let mask = inputs.mask(sequence).of_head(head);
            let k_and_v = [memory.k.get(extent.k()), memory.v.get(extent.v())];
            let [k, v] = HeadPanels::of_layer(dims, head, k_and_v);
            instructions.run(Map {
                keys: Keys { dims, head, lengths, positions: None, k, v, mask: &mask },
                sequence,
                q: memory.q.get(extent.q()),
                q_len: rows_per_head(dims) * ROWS,
                normalisers: memory.normalisers.get(extent.normalisers()),
                attn: &mut attn,
            });
            attn
        };
        let n_maps = lengths.n_sequences * n_heads;
        let mut maps: Vec<_> = (0..n_maps).into_par_iter().map(map).collect();
        let of_sequence = |_| maps.drain(..n_heads).collect();
        Ok((0..lengths.n_sequences).map(of_sequence).collect())
    }
}

/// The map of one head and sequence.
pub(crate) struct Map<'a> {
    pub(crate) keys: Keys<'a>,
    pub(crate) sequence: usize,
    /// Queries, `[group][head][…][48]`, with so many numbers a group and head.
    pub(crate) q: &'a [f32],
    pub(crate) q_len: usize,
    /// `[group][head]` of [`Normalisers`].
    pub(crate) normalisers: &'a [f32],
    /// `[n_q, n_kv]`, zeros.
    pub(crate) attn: &'a mut Matrix<f32>,
}

impl WithSimd for Map<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { keys, sequence, q, q_len, normalisers, attn } = self;
        let n_q = keys.lengths.n_q;
        let mut shares = vec![0.0; ROWS * ROWS];
        for group in groups_of(sequence, n_q) {
            let part = Part::of_sequence(sequence, group, n_q);
            let in_use = vectors::<S>(part.lanes.clone());
            let at = group * keys.dims.n_heads() + keys.head;
            let q = &q[at * q_len..][..q_len];
            let Normalisers { references, factors } = Normalisers::of(normalisers, at);
            let mask = keys.mask_of(&part);
            for block in keys.blocks(sequence, keys.rows_of(sequence, mask.visible()), 1)
            {
                let d_k = keys.dims.d_k();
                products(simd, q, |p| keys.k_panel(p), d_k, &block, &in_use, &mut shares);
                apply(&mask, &part.lanes, &block, &mut shares);
                for row in block.rows.clone() {
                    for v in in_use.clone() {
                        let x = simd.sub_f32s(
                            vector::<S>(&shares, row, v),
                            vector::<S>(references, 0, v),
                        );
                        *vector_mut::<S>(&mut shares, row, v) =
                            simd.mul_f32s(exp2(simd, x), vector::<S>(factors, 0, v));
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
        attn.column_mut(key).as_mut_slice()[part.tokens.clone()].copy_from_slice(from);
    }
}
