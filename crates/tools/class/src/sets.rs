//! The exercises that a class was given: the workspace's own, or those of a folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use catalogue::Exercise;
use exercises::Numbers;

/// A folder with `set` (NAME.md, NAME.rs) and `numbers` (NAME.bin).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Set {
    folder: PathBuf,
}

impl Set {
    /// The set of a student: a folder of this name in `sets`, `sets` itself, or the
    /// workspace's own where there are none.
    pub fn of(student: &str, sets: Option<&Path>) -> Self {
        let own = || catalogue::folder().parent().map(Path::to_owned).unwrap_or_default();
        let of_student = sets.map(|sets| sets.join(student));
        let folder = of_student.filter(|folder| folder.join("set").is_dir());
        Self { folder: folder.or(sets.map(Path::to_owned)).unwrap_or_else(own) }
    }

    /// What an exercise says, and the numbers that are kept of it; none of a test.
    ///
    /// # Errors
    /// Files that are not there, or numbers of another sheet.
    pub fn exercise(&self, name: &str) -> Result<(Exercise, Option<Numbers>)> {
        let place = || format!("the set {}", self.folder.display());
        let exercise =
            catalogue::find_in(&self.folder.join("set"), name).with_context(place)?;
        if exercises::any(name).is_none() {
            return Ok((exercise, None));
        }
        let path = self.folder.join("numbers").join(name).with_extension("bin");
        let numbers = Numbers::of_file(&path, &exercise).map_err(anyhow::Error::msg)?;
        Ok((exercise, Some(numbers)))
    }
}

/// The seed by which the inputs are drawn whose numbers these are.
pub fn seed(numbers: Option<&Numbers>) -> u64 {
    numbers.map_or(0, |numbers| numbers.seed)
}
