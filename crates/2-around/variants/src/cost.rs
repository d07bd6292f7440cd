//! What one new token costs when all before it are cached.

use crate::Sizes;
use attention::{Error, Result};

/// What a layer reads and computes for the next token of each sequence in a batch; biases,
/// which are few, are left out.
///
/// Weights are read once for all sequences; the cache is each sequence's own.
///
/// ```
/// use attention::Dims;
/// use variants::{NextToken, Sizes};
///
/// let dims = Dims::new(576, 9)?;
/// let own = NextToken::of(Sizes::new(dims, 9)?, 1024)?;
/// let shared = NextToken::of(Sizes::new(dims, 3)?, 1024)?;
/// assert_eq!(own.cached, 2 * 1024 * 9 * 64); // keys and values of 9 heads
/// assert_eq!(shared.cached, own.cached / 3);
///
/// // In f32 a number is 4 bytes, and each that is read is multiplied and added once.
/// assert_eq!(own.intensity(1, 4), 0.5);
/// assert!(shared.intensity(1, 4) > 0.8); // three heads use each key
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Shazeer 2019, section 2.4; the roofline is of Williams et al. 2009.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextToken {
    /// Weights that are read.
    pub weights: u64,
    /// Numbers of the cache that are read, for each sequence.
    pub cached: u64,
    /// Multiply-adds, for each sequence.
    pub multiply_adds: u64,
}

impl NextToken {
    /// Counts a token that sees `n_cached` tokens, itself among them.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if a `u64` cannot hold a count.
    // ANCHOR: of
    pub fn of(sizes: Sizes, n_cached: usize) -> Result<Self> {
        let entries = |shapes: &[(usize, usize)]| {
            shapes.iter().map(|(rows, columns)| rows * columns).sum::<usize>() as u64
        };
        let weights = entries(&sizes.shapes());
        let per_token = sizes.cache_widths().iter().sum::<usize>() as u64;
        let group = (sizes.groups.n_heads() / sizes.groups.n_kv_heads()) as u64;
        let counted = || {
            let cached = per_token.checked_mul(n_cached as u64)?;
            let multiply_adds = weights.checked_add(cached.checked_mul(group)?)?;
            Some(Self { weights, cached, multiply_adds })
        };
        let what = || format!("what is read of {n_cached} cached tokens");
        counted().ok_or_else(|| Error::TooLarge { what: what() })
    }
    // ANCHOR_END: of

    /// Bytes that are read for a token of each of `n_sequences`.
    pub fn bytes(&self, n_sequences: u64, bytes_per_number: u64) -> u64 {
        (self.weights + n_sequences * self.cached) * bytes_per_number
    }

    /// Operations, two for each multiply-add, per byte that is read. Below what a machine can
    /// do while it reads a byte, memory sets the time.
    pub fn intensity(&self, n_sequences: u64, bytes_per_number: u64) -> f64 {
        let operations = 2.0 * n_sequences as f64 * self.multiply_adds as f64;
        operations / self.bytes(n_sequences, bytes_per_number) as f64
    }

    /// The least time for a token of each of `n_sequences`, in seconds: what memory takes for
    /// the bytes or arithmetic for the operations, whichever is longer. More sequences take
    /// longer than one only by their caches, until arithmetic becomes the limit.
    ///
    /// ```
    /// use attention::Dims;
    /// use variants::{NextToken, Sizes};
    ///
    /// let token = NextToken::of(Sizes::new(Dims::new(512, 8)?, 8)?, 1)?;
    /// let (gb_s, gflop_s) = (40e9, 200e9);
    /// let seconds = |n| token.least_seconds(n, 4, gb_s, gflop_s);
    /// assert_eq!(seconds(1), token.bytes(1, 4) as f64 / gb_s);
    /// assert!(seconds(8) < 1.01 * seconds(1));
    /// assert!(seconds(80) > 7.0 * seconds(8)); // 40 operations per byte, and 5 are free
    /// # Ok::<(), attention::Error>(())
    /// ```
    ///
    /// # Source
    /// Williams et al. 2009.
    pub fn least_seconds(
        &self,
        n_sequences: u64,
        bytes_per_number: u64,
        bytes_per_second: f64,
        operations_per_second: f64,
    ) -> f64 {
        let bytes = self.bytes(n_sequences, bytes_per_number) as f64;
        let operations = 2.0 * n_sequences as f64 * self.multiply_adds as f64;
        (bytes / bytes_per_second).max(operations / operations_per_second)
    }
}
