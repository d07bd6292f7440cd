//! Attention with a name in each lane: a score is a product of two rows, and a sum over
//! features.

use std::iter::zip;

use pulp::Simd;
use tiles::tile::ROWS;

use super::lanes::{Lanes, add, add_products, compiled};
use super::panels::Rows;

impl<S: Simd> Lanes<'_, S> {
    /// Each head at each place with a letter, and how many lanes are computed there.
    fn heads(&self) -> impl Iterator<Item = ([usize; 2], usize)> {
        let heads = |(place, n)| (0..self.n_heads).map(move |i| ([place, i], n));
        self.batch.in_use().flat_map(heads)
    }

    /// The places that a letter attends to: those of the same names up to its own.
    fn keys(&self, place: usize) -> impl Iterator<Item = usize> + use<S> {
        (place % self.batch.n_groups..=place).step_by(self.batch.n_groups)
    }

    /// The attention weights, a row a key, and the heads' outputs side by side.
    pub(crate) fn attend(&self, [q, k, v]: &[Rows; 3]) -> [Rows; 2] {
        let n_keys = self.batch.n_names.len() / self.batch.n_groups;
        let d_k = self.d_k;
        let [mut attn, mut out] =
            [n_keys, d_k].map(|n| self.batch.rows(self.n_heads * n));
        let per_width = 1.0 / (d_k as f32).sqrt();
        compiled!(self, {
            for (at @ [place, i], n) in self.heads() {
                let mut largest = [f32::NEG_INFINITY; ROWS];
                for (key, scores) in zip(self.keys(place), attn.of_head_mut(at, n_keys)) {
                    for (q, k) in zip(q.of_head(at, d_k), k.of_head([key, i], d_k)) {
                        add_products(&mut scores[..n], q, k);
                    }
                    for l in 0..n {
                        scores[l] *= per_width;
                        largest[l] = largest[l].max(scores[l]);
                    }
                }
                let mut sum = [0f32; ROWS];
                for (_, scores) in zip(self.keys(place), attn.of_head_mut(at, n_keys)) {
                    (0..n).for_each(|l| scores[l] -= largest[l]);
                    self.exp(&mut scores[..n]);
                    add(&mut sum[..n], scores);
                }
                for (key, attn) in zip(self.keys(place), attn.of_head_mut(at, n_keys)) {
                    (0..n).for_each(|l| attn[l] /= sum[l]);
                    let out = out.of_head_mut(at, d_k);
                    for (out, v) in zip(out, v.of_head([key, i], d_k)) {
                        add_products(&mut out[..n], attn, v);
                    }
                }
            }
        });
        [attn, out]
    }

    /// The gradients of queries, keys and values, from those of the heads' outputs.
    pub(crate) fn attend_backward(
        &self,
        [q, k, v]: &[Rows; 3],
        attn: &Rows,
        d: &Rows,
    ) -> [Rows; 3] {
        let n_keys = self.batch.n_names.len() / self.batch.n_groups;
        let width = self.d_k;
        let rows = || self.batch.rows(self.n_heads * width);
        let [mut d_q, mut d_k, mut d_v] = [rows(), rows(), rows()];
        let per_width = 1.0 / (width as f32).sqrt();
        let mut d_attn = vec![0.0; n_keys * ROWS];
        compiled!(self, {
            for (at @ [place, i], n) in self.heads() {
                let keys = || zip(self.keys(place), attn.of_head(at, n_keys));
                d_attn.fill(0.0);
                let mut mean = [0f32; ROWS];
                for ((key, attn), d_attn) in zip(keys(), d_attn.chunks_exact_mut(ROWS)) {
                    for (d, v) in zip(d.of_head(at, width), v.of_head([key, i], width)) {
                        add_products(&mut d_attn[..n], d, v);
                    }
                    add_products(&mut mean[..n], attn, d_attn);
                }
                for ((key, attn), d_attn) in zip(keys(), d_attn.chunks_exact_mut(ROWS)) {
                    // From the gradient of a weight to that of its score.
                    for l in 0..n {
                        d_attn[l] = attn[l] * (d_attn[l] - mean[l]) * per_width;
                    }
                    let [d, q] = [d, q].map(|rows| rows.of_head(at, width));
                    let rows = zip(zip(d, q), k.of_head([key, i], width));
                    let [d_k, d_v] = [&mut d_k, &mut d_v]
                        .map(|rows| rows.of_head_mut([key, i], width));
                    let to = zip(d_q.of_head_mut(at, width), zip(d_k, d_v));
                    for (((d, q), k), (d_q, (d_k, d_v))) in zip(rows, to) {
                        add_products(&mut d_q[..n], d_attn, k);
                        add_products(&mut d_k[..n], d_attn, q);
                        add_products(&mut d_v[..n], attn, d);
                    }
                }
            }
        });
        [d_q, d_k, d_v]
    }
}
