//! What can be wrong with a file of tensors, with the names and numbers that say so.

use std::{io, path::PathBuf};

use crate::words::{name_text, names_text, shape_text};

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file of tensors cannot be read or written.
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

    /// A text among the file's metadata that should be a size.
    #[error("{file}: its metadata says {key}: {found:?}, which is no size")]
    NoSize { file: String, key: String, found: String },

    /// A tensor that nothing reads.
    #[error("{file}: it has a tensor {}, which nothing here reads", name_text(tensor))]
    UnknownTensor { file: String, tensor: String },

    /// Sizes that make no layer.
    #[error("{file}: {source}")]
    Sizes { file: String, source: attention::Error },

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
}
