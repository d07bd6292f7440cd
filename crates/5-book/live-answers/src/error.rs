//! What cannot be done, as a page says it.

use thiserror::Error;

/// What cannot be done.
#[derive(Debug, Error)]
pub enum Error {
    /// An exercise that this module does not have.
    #[error("{0} is no exercise that a page checks")]
    Exercise(String),
    /// A name that is no text.
    #[error(transparent)]
    Text(#[from] std::str::Utf8Error),
    /// A form of inputs that there is none of.
    #[error("{0} is no form of inputs")]
    Form(String),
    /// Numbers that are not those of an exercise.
    #[error("the numbers of {0} did not come whole: reload the page")]
    Kept(String),
    /// An answer that cannot be read.
    #[error(transparent)]
    Answer(#[from] answers::Error),
    /// Words that are no JSON.
    #[error("what is said of the exercise did not come whole: reload the page")]
    Words(#[from] serde_json::Error),
    /// A file that cannot be made.
    #[error(transparent)]
    Tensors(#[from] tensors::Error),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
