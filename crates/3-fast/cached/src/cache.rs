//! Keys and values of the tokens so far, in panels.

use std::ops::Range;

use attention::{Matrix, Result, View};

use crate::GroupedHeads;
use crate::panels::{Panels, Precision};

/// The keys and values of one sequence in one layer, packed as they are read: for each head
/// of keys, panels of 48 tokens, one after the other.
///
/// Keys go in as scores need them, with a model's norm or rotation already done. Appending
/// moves nothing that is there, but for a growing vector's own doubling;
/// [`with_room`](Self::with_room) asks for all of it at once. In a [`Precision`] of fewer bits
/// there are fewer bytes to read, and each number is another one; the arithmetic stays in f32.
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
    /// Per head of keys, `[panel][d_k][48]`. What stands behind the last token is of tokens
    /// that were forgotten, and means nothing.
    keys: Vec<Panels>,
    /// Per head of values, `[panel][d_v][48]`, likewise.
    values: Vec<Panels>,
}

impl PackedCache {
    /// An empty cache.
    pub fn new(heads: GroupedHeads) -> Self {
        Self::with_room(heads, 0)
    }

    /// An empty cache that need not move before it has more than so many tokens.
    pub fn with_room(heads: GroupedHeads, n_tokens: usize) -> Self {
        Self::with_precision(heads, n_tokens, Precision::F32)
    }

    /// The same with numbers of so many bits.
    ///
    /// ```
    /// use attention::Matrix;
    /// use cached::{GroupedHeads, PackedCache, Precision};
    ///
    /// let heads = GroupedHeads::new([9, 3], [64, 64])?;
    /// let mut cache = PackedCache::with_precision(heads, 512, Precision::F16);
    /// let row = Matrix::zeros(1, 3 * 64);
    /// cache.append(&row, &row)?;
    /// assert_eq!(cache.bytes_of(0..1), 2 * 3 * 64 * 2);
    /// # Ok::<(), attention::Error>(())
    /// ```
    pub fn with_precision(
        heads: GroupedHeads,
        n_tokens: usize,
        precision: Precision,
    ) -> Self {
        let panels = |width| {
            let of_head = |_| Panels::new(precision, width, n_tokens);
            (0..heads.n_kv_heads()).map(of_head).collect()
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
        let all = self.keys.iter().chain(&self.values);
        tokens.len() * all.map(Panels::bytes_per_token).sum::<usize>()
    }

    /// Takes the keys and values of new tokens.
    ///
    /// # Shapes
    /// `k` is `[n, n_kv_heads · d_k]` and `v` is `[n, n_kv_heads · d_v]`, heads side by side.
    ///
    /// # Errors
    /// [`Error::Shape`](attention::Error::Shape),
    /// [`Error::KeyValueLengths`](attention::Error::KeyValueLengths);
    /// [`Error::NoSuchNumber`](attention::Error::NoSuchNumber) for one that the cache's
    /// [`Precision`] has no place for. The cache is then as it was.
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
        let first = self.n_tokens;
        for (what, all, from) in
            [("the keys", &self.keys, k), ("the values", &self.values, v)]
        {
            all.first().map_or(Ok(()), |panels| panels.check(what, from))?;
        }
        for (all, width, from) in
            [(&mut self.keys, heads.d_k(), k), (&mut self.values, heads.d_v(), v)]
        {
            for (head, panels) in all.iter_mut().enumerate() {
                panels.write(first, from.columns(head * width, width));
            }
        }
        self.n_tokens += k.nrows();
        Ok(())
    }

    /// Forgets all but the first tokens; with fewer than that, nothing.
    pub fn truncate(&mut self, n_tokens: usize) {
        if n_tokens >= self.n_tokens {
            return;
        }
        self.n_tokens = n_tokens;
        let all = self.keys.iter_mut().chain(&mut self.values);
        all.for_each(|panels| panels.truncate(n_tokens));
    }

    /// The panels of a head's keys, `[panel][d_k][48]`.
    pub(crate) fn keys(&self, kv_head: usize) -> &Panels {
        &self.keys[kv_head]
    }

    /// The panels of a head's values, `[panel][d_v][48]`.
    pub(crate) fn values(&self, kv_head: usize) -> &Panels {
        &self.values[kv_head]
    }
}

/// The keys that a row of queries sees.
pub(crate) struct Row<'a> {
    pub(crate) cache: &'a PackedCache,
    pub(crate) keys: Range<usize>,
}
