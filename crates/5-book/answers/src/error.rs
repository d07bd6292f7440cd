//! What cannot be read.

use thiserror::Error;

/// What cannot be read, with its place.
#[derive(Debug, Error)]
pub enum Error {
    /// A text that is no list of numbers.
    #[error("line {line}: {found:?} is no number, bracket or known word")]
    Text {
        /// Counted from 1.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// A bracket without its other.
    #[error("line {line}: a bracket {bracket:?} is never closed")]
    Bracket {
        /// Counted from 1.
        line: usize,
        /// The one that opens.
        bracket: char,
    },
    /// Numbers that were left out by whatever printed them.
    #[error(
        "line {line}: {found:?} stands for numbers that were not printed. Print all of them: \
         torch.set_printoptions(threshold=10**6), or the same of numpy or jax.numpy"
    )]
    LeftOut {
        /// Counted from 1.
        line: usize,
        /// The dots.
        found: String,
    },
    /// What Python prints where a program fails.
    #[error("the program that printed this stopped with an error: {0}")]
    Traceback(String),
    /// Nothing at all.
    #[error("there are no numbers in it")]
    Empty,
    /// Another number of answers than cases.
    #[error(
        "{found} answers were found, and the exercise has {expected} cases: give one for each, \
         in their order"
    )]
    Cases {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// An answer that is no array of numbers.
    #[error("case {case} (counted from 0): {what}")]
    Case {
        /// Which.
        case: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A line of a program's reply.
    #[error(
        "line {line} of the program's output is no reply: {what}. A reply is a line \
         {{\"outputs\": …}} for each line that it is given, and nothing else is printed"
    )]
    Reply {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A file that cannot be read.
    #[error("{file}: {what}")]
    File {
        /// Its name.
        file: String,
        /// What is wrong with it.
        what: String,
    },
    /// A file of tensors.
    #[error(transparent)]
    Tensors(#[from] tensors::Error),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
