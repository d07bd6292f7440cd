//! A whole prompt on a cache: as many queries as there are new keys, through the tiles of
//! the last rung. The keys of a group are read where they are by each of its heads.

use attention::{Dims, Error, Mask, Matrix, Result};

use super::cache::Row;
use super::tiles::Tiles;
use super::{GroupedAttention, GroupedHeads, PackedCache};
use crate::Lengths;
use crate::packed::attend::{Attend, PanelsOf};
use crate::packed::forward::in_runs;
use crate::packed::memory::Scratch;
use crate::packed::panels::{HeadPanels, n_groups, rows_of};
use crate::packed::running::Normalisers;
use crate::packed::units::{Queue, share_out};
use crate::packed::weights::rows_per_head;
use crate::tile::ROWS;

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
    /// use kernels::{GroupedAttention, GroupedHeads, PackedCache, Scoring};
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
        self.in_tiles(q, cache, &Mask::Causal, out)
    }

    /// Afterwards the tiles have the normalisers of all queries.
    ///
    /// # Shapes
    /// They were compared.
    pub(super) fn in_tiles(
        &mut self,
        q: &Matrix<f32>,
        cache: &PackedCache,
        mask: &Mask,
        out: &mut Matrix<f32>,
    ) -> Result<()> {
        let dims = dims(self.heads)?;
        // Within the pool, where joins are cheap and the number of threads is known.
        let within = || {
            let n_threads = rayon::current_num_threads();
            self.on_threads(dims, n_threads, q, cache, mask, out);
        };
        rayon::join(within, || ());
        Ok(())
    }

    fn on_threads(
        &mut self,
        dims: Dims,
        n_threads: usize,
        q: &Matrix<f32>,
        cache: &PackedCache,
        mask: &Mask,
        out: &mut Matrix<f32>,
    ) {
        let (heads, instructions) = (self.heads, self.instructions);
        let (n_q, n_kv) = (q.nrows(), cache.n_tokens());
        let factor = self.scoring.query_factor(heads);
        let len = rows_per_head(dims) * ROWS;
        let n_pieces = n_groups(n_q) * heads.n_heads();
        let Tiles { heads: places, normalisers, scratches } = &mut self.tiles;
        let places = places.take(n_pieces * len);
        let features = |place| (place / heads.n_heads(), place % heads.n_heads());
        for (place, numbers) in places.chunks_exact_mut(len).enumerate() {
            let ((group, head), d_k) = (features(place), heads.d_k());
            let columns = q.columns(head * d_k, d_k);
            let rows = rows_of(group, n_q);
            for (lanes, column) in
                numbers.chunks_exact_mut(ROWS).zip(columns.column_iter())
            {
                let from = &column.as_slice()[rows.clone()];
                lanes[from.len()..].fill(0.0);
                lanes.iter_mut().zip(from).for_each(|(to, x)| *to = x * factor);
            }
        }
        if scratches.len() < n_threads {
            scratches.resize_with(n_threads, Scratch::default);
        }
        let normalisers = normalisers.take(n_pieces * Normalisers::LEN);
        let order = in_runs(n_pieces, dims, n_threads);
        let queue = &Queue::new(n_pieces, order, [&mut *places, normalisers]);
        let lengths = Lengths { n_sequences: 1, n_q, n_kv };
        let panels: &PanelsOf<'_> = &|head| {
            let kv_head = head / heads.group();
            let (k, v) = (cache.keys(kv_head), cache.values(kv_head));
            [HeadPanels::alone(k, heads.d_k()), HeadPanels::alone(v, heads.d_v())]
        };
        let (q, masks) = (None, std::slice::from_ref(mask));
        share_out(&mut scratches[..n_threads], &|scratch| {
            instructions.run(Attend { dims, masks, lengths, q, panels, queue, scratch });
        });
        for (place, numbers) in places.chunks_exact(len).enumerate() {
            let ((group, head), d_v) = (features(place), heads.d_v());
            let rows = rows_of(group, n_q);
            for (f, lanes) in numbers.chunks_exact(ROWS).take(d_v).enumerate() {
                let mut column = out.column_mut(head * d_v + f);
                column.as_mut_slice()[rows.clone()].copy_from_slice(&lanes[..rows.len()]);
            }
        }
    }
}

/// The sizes of a layer in which each query head has keys of its own.
fn dims(heads: GroupedHeads) -> Result<Dims> {
    let d_model = heads.n_heads() * heads.d_v();
    Dims::with_head_sizes(d_model, heads.n_heads(), heads.d_k(), heads.d_v())
}
