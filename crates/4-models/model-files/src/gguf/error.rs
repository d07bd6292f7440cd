//! What can be wrong with a GGUF file.

use std::{io, path::PathBuf};

use tensors::{name_text, names_text};

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
    #[error(
        "{file}: no GGUF file: it begins with {}, expected GGUF. Of a model in safetensors, \
         give the folder",
        found.escape_ascii()
    )]
    NotGguf { file: String, found: Vec<u8> },

    /// A version whose header is laid out otherwise.
    #[error("{file}: GGUF of version {found}; versions 2 and 3 are read")]
    Version { file: String, found: u32 },

    /// Less bytes than the header announces.
    #[error(
        "{file}: cut short: {} needs {needed} bytes, and {left} are left",
        name_text(what)
    )]
    CutShort { file: String, what: String, needed: usize, left: usize },

    /// A header that makes no sense.
    #[error("{file}: {}", name_text(what))]
    Header { file: String, what: String },

    /// A setting that is needed, and missing or of another kind.
    #[error(
        "{file}: {} is {}, expected {expected}",
        name_text(key),
        found.as_deref().unwrap_or("missing")
    )]
    Setting { file: String, key: String, found: Option<String>, expected: &'static str },

    /// A tensor that is needed and not there.
    #[error("{file}: no tensor {} among the {n_tensors}", name_text(tensor))]
    MissingTensor { file: String, tensor: String, n_tensors: usize },

    /// A tensor of another shape than the settings ask for.
    #[error("{file}: {} has shape {found:?}, expected {expected:?}", name_text(tensor))]
    Shape { file: String, tensor: String, found: Vec<usize>, expected: Vec<usize> },

    /// A kind of number that is not read here.
    #[error("{file}: {} holds {found}; {} are read", name_text(tensor), Kind::NAMES)]
    Kind { file: String, tensor: String, found: String },

    /// Rows that are not made of whole blocks.
    #[error(
        "{file}: {} has rows of {width} numbers, and {kind:?} keeps them in blocks of \
         {per_block}",
        name_text(tensor)
    )]
    Blocks { file: String, tensor: String, width: usize, kind: Kind, per_block: usize },

    /// A setting that nobody knows: what it changes would be left aside.
    #[error("{file}: {} is {found}: {why}", name_text(key))]
    UnknownSetting { file: String, key: String, found: String, why: &'static str },

    /// Tensors that are no part of the model, and on no list of what is harmless.
    #[error("{file}: no part of the model is read from {}", names_text(tensors))]
    UnknownTensors { file: String, tensors: Vec<String> },

    /// A merge that joins, or gives, what the vocabulary lacks.
    #[error(
        "{file}: tokenizer.ggml.merges: merge {at} is \"{}\", and the vocabulary has no \
         \"{}\"",
        name_text(merge),
        name_text(token)
    )]
    Merge { file: String, at: usize, merge: String, token: String },

    /// One of several files that are one model.
    #[error(
        "{file} is part {part} of {n_parts} of a model that was split: {why}; `llama-gguf-split \
         --merge FIRST-PART NEW-FILE` joins them"
    )]
    Split { file: String, part: i128, n_parts: i128, why: String },
}
