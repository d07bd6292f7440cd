//! What can be wrong on many machines that cannot be wrong on one.

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a layer could not be computed by a group of ranks.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sizes, matrices or a mask that do not fit, as on one machine.
    #[error(transparent)]
    Layer(#[from] attention::Error),

    /// A group of nobody, or a grid with an empty side.
    #[error("{what} is 0, and must be at least 1")]
    NoRanks {
        /// Which number.
        what: &'static str,
    },

    /// A rank that is not in the group.
    #[error("there is no rank {rank} in a group of {size}")]
    NoSuchRank {
        /// The rank asked for.
        rank: usize,
        /// The number of ranks.
        size: usize,
    },

    /// A grid of another size than the group.
    #[error(
        "{size} ranks cannot form a grid with {by_heads} groups of heads: \
         {size} = {by_heads} × {} + {}",
        size / by_heads, size % by_heads
    )]
    Grid {
        /// The number of ranks.
        size: usize,
        /// The number of groups of heads, at least 1.
        by_heads: usize,
    },

    /// A mask that adds numbers to scores, or of a kind that is not known here.
    #[error(
        "an additive mask cannot be cut by tokens: what it adds counts relative to the \
         largest entry of its row, which one rank does not have"
    )]
    AdditiveMask,

    /// A message of another length than the one that was expected.
    #[error("rank {from} sent {found} entries to rank {to}, which expected {expected}")]
    Message {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The length that the receiver has room for.
        expected: usize,
        /// The length of the message.
        found: usize,
    },

    /// A rank that ended while others waited for it.
    #[error("rank {rank} of {size} ended: {why}")]
    Gone {
        /// The rank.
        rank: usize,
        /// The number of ranks.
        size: usize,
        /// Its last words.
        why: String,
    },
}

impl Error {
    /// Checks that a group of `size` has this rank.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    pub fn expect_rank(rank: usize, size: usize) -> Result<()> {
        if rank < size { Ok(()) } else { Err(Self::NoSuchRank { rank, size }) }
    }
}
