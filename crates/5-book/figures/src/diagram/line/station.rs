//! Where one can be on the Line: the one table of its stations.

use crate::{Error, Result};

/// A part of the way from words to an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Station {
    /// Words, and a row for each.
    Words,
    /// Queries, keys and values, in each head.
    Project,
    /// Q Kᵀ / √d_k.
    Scores,
    /// What is blocked.
    Mask,
    /// From scores to shares.
    Softmax,
    /// The values, averaged.
    Mix,
    /// The heads side by side.
    Concat,
    /// W^O.
    Output,
    /// What comes out, and goes on.
    Out,
}

impl Station {
    /// All of them in order, with what a chapter calls each and what stands on it.
    pub(super) const ALL: [(&'static str, Self, &'static str); 9] = [
        ("words", Self::Words, "words"),
        ("project", Self::Project, "Q K V"),
        ("scores", Self::Scores, "scores"),
        ("mask", Self::Mask, "mask"),
        ("softmax", Self::Softmax, "softmax"),
        ("mix", Self::Mix, "mix"),
        ("concat", Self::Concat, "concat"),
        ("output", Self::Output, "W^O"),
        ("out", Self::Out, "out"),
    ];

    /// The station that a chapter calls so.
    ///
    /// # Errors
    /// [`Error::NoSuchPart`] for another name.
    pub fn named(name: &str) -> Result<Self> {
        Error::find_part(name, &Self::ALL.map(|(known, station, _)| (known, station)))
    }

    /// What stands on it.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].2
    }
}
