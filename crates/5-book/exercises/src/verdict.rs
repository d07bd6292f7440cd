//! What was found out about an answer.

use crate::{Difference, Pattern};

/// What was found out about an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is right on every input.
    Passed,
    /// `todo!()` still stands there.
    NotWritten,
    /// It does what a known mistake does.
    Mistake {
        /// Which, in the sheet's list.
        mistake: usize,
        /// Which of the answers that make it.
        answer: usize,
        /// The first input on which it differs from the reference.
        sizes: String,
        /// How it differs there.
        difference: Difference,
    },
    /// Its numbers have too few digits to tell what it does.
    Coarse {
        /// Whether it may be right.
        may_be_right: bool,
        /// Which mistakes it may be, by their places in the sheet's list.
        mistakes: Vec<usize>,
    },
    /// It is right on the inputs whose sizes are equal, and on no other.
    SquareOnly {
        /// The inputs on which it is right, one on each line.
        square: String,
        /// The first on which it is not.
        sizes: String,
        /// How it differs there.
        difference: Difference,
    },
    /// It differs, and from every known mistake too.
    Unknown {
        /// The inputs on which it is right, if there are any, one on each line.
        right: String,
        /// The first input on which it differs.
        sizes: String,
        /// How it differs there.
        difference: Difference,
        /// What its wrong numbers have in common with the right ones, if that is known.
        pattern: Option<Pattern>,
        /// How many mistakes it was compared with.
        n_known: usize,
    },
    /// It was stopped.
    NoEnd {
        /// The input that it was working on.
        sizes: String,
        /// After how many seconds.
        seconds: u64,
    },
}

impl Verdict {
    /// Where a number is another than it should be: the sizes of the input, and which matrix.
    pub fn first_entry(&self) -> Option<(&str, usize)> {
        match self {
            Self::Mistake { sizes, difference, .. }
            | Self::SquareOnly { sizes, difference, .. }
            | Self::Unknown { sizes, difference, .. } => match difference {
                Difference::Entry { part, .. } => Some((sizes, *part)),
                _ => None,
            },
            _ => None,
        }
    }
}
