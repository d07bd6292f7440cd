//! The reader's files: written where one is missing, and never over what a reader wrote.
//!
//! Git ignores them, so that an answer is no change of the repository. What stands there
//! untouched follows its solution: what was given is noted, and a file that still holds
//! just that is given anew.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use workshop::output::print;
use workshop::{paths, step, whole};

use crate::exercise::Exercise;
use crate::{entry, files, older};

/// Makes every file of the reader's be there: answers of an older checkout in their places,
/// with a word on each, and the others as they are given.
///
/// # Errors
/// A file that cannot be read, moved or written.
pub fn prepare() -> Result<()> {
    let entries = entry::all()?;
    let exercises: Vec<_> = entries.iter().map(Exercise::new).collect::<Result<_>>()?;
    let before = paths::workspace().join("crates/exercises");
    for moved in older::bring(&files::set(), &before, &exercises)? {
        print(format_args!("{moved}\n"))?;
    }
    older::rename_progress(&files::set())?;
    let notes = paths::state().join("given");
    exercises.iter().try_for_each(|exercise| give(&files::set(), &notes, exercise))
}

/// Gives an exercise out, unless its reader has it.
fn give(set: &Path, notes: &Path, exercise: &Exercise) -> Result<()> {
    let path = set.join("exercises").join(&exercise.name).with_extension("rs");
    let note = notes.join(&exercise.name).with_extension("rs");
    let given = exercise.given.as_bytes();
    let before = fs::read(&path).ok();
    let is_untouched = before.is_some() && before == fs::read(&note).ok();
    if is_untouched && before.as_deref() != Some(given) {
        fs::remove_file(&path).with_context(|| path.display().to_string())?;
    }
    step::make_folder_of(&path)?;
    let failed = || format!("{} cannot be written", path.display());
    if !path.exists() {
        let complete = whole::beside(&path, given).with_context(failed)?;
        match complete.persist_noclobber(&path) {
            // Saved just now: then it is there.
            Err(error) if error.error.kind() != ErrorKind::AlreadyExists => {
                return Err(error.error).with_context(failed);
            }
            _ => {}
        }
    }
    step::write(&note, given)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exercise(given: &str) -> Exercise {
        Exercise { name: "scale".into(), given: given.into() }
    }

    #[test]
    fn what_is_missing_is_written_and_an_answer_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let (set, notes) = (place.path().join("set"), place.path().join("notes"));
        let path = set.join("exercises/scale.rs");
        give(&set, &notes, &exercise("given")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "given");

        fs::write(&path, "mine").unwrap();
        for given in ["given", "given otherwise"] {
            give(&set, &notes, &exercise(given)).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        }
        fs::remove_file(&path).unwrap();
        give(&set, &notes, &exercise("given")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "given");
        assert_eq!(fs::read_dir(set.join("exercises")).unwrap().count(), 1);
    }

    #[test]
    fn what_nobody_touched_follows_its_solution() {
        let place = tempfile::tempdir().unwrap();
        let (set, notes) = (place.path().join("set"), place.path().join("notes"));
        let path = set.join("exercises/scale.rs");
        for given in ["given", "given otherwise"] {
            give(&set, &notes, &exercise(given)).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), given);
        }
        // Without a note, nobody knows: it may be an answer.
        fs::remove_dir_all(&notes).unwrap();
        give(&set, &notes, &exercise("given once more")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "given otherwise");
    }
}
