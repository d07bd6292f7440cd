//! Windows: a query sees only keys that are near, and perhaps the first few of the text.
//!
//! The line `masked = mask(scores)` blocks key j for query i unless
//! `i − left <= j <= i + right`, or j is one of the first `n_sinks`.
//!
//! **Why.** Each token is compared with every other, so that a text twice as long costs four
//! times as much, and the cache grows with every token. **Buys** a bound for both.
//! **Costs** that what is further away can be reached through several layers only. If the
//! first tokens are dropped, a trained model falls apart even where they mean nothing:
//! its heads have learned to leave there what they have no use for. Kept, they are **sinks**.

use attention::{Error, Mask, Matrix, Result};

use crate::Positions;

/// Which keys a query sees, by distance.
///
/// ```
/// use variants::{Positions, Window};
///
/// // Three keys with the token itself, and never the future: `sliding_window` of 3.
/// let window = Window { right: Some(0), ..Window::last(3)? };
/// assert_eq!(window.mask(&Positions::new(4, 4)).picture(4, 4), "x...\nxx..\nxxx.\n.xxx\n");
/// let kept = Window { n_sinks: 1, ..window };
/// assert_eq!(kept.mask(&Positions::new(1, 6)).picture(1, 6), "x..xxx\n");
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Beltagy et al. 2020, "Longformer" (windows); Xiao et al. 2023, "Efficient Streaming
/// Language Models with Attention Sinks" (the first tokens kept). Differs: Xiao et al. count
/// positions within the cache; here a key keeps its place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// How many keys before its own place a query sees; `None`: all.
    pub left: Option<usize>,
    /// How many keys behind it; `None`: all, and 0 is a causal mask.
    pub right: Option<usize>,
    /// How many of the text's first keys are seen from everywhere that `right` allows.
    pub n_sinks: usize,
}

impl Window {
    /// So many keys **with the token itself**, as models' files count (`sliding_window`).
    ///
    /// # Errors
    /// [`Error::EmptyWindow`] for 0.
    pub fn last(n_keys: usize) -> Result<Self> {
        let left = n_keys.checked_sub(1).ok_or(Error::EmptyWindow)?;
        Ok(Self { left: Some(left), ..Self::default() })
    }

    /// Whether a query at one place sees a key at another.
    // ANCHOR: sees
    pub fn sees(&self, query: i64, key: i64) -> bool {
        let near = self.left.is_none_or(|left| query - key <= whole(left));
        let is_sink = (0..whole(self.n_sinks)).contains(&key);
        let ahead = self.right.is_some_and(|right| key - query > whole(right));
        (near || is_sink) && !ahead
    }
    // ANCHOR_END: sees

    /// The mask of this window.
    ///
    /// # Shapes
    /// `[n_q, n_kv]`.
    pub fn mask(&self, positions: &Positions) -> Mask {
        let Positions { queries, keys } = positions;
        Mask::Allowed(Matrix::from_fn(queries.len(), keys.len(), |i, j| {
            self.sees(queries[i], keys[j])
        }))
    }
}

/// A number of keys, or more than any text has.
fn whole(n_keys: usize) -> i64 {
    n_keys.try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window wider than any text is none.
    #[test]
    fn the_widest_windows_see_everything() {
        for n in [usize::MAX, usize::MAX / 2 + 2] {
            let window = Window { right: Some(n), ..Window::last(n).unwrap() };
            assert!([(0, 0), (9, 0), (0, 9)].into_iter().all(|(q, k)| window.sees(q, k)));
            let sinks = Window { left: Some(0), n_sinks: n, ..Window::default() };
            assert!(sinks.sees(9, 3));
        }
    }
}
