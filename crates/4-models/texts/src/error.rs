//! What can be wrong with a tokenizer, or with a text.

use model_files::GgufError;
use tensors::name_text;

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a text cannot become ids.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum Error {
    /// A file that is missing, or cannot be read.
    #[error(transparent)]
    Files(#[from] model_files::Error),

    /// A GGUF file.
    #[error(transparent)]
    Gguf(#[from] GgufError),

    /// A `tokenizer.json` that is none.
    #[error("{file}: no tokenizer: {}", name_text(why))]
    Tokenizer { file: String, why: String },

    /// A character that has no token, where no token stands for unknown ones.
    #[error("{file}: {character:?} has no token, and no token stands for unknown ones")]
    NoToken { file: String, character: char },

    /// A tokenizer of another model.
    #[error(
        "{file}: the tokenizer gives ids up to {largest}, and the model has embeddings for \
         {n_vocabulary}, from 0: they do not belong together"
    )]
    Vocabulary { file: String, largest: usize, n_vocabulary: usize },

    /// An added token that the model has no embedding for.
    #[error(
        "{file}: token {id}, {}, is beyond the model's table of {n_vocabulary} embeddings, \
         which count from 0: the text has a token that the model does not know",
        name_text(token)
    )]
    Token { file: String, token: String, id: usize, n_vocabulary: usize },

    /// Two files of a folder that cannot both be right.
    #[error("{file} contradicts {other}: {}", name_text(why))]
    TokenizerConfig { file: String, other: String, why: String },

    /// A text with nothing in it.
    #[error("the text is empty: no token is left of it")]
    EmptyText,

    /// A text that is longer than the model's positions.
    #[error(
        "the text has {n_tokens} tokens, [CLS] and [SEP] or the like among them, and the \
         model has {n_positions} positions"
    )]
    LongText { n_tokens: usize, n_positions: usize },
}
