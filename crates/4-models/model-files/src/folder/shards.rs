//! Weights in several files, as an index says which tensor is where.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};
use tensors::{TensorFile, name_text};

use crate::shown::is_shown;
use crate::{Error, Result, read_text};

/// All shards as one file.
///
/// # Errors
/// [`Error::Index`] for a shard that is missing, and for a tensor that is not where the
/// index says, or of which it says nothing; as [`TensorFile::open`].
pub(super) fn weights_of(folder: &Path, index: &Path) -> Result<TensorFile> {
    let places = places(index)?;
    let refused = |why| Error::Index { file: index.display().to_string(), why };
    let mut files = Vec::new();
    for shard in places.values().collect::<BTreeSet<_>>() {
        let path = folder.join(shard);
        if !path.exists() {
            let n = places.values().filter(|place| *place == shard).count();
            let why = format!("{shard} is not there, which it says holds {n} tensors");
            return Err(refused(why));
        }
        let file = TensorFile::open(&path)?;
        for (tensor, place) in places.iter().filter(|(_, place)| *place == shard) {
            if !file.contains(tensor) {
                let tensor = name_text(tensor);
                let why = format!("it says that {tensor} is in {place}, which has none");
                return Err(refused(why));
            }
        }
        let is_elsewhere = |name: &String| places.get(name) != Some(shard);
        if let Some(tensor) = file.names().into_iter().find(is_elsewhere) {
            let tensor = name_text(&tensor);
            let why = format!("it does not say that {tensor} is in {shard}, where it is");
            return Err(refused(why));
        }
        files.push(file);
    }
    Ok(TensorFile::joined(index.display().to_string(), files))
}

/// The names of all shards, in order.
pub(super) fn files(index: &Path) -> Result<Vec<PathBuf>> {
    let shards: BTreeSet<String> = places(index)?.into_values().collect();
    Ok(shards.into_iter().map(PathBuf::from).collect())
}

/// The shard of each tensor: a name that can be shown as it is.
fn places(index: &Path) -> Result<BTreeMap<String, String>> {
    let file = || index.display().to_string();
    let json = read_text(index)?;
    let json: Map<String, Value> = serde_json::from_slice(&json)
        .map_err(|source| Error::Json { file: file(), source })?;
    let refused = |why: String| Error::Index { file: file(), why };
    let Some(map) = json.get("weight_map").and_then(Value::as_object) else {
        return Err(refused(
            "it has no weight_map, which says where each tensor is".into(),
        ));
    };
    let place = |(tensor, shard): (&String, &Value)| {
        let shard = shard.as_str().unwrap_or_default();
        let mut parts = Path::new(shard).components();
        let is_plain = matches!(parts.next(), Some(Component::Normal(_)));
        match is_plain && parts.next().is_none() && shard.chars().all(is_shown) {
            true => Ok((tensor.clone(), shard.to_string())),
            false => Err(refused(format!(
                "it says that {} is in \"{}\", expected a file of this folder",
                name_text(tensor),
                name_text(shard)
            ))),
        }
    };
    map.iter().map(place).collect()
}

#[cfg(test)]
mod tests;
