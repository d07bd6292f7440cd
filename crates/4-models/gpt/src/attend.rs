//! Attention with a name in each lane: a score is a product of two rows, and a sum over
//! features.

use std::iter::zip;
use std::ops::Range;
use std::slice::{ChunksExact, ChunksExactMut};

use pulp::Simd;
use tiles::tile::ROWS;

use crate::lanes::{Batch, Lanes, Rows, add, add_products};

/// One head at one place, which attends to the earlier places of the same names too.
struct Query {
    place: usize,
    n_lanes: usize,
    /// Its rows.
    rows: Range<usize>,
    /// Its first weight, `[key][48]`.
    first: usize,
}

impl Query {
    fn keys(&self, batch: &Batch<'_>) -> impl Iterator<Item = usize> + use<> {
        (self.place % batch.n_groups..=self.place).step_by(batch.n_groups)
    }

    /// The head's rows at a place.
    fn of<'a>(&self, rows: &'a Rows, place: usize) -> ChunksExact<'a, f32> {
        rows.panel(place)[self.rows.clone()].chunks_exact(ROWS)
    }

    fn of_mut<'a>(&self, rows: &'a mut Rows, place: usize) -> ChunksExactMut<'a, f32> {
        rows.panel_mut(place)[self.rows.clone()].chunks_exact_mut(ROWS)
    }
}

impl<S: Simd> Lanes<'_, S> {
    /// A query has so many weights, as it would if it were at the last position.
    fn n_weights(&self) -> usize {
        self.batch.n_names.len() / self.batch.n_groups * ROWS
    }

    fn queries(&self) -> impl Iterator<Item = Query> + '_ {
        let of_head = self.d_k * ROWS;
        let heads = move |(place, n_lanes)| {
            (0..self.n_heads).map(move |i| {
                let first = (place * self.n_heads + i) * self.n_weights();
                Query { place, n_lanes, rows: i * of_head..(i + 1) * of_head, first }
            })
        };
        self.batch.in_use().flat_map(heads)
    }

    /// The attention weights, and the heads' outputs side by side.
    #[inline(always)]
    pub(crate) fn attend(&self, [q, k, v]: &[Rows; 3]) -> (Vec<f32>, Rows) {
        let n_queries = self.batch.n_names.len() * self.n_heads;
        let mut attn = vec![0.0; n_queries * self.n_weights()];
        let mut out = self.batch.rows(self.n_heads * self.d_k);
        let per_width = 1.0 / (self.d_k as f32).sqrt();
        for query in self.queries() {
            let (n, keys) = (query.n_lanes, || query.keys(self.batch));
            let attn = &mut attn[query.first..];
            let mut largest = [f32::NEG_INFINITY; ROWS];
            for (key, scores) in zip(keys(), attn.chunks_exact_mut(ROWS)) {
                for (q, k) in zip(query.of(q, query.place), query.of(k, key)) {
                    add_products(&mut scores[..n], q, k);
                }
                for l in 0..n {
                    scores[l] *= per_width;
                    largest[l] = largest[l].max(scores[l]);
                }
            }
            let mut sum = [0f32; ROWS];
            for (_, scores) in zip(keys(), attn.chunks_exact_mut(ROWS)) {
                (0..n).for_each(|l| scores[l] -= largest[l]);
                self.exp(&mut scores[..n]);
                add(&mut sum[..n], scores);
            }
            for (key, attn) in zip(keys(), attn.chunks_exact_mut(ROWS)) {
                (0..n).for_each(|l| attn[l] /= sum[l]);
                let outs = query.of_mut(&mut out, query.place);
                for (out, v) in zip(outs, query.of(v, key)) {
                    add_products(&mut out[..n], attn, v);
                }
            }
        }
        (attn, out)
    }

    /// The gradients of queries, keys and values, from those of the heads' outputs.
    #[inline(always)]
    pub(crate) fn attend_backward(
        &self,
        [q, k, v]: &[Rows; 3],
        attn: &[f32],
        d: &Rows,
    ) -> [Rows; 3] {
        let rows = || self.batch.rows(self.n_heads * self.d_k);
        let [mut d_q, mut d_k, mut d_v] = [(); 3].map(|()| rows());
        let per_width = 1.0 / (self.d_k as f32).sqrt();
        let mut d_attn = vec![0.0; self.n_weights()];
        for query in self.queries() {
            let (n, place) = (query.n_lanes, query.place);
            let keys =
                || zip(query.keys(self.batch), attn[query.first..].chunks_exact(ROWS));
            d_attn.fill(0.0);
            let mut mean = [0f32; ROWS];
            for ((key, attn), d_attn) in zip(keys(), d_attn.chunks_exact_mut(ROWS)) {
                for (d, v) in zip(query.of(d, place), query.of(v, key)) {
                    add_products(&mut d_attn[..n], d, v);
                }
                add_products(&mut mean[..n], attn, d_attn);
            }
            for ((key, attn), d_attn) in zip(keys(), d_attn.chunks_exact_mut(ROWS)) {
                // From the gradient of a weight to that of its score.
                for l in 0..n {
                    d_attn[l] = attn[l] * (d_attn[l] - mean[l]) * per_width;
                }
                let of =
                    zip(query.of(d, place), zip(query.of(q, place), query.of(k, key)));
                let d_k_v = zip(query.of_mut(&mut d_k, key), query.of_mut(&mut d_v, key));
                let to = zip(query.of_mut(&mut d_q, place), d_k_v);
                for ((d, (q, k)), (d_q, (d_k, d_v))) in zip(of, to) {
                    add_products(&mut d_q[..n], d_attn, k);
                    add_products(&mut d_k[..n], d_attn, q);
                    add_products(&mut d_v[..n], attn, d);
                }
            }
        }
        [d_q, d_k, d_v]
    }
}
