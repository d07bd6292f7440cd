//! A folder as `save_pretrained` writes it.

use std::path::{Path, PathBuf};

use crate::{Error, Result, Settings, TensorFile, plain};

/// The settings in a model's folder.
///
/// # Errors
/// [`Error::NoFolder`], [`Error::NoFile`], [`Error::Read`], [`Error::Json`].
pub fn settings_in(folder: &Path) -> Result<Settings> {
    if !folder.is_dir() {
        return Err(Error::NoFolder { path: folder.to_path_buf() });
    }
    let path = file(folder, "config.json", "")?;
    let json = plain::read(&path, plain::LONGEST_TEXT)?;
    Settings::read(&path.display().to_string(), &json)
}

/// The weights in a model's folder.
///
/// # Errors
/// [`Error::NoFile`], also for weights in other forms; as [`TensorFile::open`].
pub fn weights_in(folder: &Path) -> Result<TensorFile> {
    let hint = match folder.join("model.safetensors.index.json").is_file() {
        true => ": it is in several files, which are not put together here",
        false if folder.join("pytorch_model.bin").is_file() => {
            ": pytorch_model.bin is a program in Python's format, and is not run here; \
             save_pretrained writes the other"
        }
        false => "",
    };
    TensorFile::open(file(folder, "model.safetensors", hint)?)
}

/// A file of a folder.
pub(crate) fn file(
    folder: &Path,
    file: &'static str,
    hint: &'static str,
) -> Result<PathBuf> {
    let path = folder.join(file);
    match path.exists() {
        true => Ok(path),
        false => Err(Error::NoFile { folder: folder.to_path_buf(), file, hint }),
    }
}
