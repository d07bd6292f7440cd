//! Keys and values of the tokens so far, in panels.

use std::ops::Range;

use attention::{Matrix, Result, View};
use tiles::panels::{n_groups, round_up, rows_of};
use tiles::tile::ROWS;

use crate::GroupedHeads;

/// The keys and values of one sequence in one layer, packed as they are read: for each head
/// of keys, panels of 48 tokens, one after the other.
///
/// Keys go in as scores need them, with a model's norm or rotation already done. Appending
/// moves nothing that is there, but for a growing vector's own doubling;
/// [`with_room`](Self::with_room) asks for all of it at once.
///
/// ```
/// use attention::Matrix;
/// use cached::{GroupedHeads, PackedCache};
///
/// let heads = GroupedHeads::new([9, 3], [64, 64])?;
/// let mut cache = PackedCache::with_room(heads, 512);
/// for _ in 0..3 {
///     let row = Matrix::zeros(1, 3 * 64);
///     cache.append(&row, &row)?;
/// }
/// assert_eq!(cache.n_tokens(), 3);
/// assert_eq!(cache.bytes_of(0..3), 3 * 2 * 3 * 64 * 4);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PackedCache {
    heads: GroupedHeads,
    n_tokens: usize,
    /// Per head of keys, `[panel][d_k][48]`, as many rows as [`round_up`] says. What stands
    /// behind the last token is of tokens that were forgotten, and means nothing.
    keys: Vec<Vec<f32>>,
    /// Per head of values, `[panel][d_v][48]`, likewise.
    values: Vec<Vec<f32>>,
}

impl PackedCache {
    /// An empty cache.
    pub fn new(heads: GroupedHeads) -> Self {
        Self::with_room(heads, 0)
    }

    /// An empty cache that need not move before it has more than so many tokens.
    pub fn with_room(heads: GroupedHeads, n_tokens: usize) -> Self {
        let panels = |width| {
            let len = n_groups(n_tokens) * round_up(width) * ROWS;
            (0..heads.n_kv_heads()).map(|_| Vec::with_capacity(len)).collect()
        };
        let (keys, values) = (panels(heads.d_k()), panels(heads.d_v()));
        Self { heads, n_tokens: 0, keys, values }
    }

    /// The sizes of its heads.
    pub fn heads(&self) -> GroupedHeads {
        self.heads
    }

    /// The number of tokens.
    pub fn n_tokens(&self) -> usize {
        self.n_tokens
    }

    /// The bytes of the keys and values of some tokens: what a new token reads if it sees
    /// these.
    pub fn bytes_of(&self, tokens: Range<usize>) -> usize {
        let per_token = self.heads.n_kv_heads() * (self.heads.d_k() + self.heads.d_v());
        tokens.len() * per_token * size_of::<f32>()
    }

    /// Takes the keys and values of new tokens.
    ///
    /// # Shapes
    /// `k` is `[n, n_kv_heads · d_k]` and `v` is `[n, n_kv_heads · d_v]`, heads side by side.
    ///
    /// # Errors
    /// [`Error::Shape`](attention::Error::Shape),
    /// [`Error::KeyValueLengths`](attention::Error::KeyValueLengths); the cache is then as it was.
    pub fn append(&mut self, k: &Matrix<f32>, v: &Matrix<f32>) -> Result<()> {
        self.append_views(k.as_view(), v.as_view())
    }

    /// The same from matrices that are parts of others.
    ///
    /// # Shapes
    /// As [`append`](Self::append).
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn append_views(&mut self, k: View<'_, f32>, v: View<'_, f32>) -> Result<()> {
        let heads = self.heads;
        heads.check_keys(k.shape(), v.shape())?;
        let rows = self.n_tokens..self.n_tokens + k.nrows();
        for (all, width, from) in
            [(&mut self.keys, heads.d_k(), k), (&mut self.values, heads.d_v(), v)]
        {
            let len = n_groups(rows.end) * round_up(width) * ROWS;
            all.iter_mut().for_each(|panels| panels.resize(len, 0.0));
            write(all.iter_mut().map(Vec::as_mut_slice), width, rows.clone(), from);
        }
        self.n_tokens = rows.end;
        Ok(())
    }

    /// Forgets all but the first tokens; with fewer than that, nothing.
    pub fn truncate(&mut self, n_tokens: usize) {
        if n_tokens >= self.n_tokens {
            return;
        }
        self.n_tokens = n_tokens;
        let (d_k, d_v) = (self.heads.d_k(), self.heads.d_v());
        for (all, width) in [(&mut self.keys, d_k), (&mut self.values, d_v)] {
            let len = n_groups(n_tokens) * round_up(width) * ROWS;
            all.iter_mut().for_each(|panels| panels.truncate(len));
        }
    }

    /// The panels of a head's keys, `[panel][d_k][48]`.
    pub(crate) fn keys(&self, kv_head: usize) -> &[f32] {
        &self.keys[kv_head]
    }

    /// The panels of a head's values, `[panel][d_v][48]`.
    pub(crate) fn values(&self, kv_head: usize) -> &[f32] {
        &self.values[kv_head]
    }
}

/// Writes rows of a matrix, heads side by side, to their lanes of each head's panels.
pub(crate) fn write<'a>(
    heads: impl Iterator<Item = &'a mut [f32]>,
    width: usize,
    rows: Range<usize>,
    from: View<'_, f32>,
) {
    let len = round_up(width) * ROWS;
    for (head, panels) in heads.enumerate() {
        for p in rows.start / ROWS..n_groups(rows.end) {
            let here =
                rows_of(p, rows.end).start.max(rows.start)..rows_of(p, rows.end).end;
            let panel = panels[p * len..][..len].chunks_exact_mut(ROWS);
            let columns = from.columns(head * width, width);
            for (lanes, column) in panel.zip(columns.column_iter()) {
                let source = &column.as_slice()[here.start - rows.start..][..here.len()];
                lanes[here.start % ROWS..][..here.len()].copy_from_slice(source);
            }
        }
    }
}

/// The keys that a row of queries sees.
pub(crate) struct Row<'a> {
    pub(crate) cache: &'a PackedCache,
    pub(crate) keys: Range<usize>,
}
