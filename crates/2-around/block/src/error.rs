//! What can be wrong with tokens and their positions.

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model cannot read its tokens.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sizes that do not fit together.
    #[error(transparent)]
    Sizes(#[from] attention::Error),

    /// A token that the table of embeddings does not have.
    #[error(
        "token {position} has id {id}, and the vocabulary has {n_vocabulary} entries, from 0"
    )]
    Token {
        /// Where it stands.
        position: usize,
        /// Its id.
        id: usize,
        /// The number of rows of the table.
        n_vocabulary: usize,
    },

    /// More tokens than there are positions.
    #[error("the text has {n_tokens} tokens, and the model has {n_positions} positions")]
    TooLong {
        /// The number of tokens.
        n_tokens: usize,
        /// The number of positions.
        n_positions: usize,
    },
}
