//! Where queries and keys stand in the text.

/// The places of queries and keys in one text.
///
/// Masks count rows and columns. What depends on distance needs places: a cache that has
/// forgotten the middle of a text still knows where its keys stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Positions {
    /// Where each query stands, `[n_q]`.
    pub queries: Vec<i64>,
    /// Where each key stands, `[n_kv]`.
    pub keys: Vec<i64>,
}

impl Positions {
    /// Keys from 0 on, and queries that end where the keys end: as in self-attention, and
    /// as for queries that go on behind cached keys.
    ///
    /// ```
    /// use variants::Positions;
    ///
    /// assert_eq!(Positions::new(2, 5).queries, [3, 4]);
    /// ```
    pub fn new(n_q: usize, n_kv: usize) -> Self {
        Self::from_offset(n_q, n_kv, n_kv as i64 - n_q as i64)
    }

    /// Keys from 0 on, and queries from `first` on.
    pub fn from_offset(n_q: usize, n_kv: usize, first: i64) -> Self {
        Self {
            queries: (0..n_q as i64).map(|i| first + i).collect(),
            keys: (0..n_kv as i64).collect(),
        }
    }

    /// How far key j lies behind query i; negative if it lies ahead.
    pub fn distance(&self, i: usize, j: usize) -> i64 {
        self.queries[i] - self.keys[j]
    }
}
