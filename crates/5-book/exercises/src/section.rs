//! Where the book explains a thing.

use std::fmt;

/// A section of a chapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// The chapter's file without `.md`: `02-scores-softmax-scale`.
    pub chapter: &'static str,
    /// The heading as it stands there, without the `#`s.
    pub heading: &'static str,
}

impl Section {
    /// A section by its chapter's file and its heading.
    pub const fn new(chapter: &'static str, heading: &'static str) -> Self {
        Self { chapter, heading }
    }

    /// The number of the chapter.
    pub fn number(&self) -> usize {
        let digits = self.chapter.split('-').next().unwrap_or_default();
        digits.parse().unwrap_or_default()
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "chapter {}, “{}”", self.number(), self.heading)
    }
}
