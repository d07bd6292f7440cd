//! A model's files, read and not yet made into a model.

use std::path::{Path, PathBuf};

use model_files::{
    Gguf, Settings, SmallFiles, Unused, expect_settings, settings_in, weights_in,
};
use tensors::TensorFile;

use crate::Result;
use crate::decoders::config::Config;
use crate::decoders::families::gguf_config;
use crate::decoders::weights::{Tensors, leftover_tensors};

/// A folder as `save_pretrained` writes it, or a GGUF file.
#[derive(Debug, Clone)]
pub struct Files {
    /// Where they are.
    pub path: PathBuf,
    /// What they say of the model.
    pub config: Config,
    /// What is known to change nothing, in all files.
    pub leftovers: Vec<Unused>,
    pub(crate) tensors: Tensors,
}

impl Files {
    /// Reads `config.json`, `generation_config.json` where it is there, and
    /// `model.safetensors` of a folder, or a GGUF file.
    ///
    /// # Errors
    /// [`Error::Files`](crate::Error::Files) and [`Error::Gguf`](crate::Error::Gguf) for
    /// files that are missing or make no sense; as [`Config::read`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        if path.is_file() {
            return Self::of_gguf(path.clone(), Gguf::open(&path)?);
        }
        let settings = settings_in(&path)?;
        let config =
            Config::of(&settings)?.with_generation(&SmallFiles::Folder(&path))?;
        let weights = weights_in(&path)?;
        Self::of_folder(path, &settings, config, weights)
    }

    /// The same from what is read already of a folder: the settings, what they say, and the
    /// weights.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_folder(
        path: PathBuf,
        settings: &Settings,
        config: Config,
        weights: TensorFile,
    ) -> Result<Self> {
        let mut leftovers = config.leftovers(settings)?;
        leftovers.extend(leftover_tensors(&config, &weights));
        leftovers.extend(expect_settings(&weights, settings, config.family.name, true)?);
        Ok(Self { path, config, leftovers, tensors: Tensors::Safetensors(weights) })
    }

    /// The same from a GGUF file that is read already.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_gguf(path: PathBuf, file: Gguf) -> Result<Self> {
        let (config, leftovers) = gguf_config(&file)?;
        Ok(Self { path, config, leftovers, tensors: Tensors::Gguf(file) })
    }

    /// The tokenizer: the folder's, or the GGUF file's own.
    ///
    /// # Errors
    /// As `Text::open` and `gguf_text` of `texts`.
    #[cfg(feature = "text")]
    pub fn text(&self) -> Result<texts::Text> {
        let n_vocabulary = self.config.n_vocabulary;
        match &self.tensors {
            Tensors::Gguf(file) => Ok(texts::gguf_text(file, n_vocabulary)?),
            Tensors::Safetensors(_) => Ok(texts::Text::open(&self.path, n_vocabulary)?),
        }
    }
}
