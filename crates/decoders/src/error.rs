//! What can be wrong with a decoder's files, or with what it is asked to read.

use crate::GgufError;

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a decoder cannot be read or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What folders, settings, texts and ids of encoders can have wrong with them too.
    #[error(transparent)]
    Folder(#[from] encoders::Error),

    /// A GGUF file.
    #[error(transparent)]
    Gguf(#[from] GgufError),
}
