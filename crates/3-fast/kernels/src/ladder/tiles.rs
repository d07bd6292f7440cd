//! Attention in tiles: some queries, some keys, and an online softmax between them.
//!
//! The map of n × n shares is never written down. A tile of scores is computed, its
//! exponentials taken and its values added up while it is still in the cache; then the
//! next tile of keys takes its place.
//!
//! **What it buys:** memory that grows as n and no longer as n². Where n is large, time
//! as well: a map of 4096 × 4096 shares is 64 MiB, and the plain layer writes and reads
//! each several times. A tile that a mask blocks whole is never computed, so a causal mask
//! saves half of the work.
//!
//! **Where it is slower:** nowhere by much, but at a hundred tokens a map is one tile
//! anyway and nothing is won. A tile is a small product, and a library spends a larger
//! part of a small product on preparing it; each tile also corrects the sums so far.

use std::borrow::Cow;
use std::ops::Range;

use attention::{
    Dims, LayerParameters, Linear, Mask, Matrix, Result, View, softmax_rows,
    weighted_values,
};
use tiles::{BlockMask, Lengths};

use super::one_product::{Joined, Projected};
use crate::{Inputs, Rung};
use attention::OnlineSoftmax;

/// Queries and keys of a tile: 64 KB of scores, which the second level of cache holds
/// beside the values. Smaller tiles are slower, larger ones no faster.
pub(super) const QUERIES: usize = 128;
pub(super) const KEYS: usize = 128;

/// The layer in tiles, its exponentials number by number.
#[derive(Debug, Clone)]
pub struct Tiles {
    w: Joined,
}

impl Tiles {
    /// How many queries a tile has.
    pub const QUERIES: usize = QUERIES;
    /// How many keys a tile has.
    pub const KEYS: usize = KEYS;

    /// The layer with these parameters.
    pub fn new(parameters: &LayerParameters<f32>) -> Self {
        Self { w: Joined::new(parameters) }
    }
}

impl Rung for Tiles {
    fn name(&self) -> &'static str {
        "tiles"
    }

    fn dims(&self) -> Dims {
        self.w.packed.dims()
    }

    fn forward(&mut self, inputs: &Inputs<'_>, out: &mut Matrix<f32>) -> Result<()> {
        let exp = |numbers: &mut [f32]| numbers.iter_mut().for_each(|x| *x = x.exp());
        forward_in_tiles(&self.w, inputs, out, exp)
    }
}

/// The layer in tiles, with this exponential.
pub(super) fn forward_in_tiles(
    w: &Joined,
    inputs: &Inputs<'_>,
    out: &mut Matrix<f32>,
    exp: impl Fn(&mut [f32]),
) -> Result<()> {
    let lengths = inputs.check(w.packed.dims(), out)?;
    let projected = w.project(inputs, Linear::forward)?;

    let (n_q, d_v) = (lengths.n_q, w.packed.dims().d_v());
    let mut concat = Matrix::zeros(out.nrows(), w.packed.dims().concat_width());
    for s in 0..lengths.n_sequences {
        for i in 0..w.packed.dims().n_heads() {
            let head = Head::new(w.packed.dims(), inputs, lengths, &projected, s, i);
            for queries in blocks(0..n_q, QUERIES) {
                let out_i = head.attend(queries.clone(), &exp);
                let place = (s * n_q + queries.start, i * d_v);
                concat.view_mut(place, (queries.len(), d_v)).copy_from(&out_i);
            }
        }
    }
    out.copy_from(&w.packed.w_o().forward(&concat)?);
    Ok(())
}

/// One head of one sequence.
pub(super) struct Head<'a> {
    q: View<'a, f32>,
    /// kᵀ, turned once for all tiles. `[d_k, n_kv]`
    k_t: Matrix<f32>,
    v: View<'a, f32>,
    mask: Cow<'a, Mask>,
}

impl<'a> Head<'a> {
    /// Head `i` of sequence `s`.
    pub(super) fn new(
        dims: Dims,
        inputs: &Inputs<'a>,
        lengths: Lengths,
        projected: &'a Projected,
        s: usize,
        i: usize,
    ) -> Self {
        let [q, k, v] = projected.head(dims, lengths, s, i);
        Self { q, k_t: k.transpose(), v, mask: inputs.mask(s).of_head(i) }
    }

    /// `softmax(q kᵀ / √d_k) v` for some of the queries, `[n_queries, d_v]`.
    ///
    /// A number that is not finite always leaves a trace in the sums, also where its
    /// share is 0. That is rare, and is worth a second computation.
    pub(super) fn attend(
        &self,
        queries: Range<usize>,
        exp: impl Fn(&mut [f32]),
    ) -> Matrix<f32> {
        let out = self.in_tiles(queries.clone(), exp);
        if out.iter().all(|x| x.is_finite()) { out } else { self.in_rows(queries) }
    }

