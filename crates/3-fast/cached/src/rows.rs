//! Chosen rows of the maps of a long text: what some of its tokens give each of all its keys.
//!
//! Of a text of n tokens a map has n² shares, and no cache keeps one. A few rows have n each,
//! and are made of the keys that the cache has anyway.

use attention::{Error, Matrix, Result};
use rayon::prelude::*;

use crate::{GroupedAttention, PackedCache, non_finite};

impl GroupedAttention {
    /// The shares that queries of the tokens at `places` give all tokens of a cache; those that
    /// a query does not see get none.
    ///
    /// ```
    /// use attention::{Rng, SeedableRng, random_matrix};
    /// use cached::{GroupedAttention, GroupedHeads, PackedCache, Scoring};
    ///
    /// let (rng, heads) = (&mut Rng::seed_from_u64(1), GroupedHeads::new([4, 2], [8, 8])?);
    /// let keys = random_matrix(100, 2 * 8, 1.0, rng);
    /// let mut cache = PackedCache::new(heads);
    /// cache.append(&keys, &keys)?;
    /// let attention = GroupedAttention::new(heads, Scoring::default())?;
    /// let maps = attention.rows(&random_matrix(2, 4 * 8, 1.0, rng), &cache, &[9, 70])?;
    /// assert_eq!((maps.len(), maps[3].shape()), (4, (2, 100)));
    /// assert!((maps[3].row(0).columns(0, 10).sum() - 1.0).abs() < 1e-6);
    /// # Ok::<(), attention::Error>(())
    /// ```
    ///
    /// # Shapes
    /// `q` is `[n, n_heads · d_k]`, not scaled, a row per place; the result is a map per head,
    /// `[n, n_tokens]`.
    ///
    /// # Errors
    /// [`Error::Shape`], also for a cache of other heads; [`Error::NoSuchIndex`] for a place
    /// that no token of the cache has.
    pub fn rows(
        &self,
        q: &Matrix<f32>,
        cache: &PackedCache,
        places: &[usize],
    ) -> Result<Vec<Matrix<f32>>> {
        let (heads, n_tokens) = (self.heads, cache.n_tokens());
        let width = heads.n_heads() * heads.d_k();
        Error::expect_shape("q", (places.len(), width), q.shape())?;
        let widths = |heads: crate::GroupedHeads| {
            (heads.n_kv_heads() * heads.d_k(), heads.n_kv_heads() * heads.d_v())
        };
        let expected = widths(heads);
        Error::expect_shape("the cache of these heads", expected, widths(cache.heads()))?;
        if let Some(&index) = places.iter().find(|&&place| place >= n_tokens) {
            return Err(Error::NoSuchIndex { what: "token", index, n: n_tokens });
        }
        let of_keys: Vec<_> =
            (0..heads.n_kv_heads()).map(|kv_head| cache.keys(kv_head).floats()).collect();
        let map = |head: usize| {
            let panels = &of_keys[head / heads.group()];
            let mut map = Matrix::zeros(places.len(), n_tokens);
            for (row, &place) in places.iter().enumerate() {
                let keys = self.scoring.seen(place + 1);
                let of_head = q.view((row, head * heads.d_k()), (1, heads.d_k()));
                let q: Vec<f32> = of_head.iter().copied().collect();
                let shares = non_finite::shares(
                    &q,
                    head,
                    heads,
                    panels,
                    keys.clone(),
                    &self.scoring,
                );
                map.view_mut((row, keys.start), (1, keys.len())).copy_from(&shares);
            }
            map
        };
        Ok((0..heads.n_heads()).into_par_iter().map(map).collect())
    }
}
