//! The ids of all mistakes: a list that only grows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use workshop::{paths, step};

/// The ids of all mistakes, each with its name: of the layer's list, or of the first exercise
/// that has it.
///
/// # Errors
/// A sheet that cannot be read.
pub fn ids() -> Result<BTreeMap<String, String>> {
    let mut ids = BTreeMap::new();
    for mistake in catalogue::layer_mistakes() {
        ids.insert(mistake.id.clone(), mistake.name.clone());
    }
    for exercise in catalogue::all()? {
        for mistake in &exercise.sheet.mistakes {
            let (id, name) = (mistake.id.clone(), mistake.name.clone());
            ids.entry(id).or_insert(name);
        }
    }
    Ok(ids)
}

fn path() -> PathBuf {
    paths::workspace().join("crates/5-book/catalogue/ids.txt")
}

fn kept() -> BTreeSet<String> {
    let text = fs::read_to_string(path()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Adds the ids that are new.
///
/// # Errors
/// An id that is gone.
pub(crate) fn keep() -> Result<usize> {
    let (ids, kept) = (ids()?, kept());
    let gone: Vec<_> = kept.iter().filter(|id| !ids.contains_key(*id)).collect();
    ensure!(gone.is_empty(), "an id never goes, and no mistake has these: {gone:?}");
    let text: String = ids.keys().map(|id| format!("{id}\n")).collect();
    step::write(&path(), text)?;
    Ok(ids.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_ids_has_them_all_and_has_lost_none() {
        let ids: BTreeSet<String> = ids().unwrap().into_keys().collect();
        let kept = kept();
        let gone: Vec<_> = kept.difference(&ids).collect();
        assert!(gone.is_empty(), "an id never goes: {gone:?}");
        let new: Vec<_> = ids.difference(&kept).collect();
        assert!(new.is_empty(), "`cargo learn mistakes` adds {new:?} to ids.txt");
    }
}
