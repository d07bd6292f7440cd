//! Answers of an older checkout: found where they were, and brought to where they are now.
//!
//! Files had a number in front, which was another one before that, and the set lay in
//! `crates/exercises`. What is moved is told; what holds nothing of the reader's goes.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use workshop::paths::shown;
use workshop::step;

use crate::exercise::Exercise;
use crate::{entry, reset};

/// Brings every answer of before into the set, and says where each went: to its place, if
/// that is free, and else, or if it is not written to the end, to `kept/`.
///
/// `before` is the folder that the set lay in once.
pub fn bring(set: &Path, before: &Path, exercises: &[Exercise]) -> Result<Vec<String>> {
    let mut told = Vec::new();
    let folders = [set.join("exercises"), before.join("exercises"), before.join("kept")];
    for folder in &folders {
        let place = |exercise: &Exercise| set.join("exercises").join(&exercise.name);
        for file in rust_files(folder)? {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let (topic, is_copy) = topic(&stem);
            let exercise = exercises.iter().find(|exercise| exercise.name == topic);
            let Some(exercise) = exercise else { continue };
            let place = place(exercise).with_extension("rs");
            if file != place {
                told.extend(bring_one(set, &file, &place, exercise, is_copy)?);
            }
        }
    }
    Ok(told)
}

/// Brings one file to its place, or to `kept/`, and says where it went; nothing where it
/// holds only what was given.
fn bring_one(
    set: &Path,
    file: &Path,
    place: &Path,
    exercise: &Exercise,
    is_copy: bool,
) -> Result<Option<String>> {
    let failed = || format!("{} cannot be moved", file.display());
    let text = fs::read(file).with_context(failed)?;
    let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
    if text == exercise.given {
        fs::remove_file(file).with_context(failed)?;
        return Ok(None);
    }
    let is_free = match fs::read_to_string(place) {
        Ok(there) => there.replace("\r\n", "\n") == exercise.given,
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    if is_free && !is_copy && !text.contains("todo!()") {
        step::make_folder_of(place)?;
        fs::rename(file, place).with_context(failed)?;
        return Ok(Some(format!("Your answer {} is now {}", shown(file), shown(place))));
    }
    let kept = reset::keep(set, &exercise.name, file)?;
    let to = |name: String| {
        let kept = set.join("kept").join(name);
        format!("Your file {} is kept as {}", shown(file), shown(&kept))
    };
    Ok(kept.map(to))
}

/// Gives what rustlings noted as done the names of today.
pub fn rename_progress(set: &Path) -> Result<()> {
    let path = set.join(".rustlings-state.txt");
    let before = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        text => text.with_context(|| format!("{} cannot be read", path.display()))?,
    };
    let names: Vec<&str> = before.split('\n').map(entry::without_number).collect();
    step::write(&path, names.join("\n"))
}

/// What a file is about, and whether it is a copy: `04_scale` and `04_scale-1` are about
/// `scale`.
fn topic(stem: &str) -> (&str, bool) {
    let name = entry::without_number(stem);
    match name.rsplit_once('-') {
        Some((topic, number)) if entry::is_number(number) => (topic, true),
        _ => (name, false),
    }
}

