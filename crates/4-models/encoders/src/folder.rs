//! A folder as `save_pretrained` writes it.

use std::path::{Path, PathBuf};

use model_files::{TensorFile, settings_in, weights_in};

use crate::{Config, Result};

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
    /// As [`settings_in`], [`weights_in`] and [`Config::of`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let config = Config::of(&settings_in(&path)?)?;
        let weights = weights_in(&path)?;
        Ok(Self { path, config, weights })
    }
}
