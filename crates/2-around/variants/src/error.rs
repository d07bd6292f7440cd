//! What can be wrong with a change.

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a layer cannot be changed so.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sizes that do not fit together.
    #[error(transparent)]
    Sizes(#[from] attention::Error),

    /// Entries are rotated two at a time.
    #[error(
        "{n_rotated} entries of a head cannot be rotated: it must be an even number above 0"
    )]
    NotPairs {
        /// How many were to be rotated.
        n_rotated: usize,
    },

    /// More entries to be rotated than a head has.
    #[error("{n_rotated} entries of a head were to be rotated, and it has {d_k}")]
    Rotated {
        /// How many were to be rotated.
        n_rotated: usize,
        /// How many there are.
        d_k: usize,
    },

    /// Buckets of distances that cannot be told apart.
    #[error(
        "{n_buckets} buckets, of which {n_exact} of a direction are of one distance each, \
         for distances to {max_distance}: a direction needs 2 buckets, and distances beyond \
         those"
    )]
    Buckets {
        /// How many there are.
        n_buckets: usize,
        /// How many of a direction are of one distance.
        n_exact: usize,
        /// From where on all distances are alike.
        max_distance: usize,
    },

    /// A window that has no place for the token itself.
    #[error("a window of 0 tokens: a token sees itself at least, so 1 is the smallest")]
    EmptyWindow,

    /// A change of the formula that has no backward pass.
    #[error("the backward pass of {change} is not written: train without it")]
    NoBackward {
        /// Which change.
        change: &'static str,
    },

    /// A list with one entry per head, for another number of heads.
    #[error("{what} has {found} entries for {n_heads} heads: give one per head")]
    PerHead {
        /// Which list.
        what: &'static str,
        /// How many entries it has.
        found: usize,
        /// The number of query heads.
        n_heads: usize,
    },
}

impl Error {
    /// Refuses a number that is 0, negative, infinite or NaN.
    pub(crate) fn expect_above_0(what: &'static str, value: f64) -> Result<()> {
        if value.is_finite() && value > 0.0 {
            return Ok(());
        }
        Err(attention::Error::NotPositive { what, value }.into())
    }

    /// Refuses a list that has not one entry per head.
    pub(crate) fn expect_per_head(
        what: &'static str,
        found: usize,
        n_heads: usize,
    ) -> Result<()> {
        if found == n_heads {
            return Ok(());
        }
        Err(Self::PerHead { what, found, n_heads })
    }
}