    /// The same by an online softmax over tiles, for finite numbers.
    // ANCHOR: in_tiles
    fn in_tiles(&self, queries: Range<usize>, exp: impl Fn(&mut [f32])) -> Matrix<f32> {
        let q = self.scaled(&queries); // [n_queries, d_k]
        let mask = BlockMask::new(&self.mask, queries.clone(), self.lengths());
        let mut online = OnlineSoftmax::new(queries.len(), self.v.ncols());
        for keys in blocks(mask.visible(), KEYS) {
            let scores = self.scores(&q, &mask, &keys); // [n_queries, n_keys]
            online.take_in(scores, self.v.rows_range(keys), &exp);
        }
        online.finish()
    }
    // ANCHOR_END: in_tiles

    /// The masked scores of one tile.
    fn scores(
        &self,
        q: &Matrix<f32>,
        mask: &BlockMask<'_>,
        keys: &Range<usize>,
    ) -> Matrix<f32> {
        let mut scores = q * self.k_t.columns_range(keys.clone());
        if !mask.is_open(keys.clone()) {
            let n_queries = scores.nrows();
            mask.apply(scores.as_mut_slice(), n_queries, keys.clone(), 1.0);
        }
        scores
    }

    /// The same with whole rows of shares, a share of 0 leaving its value out.
    fn in_rows(&self, queries: Range<usize>) -> Matrix<f32> {
        let mask = BlockMask::new(&self.mask, queries.clone(), self.lengths());
        let scores = self.scores(&self.scaled(&queries), &mask, &(0..self.v.nrows()));
        weighted_values(&softmax_rows(scores), self.v)
    }

    /// `q / √d_k` for some of the queries.
    fn scaled(&self, queries: &Range<usize>) -> Matrix<f32> {
        self.q.rows_range(queries.clone()) / (self.q.ncols() as f32).sqrt()
    }

    fn lengths(&self) -> (usize, usize) {
        (self.q.nrows(), self.v.nrows())
    }
}

/// A range cut into pieces of this length; the last may be shorter.
pub(super) fn blocks(
    range: Range<usize>,
    length: usize,
) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(length).map(move |start| start..end.min(start + length))
}

#[cfg(test)]
mod tests {
    use attention::{Rng, SeedableRng, max_abs_diff, random_matrix};

    use super::*;

    fn exp(numbers: &mut [f32]) {
        numbers.iter_mut().for_each(|x| *x = x.exp());
    }

    fn head<'a>(all: &'a [Matrix<f32>; 3], mask: &'a Mask) -> Head<'a> {
        let [q, k, v] = all;
        let mask = Cow::Borrowed(mask);
        Head { q: q.as_view(), k_t: k.transpose(), v: v.as_view(), mask }
    }

    fn random(n_q: usize, n_kv: usize) -> [Matrix<f32>; 3] {
        let rng = &mut Rng::seed_from_u64(9);
        [(n_q, 5), (n_kv, 5), (n_kv, 3)].map(|(n, d)| random_matrix(n, d, 2.0, rng))
    }

    #[test]
    #[cfg_attr(miri, ignore = "minutes long, and all of it safe code")]
    fn tiles_give_what_whole_rows_give() {
        // The first query sees a late key only; between the others' keys is a gap.
        let late = Mask::Allowed(Matrix::from_fn(280, 300, |i, j| {
            if i == 0 { j == 290 } else { !(100..270).contains(&j) }
        }));
        let masks = [
            (280, 300, Mask::None),
            (280, 300, Mask::Causal),
            (300, 130, Mask::Causal),
            (280, 300, Mask::CausalTopLeft),
            (300, 130, Mask::CausalTopLeft),
            (280, 300, Mask::Keys((0..300).map(|j| j % 140 > 5 && j < 290).collect())),
            (280, 300, Mask::FirstKeys(0)),
            (280, 300, Mask::FirstKeys(129)),
            (280, 300, Mask::All(vec![late.clone(), Mask::Causal])),
            (280, 300, late),
        ];
        for (n_q, n_kv, mask) in &masks {
            let all = random(*n_q, *n_kv);
            let head = head(&all, mask);
            for queries in blocks(0..*n_q, QUERIES) {
                let tiles = head.in_tiles(queries.clone(), exp);
                let diff = max_abs_diff(&head.in_rows(queries.clone()), &tiles).unwrap();
                assert!(diff < 2e-6, "{queries:?} of {n_q}, {n_kv}: {diff:e}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "minutes long, and all of it safe code")]
    fn a_tile_that_is_blocked_whole_is_not_computed() {
        let first_hundred = (0..300).map(|j| j < 100).collect();
        for (mask, queries, seen) in [
            (Mask::Causal, 0..128, 128),
            (Mask::CausalTopLeft, 0..128, 128),
            (Mask::FirstKeys(100), 0..128, 100),
            (Mask::Keys(first_hundred), 0..128, 100),
        ] {
            let mut all = random(300, 300);
            all[2].rows_mut(seen, 300 - seen).fill(f32::NAN);
            let out = head(&all, &mask).in_tiles(queries, exp);
            assert!(out.iter().all(|x| x.is_finite()), "{mask:?}");
        }
    }
}
