//! What can be wrong with a file, with the names and numbers that say so.

use std::path::PathBuf;

use tensors::{name_text, names_text};

use crate::GgufError;

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file cannot be read, used or written.
///
/// `file` says which one, as it was given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum Error {
    /// Tensors that cannot be read or written.
    #[error(transparent)]
    Tensors(#[from] tensors::Error),

    /// No tensor has a name by which a layer is known.
    #[error(
        "{file}: no attention layer: no name ends in in_proj_weight or q_proj_weight \
         (PyTorch) or attention.self.query.weight (BERT); there is {}",
        names_text(names)
    )]
    NoLayer { file: String, names: Vec<String> },

    /// Several layers, and nothing that says which.
    #[error(
        "{file}: {} layers: say which by its prefix, one of {}",
        prefixes.len(), names_text(prefixes)
    )]
    SeveralLayers { file: String, prefixes: Vec<String> },

    /// A prefix under which there is no layer.
    #[error(
        "{file}: no layer has the prefix {prefix:?}; there is {}",
        names_text(prefixes)
    )]
    UnknownPrefix { file: String, prefix: String, prefixes: Vec<String> },

    /// A layer that does more than the stages do.
    #[error("{file}: {}: {why}", name_text(found))]
    Unsupported { file: String, found: String, why: &'static str },

    /// A tensor that may change the result, for all that its reader knows.
    #[error(
        "{file}: {} is not known to {reader}, and may change the result: take it out of the \
         file if it does not",
        name_text(tensor)
    )]
    Unknown { file: String, tensor: String, reader: &'static str },

    /// A text of a file's metadata by which the result would be another.
    #[error("{file}: its metadata has {}: {}, {why}", name_text(key), name_text(found))]
    Metadata { file: String, key: String, found: String, why: &'static str },

    /// A sentence that does not come with the trained layer.
    #[error("no sentence is called {asked:?}; there is {}", known.join(", "))]
    UnknownSentence { asked: String, known: Vec<String> },

    /// The tensors are as they should be and make no layer.
    #[error("{file}: no layer can be made of it")]
    Layer { file: String, source: attention::Error },

    /// Nothing there, or no folder.
    #[error("there is no folder {}", path.display())]
    NoFolder { path: PathBuf },

    /// A folder without one of the files of a model.
    #[error("{} has no {file}{hint}", folder.display())]
    NoFile { folder: PathBuf, file: &'static str, hint: &'static str },

    /// A `config.json` that is none.
    #[error("{file}: no object in JSON")]
    Json { file: String, source: serde_json::Error },

    /// A family that nobody taught this crate.
    #[error("{file}: model_type is {found}; the known ones are {}", known.join(", "))]
    Family { file: String, found: String, known: Vec<&'static str> },

    /// A setting that is missing, or of another kind.
    #[error("{file}: {}, expected {expected}", setting(key, found.as_deref()))]
    Setting { file: String, key: String, found: Option<String>, expected: &'static str },

    /// A setting that nobody knows.
    #[error("{file}: {} is {found}: {why}", name_text(key))]
    UnknownSetting { file: String, key: String, found: String, why: &'static str },

    /// Tensors that are no part of the model, and on no list of what is harmless.
    #[error("{file}: {why}: no part of the model is read from {}", names_text(names))]
    UnknownTensors { file: String, names: Vec<String>, why: &'static str },

    /// A file of more or fewer layers than its settings say.
    #[error(
        "{file}: it has tensors of {found} layers, and its config.json says {n_layers}"
    )]
    Layers { file: String, found: usize, n_layers: usize },

    /// An index of several files that does not fit them.
    #[error("{file}: {why}")]
    Index { file: String, why: String },

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

    /// A length that a sequence cannot have.
    #[error(
        "{file}: lengths of sequence {sequence} is {found}, expected 1 to {longest}, the \
         tokens that it has with padding"
    )]
    SequenceLength { file: String, sequence: usize, found: i128, longest: usize },

    /// A list that should have one entry per token.
    #[error("{what} has {found} entries, and there are {n_tokens} tokens")]
    Length { what: &'static str, found: usize, n_tokens: usize },

    /// A GGUF file.
    #[error(transparent)]
    Gguf(#[from] GgufError),
}

fn setting(key: &str, found: Option<&str>) -> String {
    match found {
        None => format!("there is no {}", name_text(key)),
        Some(found) => format!("{} is {found}", name_text(key)),
    }
}
