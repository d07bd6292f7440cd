//! What can be wrong with a file, with the names and numbers that say so.

use std::{io, path::PathBuf};

use crate::GgufError;
use crate::words::{name_text, names_text, shape_text};

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file cannot be read, used or written.
///
/// `file` says which one, as it was given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum Error {
    /// The operating system did not let the file be read.
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },

    /// Fewer bytes than any safetensors file has.
    #[error(
        "{file}: no safetensors file: it has {n_bytes} bytes, and one begins with 8 that \
         give the length of its header"
    )]
    TooShort { file: String, n_bytes: usize },

    /// The header would end after the file does.
    #[error(
        "{file}: no safetensors file, or a truncated one: its first 8 bytes announce a \
         header of {announced} bytes, and {left} bytes follow"
    )]
    HeaderLength { file: String, announced: u64, left: usize },

    /// A header that describes more tensors than any model has.
    #[error(
        "{file}: its header has {n_bytes} bytes, and {longest} at most are read: more than \
         the tensors of any model need"
    )]
    LongHeader { file: String, n_bytes: usize, longest: usize },

    /// The header is not the JSON that it should be.
    #[error("{file}: no safetensors file: its header of {n_bytes} bytes makes no sense")]
    Header { file: String, n_bytes: usize, source: serde_json::Error },

    /// A name that stands for two tensors: which one is meant, nobody can say.
    #[error("{file}: two tensors have the name {}", name_text(tensor))]
    Duplicate { file: String, tensor: String },

    /// The header describes more bytes than there are, or fewer.
    #[error(
        "{file}: {}: its header describes {expected} bytes of numbers, and {found} follow",
        if found < expected { "truncated" } else { "bytes are left over" }
    )]
    DataLength { file: String, expected: usize, found: usize },

    /// A tensor that is needed and not there.
    #[error("{file}: no tensor {}; there is {}", name_text(tensor), names_text(names))]
    MissingTensor { file: String, tensor: String, names: Vec<String> },

    /// A text that is needed and not among the file's metadata.
    #[error("{file}: its metadata has no {key}")]
    MissingText { file: String, key: String },

    /// A tensor of another shape than the rest of the layer asks for.
    #[error(
        "{file}: {} has shape {}, expected {expected}",
        name_text(tensor),
        shape_text(found)
    )]
    Shape { file: String, tensor: String, found: Vec<usize>, expected: String },

    /// A tensor without a single number.
    #[error(
        "{file}: {} has shape {}: it holds nothing",
        name_text(tensor),
        shape_text(shape)
    )]
    Empty { file: String, tensor: String, shape: Vec<usize> },

    /// A tensor of numbers where flags are needed, or of a kind that is not read here.
    #[error("{file}: {} holds {found}, expected {expected}", name_text(tensor))]
    Dtype { file: String, tensor: String, found: String, expected: &'static str },

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

    /// Numbers that do not fill the shape they are to be saved with.
    #[error(
        "{} of shape {} was given {found} numbers",
        name_text(tensor),
        shape_text(shape)
    )]
    Count { tensor: String, shape: Vec<usize>, found: usize },

    /// A file that would be lost.
    #[error("{} exists already, and is left as it is", path.display())]
    Exists { path: PathBuf },

    /// What a command is to write is what it reads.
    #[error(
        "{} is read by this command and is not written over: name another file with --output",
        path.display()
    )]
    OutputIsInput { path: PathBuf },

    /// What a command is to write exists already.
    #[error("{exists}: name another file with --output, or write over it with --force")]
    OutputExists { exists: Box<Self> },

    /// A place where no file can be put.
    #[error("cannot write {}: {why}", path.display())]
    NoPlace { path: PathBuf, why: String },

    /// The operating system did not let the file be written.
    #[error("cannot write {}", path.display())]
    Write { path: PathBuf, source: io::Error },

    /// Tensors that the format cannot hold.
    #[error("the tensors do not make a safetensors file")]
    Format(#[from] safetensors::SafeTensorError),

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
