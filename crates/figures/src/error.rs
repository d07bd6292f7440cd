//! Why numbers cannot be drawn.

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why attention maps cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sizes that do not fit one another.
    #[error(transparent)]
    Sizes(#[from] attention::Error),

    /// More heads than can be told apart in one figure.
    #[error("{n_heads} heads are too many for one figure: draw at most {most} at a time")]
    TooManyHeads {
        /// The number of heads given.
        n_heads: usize,
        /// The most that a figure takes.
        most: usize,
    },

    /// An entry that is no share of attention: scores before the softmax, perhaps.
    #[error(
        "head {head} holds {entry} at query {query}, key {key}: \
         an attention map holds shares from 0 to 1"
    )]
    Entry {
        /// The head's number.
        head: usize,
        /// The query's row.
        query: usize,
        /// The key's column.
        key: usize,
        /// The entry.
        entry: f64,
    },

    /// Numbers for another count of heads.
    #[error("{n_numbers} numbers were given for {n_heads} heads: give one a head")]
    Numbers {
        /// How many numbers were given.
        n_numbers: usize,
        /// How many heads there are.
        n_heads: usize,
    },

    /// A head to show that is not among the heads.
    #[error("there is no head {number} here, only {known:?}")]
    NoSuchHead {
        /// The number asked for.
        number: usize,
        /// The numbers of the heads that there are.
        known: Vec<usize>,
    },
}
