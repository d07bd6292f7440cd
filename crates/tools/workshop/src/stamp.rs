//! What need not be made again: a folder that holds the list of what it was made from.
//!
//! The list lies in the very folder, so that it goes where the folder goes. Deleted, moved
//! or left out of a cache, the folder is made anew.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::step;

/// Whether `folder` was made, to the end, from these ingredients.
///
/// They are kept as they are, not as a hash: a person can see what changed.
pub fn holds(folder: &Path, ingredients: &str) -> bool {
    read(folder).is_some_and(|before| before == ingredients)
}

/// Whether `folder` was made to the end, from whatever.
pub fn is_sealed(folder: &Path) -> bool {
    file(folder).exists()
}

/// What `folder` was made from, if it was made to the end.
pub fn read(folder: &Path) -> Option<String> {
    fs::read_to_string(file(folder)).ok()
}

/// Does `work`, which makes `folder`, unless the same ingredients made it before. True if
/// it was done.
///
/// # Errors
/// What `work` says, or a stamp that cannot be written.
pub fn once(
    folder: &Path,
    ingredients: &str,
    work: impl FnOnce() -> Result<()>,
) -> Result<bool> {
    if holds(folder, ingredients) {
        return Ok(false);
    }
    // An interrupted step must not look done.
    let stamp = file(folder);
    if stamp.exists() {
        fs::remove_file(&stamp)
            .with_context(|| format!("{} could not be removed", stamp.display()))?;
    }
    work()?;
    seal(folder, ingredients)?;
    Ok(true)
}

/// Says that `folder` is made, from these ingredients.
///
/// # Errors
/// A stamp that cannot be written.
pub fn seal(folder: &Path, ingredients: &str) -> Result<()> {
    step::write(&file(folder), ingredients)
}

fn file(folder: &Path) -> PathBuf {
    folder.join(".complete")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use anyhow::bail;

    use super::*;

    #[test]
    fn a_folder_is_made_once_and_again_when_it_or_its_ingredients_are_gone() {
        let place = tempfile::tempdir().unwrap();
        let venv = place.path().join("venv");
        let made = Cell::new(0);
        let make = |ingredients: &str| {
            once(&venv, ingredients, || {
                made.set(made.get() + 1);
                fs::create_dir_all(&venv)?;
                Ok(())
            })
            .unwrap();
            made.get()
        };
        assert_eq!([make("3.11"), make("3.11"), make("3.12")], [1, 1, 2]);
        fs::remove_dir_all(&venv).unwrap();
        assert_eq!(make("3.12"), 3);
    }

    #[test]
    fn a_folder_whose_making_failed_is_not_made() {
        let place = tempfile::tempdir().unwrap();
        once(place.path(), "old", || Ok(())).unwrap();
        assert!(once(place.path(), "new", || bail!("interrupted")).is_err());
        assert_eq!(read(place.path()), None);
    }
}
