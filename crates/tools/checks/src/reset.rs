//! Gives an original back, and loses nothing.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use catalogue::Exercise;
use workshop::output::print;
use workshop::{paths, whole};

use crate::package::Package;

/// Gives the original back, and keeps what stands in its place.
pub fn reset(package: &Package, exercise: &Exercise, given: &str) -> Result<()> {
    let path = package.answer(exercise);
    let shown = paths::shown(&path);
    let message = match put_back(&path, given, || ())? {
        None => format!("{shown} is as it was given: nothing to do\n"),
        Some(kept) => {
            let place = |name| paths::shown(&package.answers.join("kept").join(name));
            let kept = kept.iter().map(place);
            let kept = kept.map(|place| format!("Your file is kept as {place}\n"));
            format!("{}{shown} is as it was given\n", kept.collect::<String>())
        }
    };
    Ok(print(message)?)
}

/// Puts the original in its place, and gives the names of the files that were kept;
/// nothing if it stands there already.
///
/// The reader's file is not copied but moved, and the original takes a place that is free
/// or none: what an editor saves at any moment (`meanwhile`, for tests) ends up in one of
/// the two.
fn put_back(
    path: &Path,
    original: &str,
    mut meanwhile: impl FnMut(),
) -> Result<Option<Vec<String>>> {
    let failed = || format!("{} cannot be reset", path.display());
    if fs::read(path).is_ok_and(|bytes| bytes == original.as_bytes()) {
        return Ok(None);
    }
    let mut complete = whole::beside(path, original.as_bytes()).with_context(failed)?;
    let mut kept = Vec::new();
    loop {
        meanwhile();
        kept.extend(keep(path)?);
        meanwhile();
        match complete.persist_noclobber(path) {
            Ok(_) => return Ok(Some(kept)),
            // It was saved again: that is kept too.
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                complete = error.file;
            }
            Err(error) => return Err(error.error).with_context(failed),
        }
    }
}

/// Moves a reader's file, if there is one, to the first number that is free.
fn keep(path: &Path) -> Result<Option<String>> {
    let folder = path.with_file_name("kept");
    let exercise = path.file_stem().unwrap_or_default().to_string_lossy();
    fs::create_dir_all(&folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    for number in 1.. {
        let name = format!("{exercise}-{number}.rs");
        let place: PathBuf = folder.join(&name);
        // Making it first keeps the name from anybody else, and the rename replaces it.
        match File::create_new(&place) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            made => made
                .map(drop)
                .with_context(|| format!("{} cannot be written", place.display()))?,
        }
        let moved = fs::rename(path, &place);
        if moved.is_err() {
            let _ = fs::remove_file(&place);
        }
        return match moved {
            Ok(()) => Ok(Some(name)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(error).with_context(|| format!("{} cannot be kept", path.display()))
            }
        };
    }
    unreachable!("there is always a larger number")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with one answer.
    fn set() -> (tempfile::TempDir, PathBuf) {
        let set = tempfile::tempdir().unwrap();
        let path = set.path().join("scale.rs");
        fs::write(&path, "mine").unwrap();
        (set, path)
    }

    fn read_kept(set: &Path, names: &[String]) -> Vec<String> {
        let read = |name| fs::read_to_string(set.join("kept").join(name)).unwrap();
        names.iter().map(read).collect()
    }

    #[test]
    fn what_was_there_is_kept_under_a_new_name() {
        let (set, path) = set();
        let kept = put_back(&path, "given", || ()).unwrap().unwrap();
        assert_eq!(read_kept(set.path(), &kept), ["mine"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "given");
        assert_eq!(put_back(&path, "given", || ()).unwrap(), None);
        fs::remove_file(&path).unwrap();
        let kept = put_back(&path, "given", || ()).unwrap().unwrap();
        assert_eq!(kept, Vec::<String>::new());
        assert_eq!(fs::read_dir(set.path().join("kept")).unwrap().count(), 1);
        assert_eq!(fs::read_dir(set.path()).unwrap().count(), 2, "it, and `kept`");
    }

    /// An editor saves in place, or puts a new file there, at every moment in between.
    #[test]
    fn no_save_is_lost() {
        for at in 0..2 {
            for in_place in [true, false] {
                let (set, path) = set();
                let mut n = 0;
                let save = || {
                    if n == at && in_place {
                        fs::write(&path, "saved").unwrap();
                    } else if n == at {
                        whole::write(&path, b"saved").unwrap();
                    }
                    n += 1;
                };
                let kept = put_back(&path, "given", save).unwrap().unwrap();
                let kept = read_kept(set.path(), &kept);
                assert_eq!(kept.last().unwrap(), "saved", "{at} {in_place} {kept:?}");
                assert_eq!(fs::read_to_string(&path).unwrap(), "given");
            }
        }
    }

    /// Where it is ended in between, the file is whole or away, and never empty.
    #[test]
    fn it_is_never_half_written() {
        let (_set, path) = set();
        let look = || match fs::read_to_string(&path) {
            Ok(text) => assert_eq!(text, "mine"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound),
        };
        put_back(&path, "given", look).unwrap();
    }
}
