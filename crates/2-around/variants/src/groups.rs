//! Shared keys and values: fewer heads of K and V than of Q.
//!
//! The line `head_i = Attention(q_i, k_i, v_i)` becomes `Attention(q_i, k_g, v_g)` with
//! `g = ⌊i · n_kv_heads / n_heads⌋`: neighbouring query heads read the same keys.
//!
//! **Why.** A model that writes keeps the keys and values of all tokens before, and reads
//! all of them for each new token. That memory, not the arithmetic, sets its speed.
//! **Buys** a cache smaller by h / g, and fewer parameters in W^K and W^V.
//! **Costs** that heads of a group can no longer look for different things in a token, only
//! ask different questions of the same keys.

use attention::{Error, Result};

/// How many query heads there are, and how many heads of keys and values they share.
///
/// As many of both is the formula of 2017 (multi-head attention, MHA), one for all is
/// multi-query attention (MQA), and what lies between grouped-query attention (GQA).
///
/// ```
/// use variants::Groups;
///
/// let groups = Groups::new(9, 3)?;
/// let read: Vec<usize> = (0..9).map(|head| groups.kv_head(head)).collect();
/// assert_eq!(read, [0, 0, 0, 1, 1, 1, 2, 2, 2]); // and not 0, 1, 2, 0, 1, 2, …
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Shazeer 2019, "Fast Transformer Decoding: One Write-Head is All You Need" (one for all);
/// Ainslie et al. 2023, "GQA: Training Generalized Multi-Query Transformer Models".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    n_heads: usize,
    n_kv_heads: usize,
}

impl Groups {
    /// So many query heads on so many heads of keys and values.
    ///
    /// # Errors
    /// [`Error::ZeroSize`]; [`Error::Groups`] if groups would differ in size.
    pub fn new(n_heads: usize, n_kv_heads: usize) -> Result<Self> {
        Error::expect_positive("n_heads", n_heads)?;
        Error::expect_positive("n_kv_heads", n_kv_heads)?;
        if !n_heads.is_multiple_of(n_kv_heads) {
            return Err(Error::Groups { n_heads, n_kv_heads });
        }
        Ok(Self { n_heads, n_kv_heads })
    }

    /// Which head of keys and values a query head reads.
    // ANCHOR: kv_head
    pub fn kv_head(&self, head: usize) -> usize {
        head / (self.n_heads / self.n_kv_heads)
    }
    // ANCHOR_END: kv_head

    /// The number of query heads, h.
    pub fn n_heads(&self) -> usize {
        self.n_heads
    }

    /// The number of heads of keys and values, g.
    pub fn n_kv_heads(&self) -> usize {
        self.n_kv_heads
    }
}
