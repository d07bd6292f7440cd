//! A model's files, read and not yet made into a model.

use std::path::{Path, PathBuf};

use block::Activation;
use model_files::{
    Gguf, Settings, SmallFiles, Unused, expect_settings, settings_in, weights_in,
};
use tensors::TensorFile;

use crate::Result;
use crate::reader::Tensors;

/// What files say of a model before its weights are read.
pub trait Configuration: Sized {
    /// Reads a `config.json` as `save_pretrained` writes it; `file` is what errors call it.
    ///
    /// # Errors
    /// [`model_files::Error::Json`] for a file that is no JSON; as [`of`](Self::of).
    fn read(file: &str, json: &[u8]) -> Result<Self> {
        Self::of(&Settings::read(file, json)?)
    }

    /// The same from settings that are read already.
    ///
    /// # Errors
    /// [`model_files::Error::Family`]; [`model_files::Error::Setting`] for a setting that is
    /// missing or asks for what is not here, [`model_files::Error::UnknownSetting`] for one
    /// that nobody knows; [`Error::Config`](crate::Error::Config) for sizes that make no layer.
    ///
    /// # Source
    /// The configs of the families in Hugging Face's transformers, with their defaults where a
    /// key is missing that no tensor's shape says.
    fn of(settings: &Settings) -> Result<Self>;

    /// What a GGUF file says of its model, and the settings that change nothing, with reasons.
    ///
    /// # Errors
    /// [`Error::Gguf`](crate::Error::Gguf) for a model that is not in such files.
    fn of_gguf(file: &Gguf) -> Result<(Self, Vec<Unused>)> {
        Err(file.wrong("general.architecture", "that of a decoder").into())
    }

    /// With what a folder's `generation_config.json` says of writing, where it is there:
    /// transformers asks that file first.
    ///
    /// # Errors
    /// [`Error::Files`](crate::Error::Files) for one that makes no sense.
    fn with_generation(self, _: &SmallFiles) -> Result<Self> {
        Ok(self)
    }

    /// Expects one `tokenizer.json` to be enough for all texts that the model reads.
    ///
    /// # Errors
    /// [`Error::Files`](crate::Error::Files) for a folder that has SentencePiece's files alone,
    /// or for vocabularies of their own.
    fn expect_one_tokenizer(&self, _: &SmallFiles) -> Result<()> {
        Ok(())
    }

    /// Whether a token reads only those before it.
    fn is_causal(&self) -> bool {
        false
    }

    /// The name of the family.
    fn family(&self) -> &'static str;

    /// How many tokens a tokenizer must know.
    fn n_vocabulary(&self) -> usize;

    /// The settings that change nothing.
    ///
    /// # Errors
    /// [`model_files::Error::UnknownSetting`].
    fn unused_settings(&self, settings: &Settings) -> Result<Vec<Unused>>;

    /// The tensors that are known to be no part of the model, and the settings in whose place
    /// the file has tensors.
    fn unused_tensors(&self, file: &TensorFile) -> Vec<Unused>;
}

/// A folder as `save_pretrained` writes it, or a GGUF file.
#[derive(Debug, Clone)]
pub struct Files<C> {
    /// Where they are.
    pub path: PathBuf,
    /// What they say of the model.
    pub config: C,
    /// The weights.
    pub tensors: Tensors,
    /// What is known to change nothing, in all files.
    pub unused: Vec<Unused>,
}

impl<C: Configuration> Files<C> {
    /// Reads `config.json`, `generation_config.json` where it is there, and
    /// `model.safetensors` of a folder, or what its index names; or a GGUF file.
    ///
    /// # Errors
    /// [`Error::Files`](crate::Error::Files) and [`Error::Gguf`](crate::Error::Gguf) for files
    /// that are missing or make no sense; as [`Configuration::of`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        if path.is_file() {
            return Self::of_gguf(path.clone(), Gguf::open(&path)?);
        }
        let settings = settings_in(&path)?;
        let config = C::of(&settings)?.with_generation(&SmallFiles::Folder(&path))?;
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
        config: C,
        weights: TensorFile,
    ) -> Result<Self> {
        let mut unused = config.unused_settings(settings)?;
        unused.extend(config.unused_tensors(&weights));
        let (family, is_causal) = (config.family(), config.is_causal());
        unused.extend(expect_settings(&weights, settings, family, is_causal)?);
        Ok(Self { path, config, tensors: weights.into(), unused })
    }

    /// The same from a GGUF file that is read already.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_gguf(path: PathBuf, file: Gguf) -> Result<Self> {
        let (config, unused) = C::of_gguf(&file)?;
        Ok(Self { path, config, tensors: Tensors::Gguf(file), unused })
    }

    /// The tokenizer: the folder's, or the GGUF file's own.
    ///
    /// # Errors
    /// As `Text::of` and `gguf_text` of `texts`; as [`Configuration::expect_one_tokenizer`].
    #[cfg(feature = "text")]
    pub fn text(&self) -> Result<texts::Text> {
        match &self.tensors {
            Tensors::Gguf(file) => {
                Ok(texts::gguf_text(file, self.config.n_vocabulary())?)
            }
            Tensors::Safetensors(_) => {
                text(&self.config, &SmallFiles::Folder(&self.path))
            }
        }
    }
}

/// The tokenizer among the small files of a model.
///
/// # Errors
/// As `Text::of` of `texts`; as [`Configuration::expect_one_tokenizer`].
#[cfg(feature = "text")]
pub fn text(config: &impl Configuration, files: &SmallFiles) -> Result<texts::Text> {
    config.expect_one_tokenizer(files)?;
    Ok(texts::Text::of(files, config.n_vocabulary())?)
}

/// What bends the entries of feed-forward layers.
pub(crate) fn activation(
    settings: &Settings,
    key: &str,
    default: Activation,
) -> Result<Activation> {
    Ok(settings.one_of(key, default, Activation::named, Activation::NAMES)?)
}

/// The one of a table's families that `model_type` names.
pub(crate) fn family_of<'a, F>(
    settings: &Settings,
    families: &'a [F],
    name: impl Fn(&F) -> &'static str,
) -> Result<&'a F> {
    let found = settings.text("model_type").unwrap_or_default();
    let family = families.iter().find(|it| name(it) == found);
    let known = || families.iter().map(&name).collect();
    Ok(family.ok_or_else(|| settings.unknown_family(known()))?)
}
