//! A folder as `save_pretrained` writes it.

use std::fs;
use std::path::{Path, PathBuf};

use tensors::TensorFile;

use crate::{Error, Result, Settings, SmallFiles, without_wrappers};

mod shards;

/// The index of weights in several files.
const INDEX: &str = "model.safetensors.index.json";

/// The settings in a model's folder.
///
/// # Errors
/// [`Error::NoFolder`], [`Error::NoFile`], [`Error::Tensors`], [`Error::Json`];
/// [`Error::Unsupported`] beside an adapter.
pub fn settings_in(folder: &Path) -> Result<Settings> {
    if !folder.is_dir() {
        return Err(Error::NoFolder { path: folder.to_path_buf() });
    }
    SmallFiles::Folder(folder).settings()
}

/// The weights in a model's folder, in one file or in several with an index. What a wrapper
/// has put before all names is taken off.
///
/// # Errors
/// [`Error::NoFile`], also for weights in other forms; [`Error::Index`]; as
/// [`TensorFile::open`].
pub fn weights_in(folder: &Path) -> Result<TensorFile> {
    let index = folder.join(INDEX);
    if index.is_file() && !folder.join("model.safetensors").exists() {
        return Ok(without_wrappers(shards::weights_of(folder, &index)?));
    }
    let path = file(folder, "model.safetensors", instead(folder))?;
    Ok(without_wrappers(TensorFile::open(path)?))
}

/// What a folder has where `model.safetensors` is missing.
fn instead(folder: &Path) -> &'static str {
    let Ok(entries) = fs::read_dir(folder) else { return "" };
    let names = entries.flatten().map(|entry| entry.file_name());
    let names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    let any = |is_it: &dyn Fn(&String) -> bool| names.iter().any(is_it);
    if any(&|name| name.starts_with("model-0") && name.ends_with(".safetensors")) {
        return ": it has parts of one, and no model.safetensors.index.json, which says what \
                is in which";
    }
    if any(&|name| name.ends_with(".safetensors")) {
        return ": it has weights under another name; model.safetensors is what is read";
    }
    if any(&|name| name.ends_with(".gguf")) {
        return ": it has a GGUF file; give the path of that";
    }
    if any(&|name| name == "pytorch_model.bin") {
        return ": pytorch_model.bin is a program in Python's format, and is not run here; \
                save_pretrained writes the other";
    }
    ""
}

/// The files that a folder's weights are in, whether they are there or not.
pub fn weight_files(folder: &Path) -> Vec<PathBuf> {
    let one = folder.join("model.safetensors");
    let index = folder.join(INDEX);
    if one.exists() || !index.is_file() {
        return vec![one];
    }
    let shards = shards::files(&index).unwrap_or_default();
    let shards = shards.into_iter().map(|shard| folder.join(shard));
    std::iter::once(index.clone()).chain(shards).collect()
}

fn file(folder: &Path, file: &'static str, hint: &'static str) -> Result<PathBuf> {
    let path = folder.join(file);
    match path.exists() {
        true => Ok(path),
        false => Err(Error::NoFile { folder: folder.to_path_buf(), file, hint }),
    }
}
