//! Attention with a name in each lane: a score is a product of two rows, and a sum over
//! features.

use std::iter::zip;
use std::ops::Range;
use std::slice::{ChunksExact, ChunksExactMut};

use pulp::{Simd, WithSimd};
use tiles::tile::ROWS;

use crate::lanes::{Places, Rows, add, add_products, exp};

/// All heads, with what they read: queries, keys and values.
#[derive(Clone, Copy)]
pub(crate) struct Heads<'a> {
    pub(crate) places: &'a Places,
    pub(crate) n_heads: usize,
    pub(crate) d_k: usize,
    pub(crate) q_k_v: &'a [Rows; 3],
}

/// One head at one place: where it is, and the earlier places of the same names.
struct Query {
    place: usize,
    n_lanes: usize,
    /// Its rows.
    rows: Range<usize>,
    /// Its first weight, `[key][48]`.
    first: usize,
}

impl Query {
    /// The head's rows at a place.
    fn of<'a>(&self, rows: &'a Rows, place: usize) -> ChunksExact<'a, f32> {
        rows.panel(place)[self.rows.clone()].chunks_exact(ROWS)
    }

    fn of_mut<'a>(&self, rows: &'a mut Rows, place: usize) -> ChunksExactMut<'a, f32> {
        rows.panel_mut(place)[self.rows.clone()].chunks_exact_mut(ROWS)
    }
}

impl Heads<'_> {
    fn n_positions(&self) -> usize {
        self.places.n_names.len() / self.places.n_groups
    }

    fn queries(&self) -> impl Iterator<Item = Query> + '_ {
        let len = self.n_positions() * ROWS;
        let of_place = move |(place, n_lanes)| {
            (0..self.n_heads).map(move |i| Query {
                place,
                n_lanes,
                rows: i * self.d_k * ROWS..(i + 1) * self.d_k * ROWS,
                first: (place * self.n_heads + i) * len,
            })
        };
        self.places.in_use().flat_map(of_place)
    }

    /// The places that a query attends to.
    fn keys(&self, query: &Query) -> impl Iterator<Item = usize> + use<> {
        (query.place % self.places.n_groups..=query.place).step_by(self.places.n_groups)
    }
}

/// The attention weights, and the heads' outputs side by side.
pub(crate) struct Attend<'a>(pub(crate) Heads<'a>);

impl WithSimd for Attend<'_> {
    type Output = (Vec<f32>, Rows);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (Vec<f32>, Rows) {
        let Self(heads) = self;
        let ([q, k, v], n_places) = (heads.q_k_v, heads.places.n_names.len());
        let mut attn = vec![0.0; n_places * heads.n_heads * heads.n_positions() * ROWS];
        let mut out = heads.places.rows(heads.n_heads * heads.d_k);
        let per_width = 1.0 / (heads.d_k as f32).sqrt();
        for query in heads.queries() {
            let n = query.n_lanes;
            let attn = &mut attn[query.first..];
            let mut largest = [f32::NEG_INFINITY; ROWS];
            for (key, scores) in zip(heads.keys(&query), attn.chunks_exact_mut(ROWS)) {
                for (q, k) in zip(query.of(q, query.place), query.of(k, key)) {
                    add_products(&mut scores[..n], q, k);
                }
                for l in 0..n {
                    scores[l] *= per_width;
                    largest[l] = largest[l].max(scores[l]);
                }
            }
            let mut sum = [0f32; ROWS];
            for (_, scores) in zip(heads.keys(&query), attn.chunks_exact_mut(ROWS)) {
                (0..n).for_each(|l| scores[l] -= largest[l]);
                exp(simd, &mut scores[..n]);
                add(&mut sum[..n], scores);
            }
            for (key, attn) in zip(heads.keys(&query), attn.chunks_exact_mut(ROWS)) {
                (0..n).for_each(|l| attn[l] /= sum[l]);
                for (out, v) in zip(query.of_mut(&mut out, query.place), query.of(v, key))
                {
                    add_products(&mut out[..n], attn, v);
                }
            }
        }
        (attn, out)
    }
}

/// The gradients of queries, keys and values, from those of the heads' outputs.
pub(crate) struct AttendBackward<'a> {
    pub(crate) heads: Heads<'a>,
    pub(crate) attn: &'a [f32],
    pub(crate) d: &'a Rows,
}

impl WithSimd for AttendBackward<'_> {
    type Output = [Rows; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [Rows; 3] {
        let Self { heads, attn, d } = self;
        let [q, k, v] = heads.q_k_v;
        let width = heads.n_heads * heads.d_k;
        let [mut d_q, mut d_k, mut d_v] = [(); 3].map(|()| heads.places.rows(width));
        let per_width = 1.0 / (heads.d_k as f32).sqrt();
        let mut d_attn = vec![0.0; heads.n_positions() * ROWS];
        for query in heads.queries() {
            let (n, place) = (query.n_lanes, query.place);
            let attn = attn[query.first..].chunks_exact(ROWS);
            d_attn.fill(0.0);
            let mut mean = [0f32; ROWS];
            for (key, (d_attn, attn)) in
                zip(heads.keys(&query), zip(d_attn.chunks_exact_mut(ROWS), attn.clone()))
            {
                for (d, v) in zip(query.of(d, place), query.of(v, key)) {
                    add_products(&mut d_attn[..n], d, v);
                }
                add_products(&mut mean[..n], attn, d_attn);
            }
            for (key, (d_attn, attn)) in
                zip(heads.keys(&query), zip(d_attn.chunks_exact_mut(ROWS), attn))
            {
                // From the gradient of a weight to that of its score.
                (0..n).for_each(|l| {
                    d_attn[l] = attn[l] * (d_attn[l] - mean[l]) * per_width
                });
                let rows =
                    zip(query.of(d, place), zip(query.of(q, place), query.of(k, key)));
                let d_kv = zip(query.of_mut(&mut d_k, key), query.of_mut(&mut d_v, key));
                let to = zip(query.of_mut(&mut d_q, place), d_kv);
                for ((d, (q, k)), (d_q, (d_k, d_v))) in zip(rows, to) {
                    add_products(&mut d_q[..n], d_attn, k);
                    add_products(&mut d_k[..n], d_attn, q);
                    add_products(&mut d_v[..n], attn, d);
                }
            }
        }
        [d_q, d_k, d_v]
    }
}