/// The Rust files of a folder by their names; none where there is no folder.
fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = || format!("{} cannot be read", folder.display());
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(failed)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "rs") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "// as given\ntodo!()\n";

    /// A workspace with some files.
    fn workspace(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    /// Brings what is there, and gives what is told and every file with what it holds.
    fn brought(root: &Path) -> (Vec<String>, Vec<(String, String)>) {
        let exercise = |name: &str| Exercise { name: name.into(), given: GIVEN.into() };
        let exercises = ["scale", "softmax"].map(exercise);
        let (set, before) = (root.join("set"), root.join("before"));
        let inside = |text: String| {
            let root = format!("{}/", root.display()).replace('\\', "/");
            text.replace('\\', "/").replace(&root, "")
        };
        let told = bring(&set, &before, &exercises).unwrap();
        let told = told.into_iter().map(inside).collect();
        let folders = ["set/exercises", "set/kept", "before/exercises", "before/kept"];
        let files = folders.iter().flat_map(|name| rust_files(&root.join(name)).unwrap());
        let read = |path: PathBuf| {
            (inside(path.display().to_string()), fs::read_to_string(path).unwrap())
        };
        (told, files.map(read).collect())
    }

    fn there(files: &[(&str, &str)]) -> Vec<(String, String)> {
        files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect()
    }

    #[test]
    fn an_answer_is_brought_to_its_place_whatever_its_number_was() {
        for old in ["set/exercises/04_scale.rs", "before/exercises/7_scale.rs"] {
            let root = workspace(&[(old, "mine")]);
            let (told, files) = brought(root.path());
            assert_eq!(
                told,
                [format!("Your answer {old} is now set/exercises/scale.rs")]
            );
            assert_eq!(files, there(&[("set/exercises/scale.rs", "mine")]));
            assert_eq!(brought(root.path()).0, [""; 0], "a second time");
        }
    }

    #[test]
    fn an_answer_takes_the_place_of_what_is_as_given_and_of_nothing_else() {
        let root = workspace(&[
            ("set/exercises/scale.rs", GIVEN),
            ("set/exercises/softmax.rs", "new"),
            ("before/exercises/03_softmax.rs", "old"),
            ("before/exercises/04_scale.rs", "mine"),
        ]);
        let (told, files) = brought(root.path());
        assert_eq!(told.len(), 2);
        assert!(told[0].ends_with(" is kept as set/kept/softmax-1.rs"), "{told:?}");
        let expected = [
            ("set/exercises/scale.rs", "mine"),
            ("set/exercises/softmax.rs", "new"),
            ("set/kept/softmax-1.rs", "old"),
        ];
        assert_eq!(files, there(&expected));
    }

    #[test]
    fn what_was_kept_stays_kept_and_keeps_clear_of_what_is_there() {
        let root = workspace(&[
            ("before/kept/04_scale-1.rs", "first"),
            ("before/kept/04_scale-2.rs", "second"),
            ("set/kept/scale-1.rs", "third"),
        ]);
        let (_, files) = brought(root.path());
        let expected = [
            ("set/kept/scale-1.rs", "third"),
            ("set/kept/scale-2.rs", "first"),
            ("set/kept/scale-3.rs", "second"),
        ];
        assert_eq!(files, there(&expected));
    }

    #[test]
    fn what_is_not_written_to_the_end_is_kept_and_what_is_as_given_goes() {
        let root = workspace(&[
            ("set/exercises/03_softmax.rs", "a thought\ntodo!()"),
            ("set/exercises/04_scale.rs", &GIVEN.replace('\n', "\r\n")),
        ]);
        let (told, files) = brought(root.path());
        assert_eq!(told.len(), 1);
        let expected = [("set/kept/softmax-1.rs", "a thought\ntodo!()")];
        assert_eq!(files, there(&expected));
    }

    #[test]
    fn what_rustlings_noted_as_done_stays_done() {
        let head = "DON'T EDIT THIS FILE!\n\n";
        let before = format!("{head}05_head_in_loops\n\n03_softmax\n04_scale");
        let root = workspace(&[(".rustlings-state.txt", &before)]);
        rename_progress(root.path()).unwrap();
        let now = fs::read_to_string(root.path().join(".rustlings-state.txt")).unwrap();
        assert_eq!(now, format!("{head}head_in_loops\n\nsoftmax\nscale"));
    }

    #[test]
    fn what_is_no_exercise_is_left_alone() {
        let files = [("before/exercises/mine.rs", "mine"), ("set/exercises/b.rs", "b")];
        let root = workspace(&files);
        let (told, mut after) = brought(root.path());
        after.reverse();
        assert_eq!((told.len(), after), (0, there(&files)));
    }
}
