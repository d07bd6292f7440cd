//! A folder as `save_pretrained` writes it.

use std::path::{Path, PathBuf};

use model_files::{Unused, expect_settings, settings_in, weights_in};
use tensors::TensorFile;

use crate::Result;
use crate::encoders::Config;
use crate::encoders::weights::leftover_tensors;

/// A model's files, read and not yet made into a model.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Where they are.
    pub path: PathBuf,
    /// `config.json`.
    pub config: Config,
    /// `model.safetensors`, or all files of its index.
    pub weights: TensorFile,
    /// What is known to change nothing, in both files.
    pub leftovers: Vec<Unused>,
}

impl Folder {
    /// Reads `config.json` and `model.safetensors`, or what its index names.
    ///
    /// # Errors
    /// As [`settings_in`], [`weights_in`] and [`Config::of`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let settings = settings_in(&path)?;
        let config = Config::of(&settings)?;
        let weights = weights_in(&path)?;
        let mut leftovers = config.leftovers(&settings)?;
        leftovers.extend(leftover_tensors(&config, &weights));
        leftovers.extend(expect_settings(
            &weights,
            &settings,
            config.family.name,
            false,
        )?);
        Ok(Self { path, config, weights, leftovers })
    }
}
