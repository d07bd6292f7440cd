//! The reader's files: written where one is missing, and never over what a reader wrote.
//!
//! Git ignores them, so that an answer is no change of the repository. What stands there
//! untouched follows its solution: what was given is noted, and a file that still holds
//! just that is given anew.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};
use catalogue::Exercise;
use workshop::{paths, step, whole};

use crate::package::Package;

/// Makes every file of the reader's be there, and the package that compiles them.
///
/// # Errors
/// A file that cannot be read or written.
pub fn prepare() -> Result<()> {
    let package = Package::of_the_reader();
    let exercises = catalogue::all()?;
    let notes = paths::state().join("given");
    for exercise in exercises {
        let note = notes.join(&exercise.name).with_extension("rs");
        give(&package.answer(exercise), &note, &given(exercise, exercises))?;
    }
    for (file, text) in BESIDE {
        give(&package.answers.join(file), &notes.join(file), text)?;
    }
    package.write(exercises)
}

/// What stands beside the exercises: for answers in Python, and for an assistant.
const BESIDE: [(&str, &str); 2] =
    [("learn.py", LEARN_PY), ("AGENTS.md", include_str!("../assistant.md"))];

/// What answers in Python import to be given inputs and to print replies.
pub const LEARN_PY: &str = include_str!("../python/learn.py");

/// What the file of an exercise holds before anything is written.
pub fn given(exercise: &Exercise, exercises: &[Exercise]) -> String {
    catalogue::with_numbers(&exercise.given(), exercises)
}

/// Gives an exercise out, unless its reader has it.
fn give(path: &Path, note: &Path, given: &str) -> Result<()> {
    let given = given.as_bytes();
    let before = fs::read(path).ok();
    let is_untouched = before.is_some() && before == fs::read(note).ok();
    if is_untouched && before.as_deref() != Some(given) {
        match fs::remove_file(path) {
            // Another command gives it out just now.
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| path.display().to_string());
            }
            _ => {}
        }
    }
    step::make_folder_of(path)?;
    let failed = || format!("{} cannot be written", path.display());
    if !path.exists() {
        let complete = whole::beside(path, given).with_context(failed)?;
        match complete.persist_noclobber(path) {
            // Saved just now: then it is there.
            Err(error) if error.error.kind() != ErrorKind::AlreadyExists => {
                return Err(error.error).with_context(failed);
            }
            _ => {}
        }
    }
    step::write(note, given)
}

/// Refuses what no compiler explains well: a reader's file that is gone, or is not text.
pub fn expect_text(path: &Path, exercise: &Exercise) -> Result<()> {
    let name = paths::shown(path);
    let number = exercise.number;
    let again = format!("`cargo learn check --reset {number}` gives the original back");
    // A pipe would be waited for without end.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        bail!("{name} is no regular file; {again} and keeps yours");
    }
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("{name} is not there; {again}")
        }
        Err(error) => Err(error).with_context(|| format!("{name} cannot be read")),
        Ok(bytes) => match std::str::from_utf8(&bytes) {
            Ok(text) => expect_own(text, exercise),
            Err(error) => {
                let at = error.valid_up_to();
                let line = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
                bail!(
                    "{name} is not UTF-8 text: byte {at}, in line {line}, is 0x{:02x}. \
                     Save it as UTF-8; or {again} and keeps yours",
                    bytes[at]
                )
            }
        },
    }
}

/// Functions that the set hands out, and the exercise that asks for just that function.
const HANDED_OUT: [(&str, &str); 2] =
    [("softmax", "softmax_rows"), ("softmax_backward", "softmax_rows_backward")];

/// Refuses an answer that calls what it is to be.
///
/// # Errors
/// That it does.
pub fn expect_own(text: &str, exercise: &Exercise) -> Result<()> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = code.flat_map(|line| line.split(|c| !is_part(c))).collect();
    for (name, function) in HANDED_OUT {
        if exercise.name == name && words.contains(&function) {
            bail!("your answer calls {function}, which is what it is to be");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_written_and_an_answer_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let [path, note] =
            ["set/scale.rs", "notes/scale.rs"].map(|it| place.path().join(it));
        give(&path, &note, "given").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "given");

        fs::write(&path, "mine").unwrap();
        for given in ["given", "given otherwise"] {
            give(&path, &note, given).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        }
        fs::remove_file(&path).unwrap();
        give(&path, &note, "given").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "given");
        assert_eq!(fs::read_dir(place.path().join("set")).unwrap().count(), 1);
    }

    #[test]
    fn what_nobody_touched_follows_its_solution() {
        let place = tempfile::tempdir().unwrap();
        let [path, note] =
            ["set/scale.rs", "notes/scale.rs"].map(|it| place.path().join(it));
        for given in ["given", "given otherwise"] {
            give(&path, &note, given).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), given);
        }
        // Without a note, nobody knows: it may be an answer.
        fs::remove_file(&note).unwrap();
        give(&path, &note, "given once more").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "given otherwise");
    }
}
