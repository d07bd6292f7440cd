//! What is wrong with a file, and where.

use std::fmt;
use std::path::Path;

/// What is wrong with one of the files, and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file, as a person finds it: `set/scale.md`; empty where it is none.
    pub file: String,
    /// Counted from 1; 0 where it is the whole file.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// What these files say, or what is wrong with them.
pub type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// A fault in a line of a file.
    pub fn new(file: impl Into<String>, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.into(), line, what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 if self.file.is_empty() => write!(f, "{}", self.what),
            0 => write!(f, "{}: {}", self.file, self.what),
            line => write!(f, "{}:{line}: {}", self.file, self.what),
        }
    }
}

impl std::error::Error for Fault {}

/// A file's text.
pub(crate) fn read(path: &Path) -> Result<String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Fault::new(path.display().to_string(), 0, error.to_string()))?;
    Ok(text.replace("\r\n", "\n"))
}
