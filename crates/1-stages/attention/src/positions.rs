//! Where some tokens stand in their sequence.

use std::ops::Range;

use crate::{Error, Result};

/// Some of a sequence's queries and some of its keys, counted from the sequence's first.
///
/// A mask is that of the whole sequence: the first token of a part is not the sequence's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Positions {
    /// The queries.
    pub queries: Range<usize>,
    /// The keys.
    pub keys: Range<usize>,
    /// How many queries and how many keys the whole sequence has.
    pub lengths: (usize, usize),
}

impl Positions {
    /// Whether both lie within the sequence.
    ///
    /// # Errors
    /// [`Error::Length`] with the last of the tokens that there are not.
    pub fn check(&self) -> Result<()> {
        for (what, part, length) in [
            ("the sequence that queries are a part of", &self.queries, self.lengths.0),
            ("the sequence that keys are a part of", &self.keys, self.lengths.1),
        ] {
            Error::expect_length(what, length.max(part.end), length)?;
        }
        Ok(())
    }
}
