//! A whole prompt on a cache: as many queries as there are new keys.

use attention::{Error, Mask, Matrix, Result};
use tiles::Lengths;
use tiles::attend::PanelsOf;
use tiles::panels::HeadPanels;

use crate::cache::Row;
use crate::panels::Panels;
use crate::{GroupedAttention, PackedCache, tiled};

/// From so many queries on, tiles are faster than one query after the other.
const MANY: usize = 9;

impl GroupedAttention {
    /// The last tokens of a cache, those that have just been appended: each attends to
    /// itself and to all before it, as far as the window goes.
    ///
    /// With a soft cap, a window or a sink, one query goes after the other, as in
    /// [`one_token`](Self::one_token).
    ///
    /// ```
    /// use attention::{Matrix, Rng, SeedableRng, random_matrix};
    /// use cached::{GroupedAttention, GroupedHeads, PackedCache, Scoring};
    ///
    /// let (rng, heads) = (&mut Rng::seed_from_u64(1), GroupedHeads::new([4, 2], [8, 8])?);
    /// let [q, k, v] = [4, 2, 2].map(|heads| random_matrix::<f32>(20, heads * 8, 1.0, rng));
    /// let mut cache = PackedCache::new(heads);
    /// cache.append(&k, &v)?;
    /// let mut attention = GroupedAttention::new(heads, Scoring::default())?;
    /// let (mut all, mut last) = (q.clone(), Matrix::zeros(1, 4 * 8));
    /// attention.prompt(&q, &cache, &mut all)?;
    /// attention.one_token(&q.rows(19, 1).into_owned(), &[&cache], &mut last)?;
    /// assert!((all.row(19) - last.row(0)).amax() < 1e-6);
    /// # Ok::<(), attention::Error>(())
    /// ```
    ///
    /// # Shapes
    /// `q` is `[n, n_heads · d_k]`, not scaled, of the last n tokens of the cache; `out` is
    /// `[n, n_heads · d_v]`.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::EmptySequence`] for an empty cache, [`Error::Length`] for
    /// one with fewer tokens than queries; `out` is then as it was.
    pub fn prompt(
        &mut self,
        q: &Matrix<f32>,
        cache: &PackedCache,
        out: &mut Matrix<f32>,
    ) -> Result<()> {
        self.check(q, &[cache], out)?;
        let (n, n_tokens) = (q.nrows(), cache.n_tokens());
        let Some(before) = n_tokens.checked_sub(n) else {
            return Error::expect_length("the cache of these queries", n, n_tokens);
        };
        if n < MANY || !self.scoring.is_plain() {
            let seen = |i| self.scoring.seen(before + i + 1);
            let rows: Vec<_> = (0..n).map(|i| Row { cache, keys: seen(i) }).collect();
            self.each_row(q, &rows, out);
            return Ok(());
        }
        self.in_tiles(q, cache, &Mask::Causal, out);
        Ok(())
    }

    /// # Shapes
    /// They were compared.
    fn in_tiles(
        &mut self,
        q: &Matrix<f32>,
        cache: &PackedCache,
        mask: &Mask,
        out: &mut Matrix<f32>,
    ) {
        let heads = self.heads;
        let factor = self.scoring.query_factor(heads);
        let [queries, _] = self.tiles.take(heads, q.nrows());
        tiled::pack_queries(heads, q.as_view(), factor, queries);
        // In fewer bits they become floats once, for all queries.
        let of_head =
            |kv_head| [cache.keys(kv_head), cache.values(kv_head)].map(Panels::floats);
        let floats: Vec<_> = (0..heads.n_kv_heads()).map(of_head).collect();
        let panels: &PanelsOf<'_> = &|head| {
            let [k, v] = &floats[head / heads.group()];
            [HeadPanels::alone(k, heads.d_k()), HeadPanels::alone(v, heads.d_v())]
        };
        let queries_and_keys = tiled::QueriesAndKeys {
            heads,
            instructions: self.instructions,
            lengths: Lengths { n_sequences: 1, n_q: q.nrows(), n_kv: cache.n_tokens() },
            masks: std::slice::from_ref(mask),
            positions: None,
            q: None, // in the places of the outputs
            panels,
        };
        queries_and_keys.run(&mut self.tiles);
        tiled::unpack_outputs(heads, &self.tiles, out.as_view_mut());
    }
}
