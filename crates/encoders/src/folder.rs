//! A folder as `save_pretrained` writes it.

use std::fs;
use std::path::{Path, PathBuf};

use pretrained::TensorFile;

use crate::{Config, Error, Result};

/// A model's files, read and not yet made into a model.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Where they are.
    pub path: PathBuf,
    /// `config.json`.
    pub config: Config,
    /// `model.safetensors`.
    pub weights: TensorFile,
}

impl Folder {
    /// Reads `config.json` and `model.safetensors`.
    ///
    /// # Errors
    /// [`Error::NoFolder`], [`Error::NoFile`], [`Error::Read`]; as [`Config::read`] and
    /// [`TensorFile::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        if !path.is_dir() {
            return Err(Error::NoFolder { path });
        }
        let config = file(&path, "config.json", "")?;
        let json = fs::read(&config)
            .map_err(|source| Error::Read { path: config.clone(), source })?;
        let config = Config::read(&config.display().to_string(), &json)?;
        let hint = match path.join("model.safetensors.index.json").is_file() {
            true => ": it is in several files, which are not put together here",
            false if path.join("pytorch_model.bin").is_file() => {
                ": pytorch_model.bin is a program in Python's format, and is not run here; \
                 save_pretrained writes the other"
            }
            false => "",
        };
        let weights = TensorFile::open(file(&path, "model.safetensors", hint)?)?;
        Ok(Self { path, config, weights })
    }
}

/// A file of a folder; the `hint` is what an error adds.
///
/// # Errors
/// [`Error::NoFile`].
pub fn file(folder: &Path, file: &'static str, hint: &'static str) -> Result<PathBuf> {
    let path = folder.join(file);
    match path.exists() {
        true => Ok(path),
        false => Err(Error::NoFile { folder: folder.to_path_buf(), file, hint }),
    }
}
