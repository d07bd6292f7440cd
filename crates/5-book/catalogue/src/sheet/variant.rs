//! What a sheet says of a variant.

use super::Mistake;

/// A variant: an edit of the solution, and what it changes in the texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// What it does: `divides by d_k`.
    pub name: String,
    /// Its name for programs, which stays.
    pub id: String,
    /// What the learner is told.
    pub task: String,
    /// What the book's version does: `divides by √d_k`.
    pub book: String,
    /// The edits of the solution.
    pub edits: Vec<(String, String)>,
    /// The edits of what the exercise says.
    pub texts: Vec<(String, String)>,
    /// Where to begin, where that is another line than the book's.
    pub begin: Option<String>,
    /// What to print, where that is another line than the book's.
    pub print: Option<String>,
    /// What holds when it is passed, where that is another line than the book's.
    pub passed: Option<String>,
    /// The steps of the hint that are left out, counted from 1.
    pub hints: Vec<usize>,
    /// The mistakes and the other right answers that are left out, by their ids.
    pub without: Vec<String>,
    /// Where it stands in the sheet, counted from 1.
    pub line: usize,
}

impl Variant {
    pub(crate) fn reworded(&self, text: &str) -> String {
        replaced(&self.texts, text)
    }

    /// The edits of the solution, wherever they apply in another text.
    pub(crate) fn edited(&self, text: &str) -> String {
        replaced(&self.edits, text)
    }
}

fn replaced(edits: &[(String, String)], text: &str) -> String {
    edits.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
}

/// The id of the mistake whose answer is the book's.
pub(crate) const UNVARIED: &str = "unvaried";

/// With what the id of a mistake begins whose answer is that of another variant.
pub(crate) const VARIANT: &str = "variant-";

impl Mistake {
    /// Whether it is the right answer to the book's version of an exercise, or to another
    /// variant: it then stands on no page of the book.
    pub fn is_other_version(&self) -> bool {
        self.id == UNVARIED || self.id.starts_with(VARIANT)
    }
}
