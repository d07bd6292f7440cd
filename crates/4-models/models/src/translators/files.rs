//! A model's files, read and not yet made into a model.

use std::path::{Path, PathBuf};

use model_files::{
    Settings, SmallFiles, Unused, expect_settings, settings_in, weights_in,
};
use tensors::TensorFile;

use crate::Result;
use crate::translators::config::Config;
use crate::translators::weights::leftover_tensors;

/// A folder as `save_pretrained` writes it.
#[derive(Debug, Clone)]
pub struct Files {
    /// Where they are.
    pub path: PathBuf,
    /// What they say of the model.
    pub config: Config,
    /// `model.safetensors`, or all files of its index.
    pub weights: TensorFile,
    /// What is known to change nothing, in all files.
    pub leftovers: Vec<Unused>,
}

impl Files {
    /// Reads `config.json`, `generation_config.json` where it is there, and
    /// `model.safetensors`, or what its index names.
    ///
    /// # Errors
    /// [`Error::Files`](crate::Error::Files) for files that are missing or make no sense; as
    /// [`Config::read`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let settings = settings_in(&path)?;
        let config =
            Config::of(&settings)?.with_generation(&SmallFiles::Folder(&path))?;
        let weights = weights_in(&path)?;
        Self::of(path, &settings, config, weights)
    }

    /// The same from what is read already: the settings, what they say, and the weights.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of(
        path: PathBuf,
        settings: &Settings,
        config: Config,
        weights: TensorFile,
    ) -> Result<Self> {
        let mut leftovers = config.leftovers(settings)?;
        leftovers.extend(leftover_tensors(&config, &weights));
        leftovers.extend(expect_settings(&weights, settings, config.family.name, false)?);
        Ok(Self { path, config, weights, leftovers })
    }
}
