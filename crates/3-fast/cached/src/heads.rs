//! The sizes of heads that share keys and values.

use attention::{Error, Result, Shape};

/// How many query heads there are, how many heads of keys and values they share, and how
/// wide each is.
///
/// Neighbours share: query head i reads head `i / (n_heads / n_kv_heads)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupedHeads {
    n_heads: usize,
    n_kv_heads: usize,
    d_k: usize,
    d_v: usize,
}

impl GroupedHeads {
    /// So many query heads on so many heads of keys and values, all keys and queries of
    /// width `d_k` and all values of width `d_v`.
    ///
    /// # Errors
    /// [`Error::ZeroSize`]; [`Error::Groups`] if groups would differ in size.
    pub fn new(
        [n_heads, n_kv_heads]: [usize; 2],
        [d_k, d_v]: [usize; 2],
    ) -> Result<Self> {
        for (what, size) in
            [("n_heads", n_heads), ("n_kv_heads", n_kv_heads), ("d_k", d_k), ("d_v", d_v)]
        {
            Error::expect_positive(what, size)?;
        }
        if !n_heads.is_multiple_of(n_kv_heads) {
            return Err(Error::Groups { n_heads, n_kv_heads });
        }
        Ok(Self { n_heads, n_kv_heads, d_k, d_v })
    }

    /// The number of query heads.
    pub fn n_heads(&self) -> usize {
        self.n_heads
    }

    /// The number of heads of keys and values.
    pub fn n_kv_heads(&self) -> usize {
        self.n_kv_heads
    }

    /// The number of query heads that share a head of keys and values.
    pub fn group(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }

    /// The width of a query and of a key.
    pub fn d_k(&self) -> usize {
        self.d_k
    }

    /// The width of a value.
    pub fn d_v(&self) -> usize {
        self.d_v
    }

    /// Whether keys and values of these shapes fit.
    pub(crate) fn check_keys(&self, k: Shape, v: Shape) -> Result<()> {
        let n = k.0;
        let width = self.n_kv_heads * self.d_k;
        Error::expect_shape("the keys for the cache", (n, width), k)?;
        if v.0 != n {
            return Err(Error::KeyValueLengths { n_keys: n, n_values: v.0 });
        }
        let width = self.n_kv_heads * self.d_v;
        Error::expect_shape("the values for the cache", (n, width), v)
    }
}
