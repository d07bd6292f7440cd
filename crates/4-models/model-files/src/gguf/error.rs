//! What can be wrong with a GGUF file.

use std::{io, path::PathBuf};

use super::blocks::Kind;

/// A result whose error is a [`GgufError`].
pub type GgufResult<T> = Result<T, GgufError>;

/// Why a GGUF file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum GgufError {
    /// The operating system did not let the file be read.
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },

    /// Another format.
    #[error("{file}: no GGUF file: it begins with {}, expected GGUF", found.escape_ascii())]
    NotGguf { file: String, found: Vec<u8> },

    /// A version whose header is laid out otherwise.
    #[error("{file}: GGUF of version {found}; versions 2 and 3 are read")]
    Version { file: String, found: u32 },

    /// Less bytes than the header announces.
    #[error("{file}: cut short: {what} needs {needed} bytes, and {left} are left")]
    CutShort { file: String, what: String, needed: usize, left: usize },

    /// A header that makes no sense.
    #[error("{file}: {what}")]
    Header { file: String, what: String },

    /// A setting that is needed, and missing or of another kind.
    #[error(
        "{file}: {key} is {}, expected {expected}",
        found.as_deref().unwrap_or("missing")
    )]
    Setting { file: String, key: String, found: Option<String>, expected: &'static str },

    /// A tensor that is needed and not there.
    #[error("{file}: no tensor {tensor} among the {n_tensors}")]
    MissingTensor { file: String, tensor: String, n_tensors: usize },

    /// A tensor of another shape than the settings ask for.
    #[error("{file}: {tensor} has shape {found:?}, expected {expected:?}")]
    Shape { file: String, tensor: String, found: Vec<usize>, expected: Vec<usize> },

    /// A kind of number that is not read here.
    #[error("{file}: {tensor} holds {found}; {} are read", Kind::NAMES)]
    Kind { file: String, tensor: String, found: String },

    /// Rows that are not made of whole blocks.
    #[error(
        "{file}: {tensor} has rows of {width} numbers, and {kind:?} keeps them in blocks of \
         {per_block}"
    )]
    Blocks { file: String, tensor: String, width: usize, kind: Kind, per_block: usize },
}
