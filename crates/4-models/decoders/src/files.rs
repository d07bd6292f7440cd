//! A model's files, read and not yet made into a model.

use std::path::{Path, PathBuf};

use encoders::{settings_in, weights_in};

use crate::config::Config;
use crate::families::gguf_config;
use crate::weights::Tensors;
use crate::{Gguf, Result};

/// A folder as `save_pretrained` writes it, or a GGUF file.
#[derive(Debug, Clone)]
pub struct Files {
    /// Where they are.
    pub path: PathBuf,
    /// What they say of the model.
    pub config: Config,
    pub(crate) tensors: Tensors,
}

impl Files {
    /// Reads `config.json` and `model.safetensors` of a folder, or a GGUF file.
    ///
    /// # Errors
    /// [`Error::Folder`](crate::Error::Folder) and [`Error::Gguf`](crate::Error::Gguf) for
    /// files that are missing or make no sense; as [`Config::read`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        if path.is_file() {
            return Self::of_gguf(path.clone(), Gguf::open(&path)?);
        }
        let config = Config::of(&settings_in(&path)?)?;
        let tensors = Tensors::Safetensors(weights_in(&path)?);
        Ok(Self { path, config, tensors })
    }

    /// The same from a GGUF file that is read already.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_gguf(path: PathBuf, file: Gguf) -> Result<Self> {
        Ok(Self { path, config: gguf_config(&file)?, tensors: Tensors::Gguf(file) })
    }

    /// The tokenizer: the folder's, or the GGUF file's own.
    ///
    /// # Errors
    /// As [`encoders::Text::open`] and [`gguf_text`](crate::gguf_text).
    #[cfg(feature = "text")]
    pub fn text(&self) -> Result<encoders::Text> {
        let n_vocabulary = self.config.n_vocabulary;
        match &self.tensors {
            Tensors::Gguf(file) => crate::gguf_text(file, n_vocabulary),
            Tensors::Safetensors(_) => {
                Ok(encoders::Text::open(&self.path, n_vocabulary)?)
            }
        }
    }
}
