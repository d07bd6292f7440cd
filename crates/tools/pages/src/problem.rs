//! Something wrong, and where.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Result, bail};
use workshop::paths;

/// One thing wrong with the book, shown as `file:line: what`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The chapter or page.
    pub file: PathBuf,
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, in words.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", paths::shown(&self.file), self.line, self.what)
    }
}

/// An error that lists every problem, if there is one.
pub fn none(problems: &[Problem]) -> Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    bail!("{}", lines.join("\n"))
}

/// The line, counted from 1, of a byte offset.
pub fn line_of(text: &str, offset: usize) -> usize {
    1 + text[..offset].matches('\n').count()
}
