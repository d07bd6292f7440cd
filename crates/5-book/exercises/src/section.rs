//! Where the book explains a thing.

use std::fmt;

/// A section of a chapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// The chapter's topic, which is its file's name without the number:
    /// `scores-softmax-scale`.
    pub chapter: &'static str,
    /// The heading as it stands there, without the `#`s.
    pub heading: &'static str,
}

/// The book's contents, which alone order chapters.
const SUMMARY: &str = include_str!("../../../../chapters/SUMMARY.md");

impl Section {
    /// A section by its chapter's topic and its heading.
    pub const fn new(chapter: &'static str, heading: &'static str) -> Self {
        Self { chapter, heading }
    }

    /// The chapter's number and its file, as the contents have them; nothing where they have
    /// no such chapter.
    pub fn page(&self) -> Option<(usize, &'static str)> {
        let mut files =
            SUMMARY.split("](").skip(1).filter_map(|link| link.split(')').next());
        files.find_map(|file| {
            let (number, topic) = file.strip_suffix(".md")?.split_once('-')?;
            (topic == self.chapter).then_some((number.parse().ok()?, file))
        })
    }

    /// The number of the chapter.
    pub fn number(&self) -> usize {
        self.page().map_or(0, |(number, _)| number)
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "chapter {}, “{}”", self.number(), self.heading)
    }
}
