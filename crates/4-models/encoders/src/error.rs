//! What can be wrong with a model's folder, a text or its ids.

use std::{io, path::PathBuf};

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model cannot be read or run.
///
/// `file` says which one, as it was given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum Error {
    /// Nothing there, or no folder.
    #[error("there is no folder {}", path.display())]
    NoFolder { path: PathBuf },

    /// A folder without one of the files of a model.
    #[error("{} has no {file}{hint}", folder.display())]
    NoFile { folder: PathBuf, file: &'static str, hint: &'static str },

    /// The operating system did not let a file be read.
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },

    /// A `config.json` that is none.
    #[error("{file}: no object in JSON")]
    Json { file: String, source: serde_json::Error },

    /// A family that nobody taught this crate.
    #[error("{file}: model_type is {found}; the known ones are {}", known.join(", "))]
    Family { file: String, found: String, known: Vec<&'static str> },

    /// A setting that is missing, or of another kind.
    #[error("{file}: {}, expected {expected}", setting(key, found.as_deref()))]
    Setting { file: String, key: String, found: Option<String>, expected: &'static str },

    /// Settings that a model cannot have.
    #[error("{file}: its sizes make no layer")]
    Config { file: String, source: attention::Error },

    /// Weights that cannot be read or do not fit.
    #[error(transparent)]
    Weights(#[from] model_files::Error),

    /// Tokens that the model cannot read.
    #[error(transparent)]
    Tokens(#[from] block::Error),

    /// Sizes that do not fit together.
    #[error(transparent)]
    Sizes(#[from] attention::Error),

    /// An id that the model does not have.
    #[error(
        "{file}: {tensor} of sequence {sequence}, token {position} is {found}, expected \
         {expected}"
    )]
    Entry {
        file: String,
        tensor: &'static str,
        sequence: usize,
        position: usize,
        found: i128,
        expected: String,
    },

    /// A sequence that is nothing but padding.
    #[error(
        "{file}: attention_mask of sequence {sequence} is 0 for all its {n_tokens} tokens: \
         there is nothing to attend to"
    )]
    AllPadding { file: String, sequence: usize, n_tokens: usize },

    /// A type of token that the model does not have.
    #[error("token {position} is of type {found}, and the model has {n_types} types")]
    Type { position: usize, found: usize, n_types: usize },

    /// A list that should have one entry per token.
    #[error("{what} has {found} entries, and there are {n_tokens} tokens")]
    Length { what: &'static str, found: usize, n_tokens: usize },

    /// A head that the layer does not have.
    #[error("there is no head {head}: the layer has {n_heads}, from 0")]
    Head { head: usize, n_heads: usize },

    /// A layer that the model does not have.
    #[error("there is no layer {layer}: the model has {n_layers}, from 0")]
    Layer { layer: usize, n_layers: usize },

    /// A `tokenizer.json` that is none.
    #[error("{file}: no tokenizer: {why}")]
    Tokenizer { file: String, why: String },

    /// A tokenizer of another model.
    #[error(
        "{file}: the tokenizer gives ids up to {largest}, and the model has embeddings for \
         {n_vocabulary}, from 0: they do not belong together"
    )]
    Vocabulary { file: String, largest: usize, n_vocabulary: usize },

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

fn setting(key: &str, found: Option<&str>) -> String {
    match found {
        None => format!("there is no {key}"),
        Some(found) => format!("{key} is {found}"),
    }
}
