//! An exercise as its reader meets it.

use anyhow::Result;

use crate::entry::Entry;
use crate::original;

/// A file's name, and what is given in it.
pub struct Exercise {
    /// The name of its file, without `.rs`.
    pub name: String,
    /// What the file holds before anything is written.
    pub given: String,
}

impl Exercise {
    /// From its solution.
    pub fn new(entry: &Entry) -> Result<Self> {
        Ok(Self { name: entry.name().to_owned(), given: original::original(entry)? })
    }
}
