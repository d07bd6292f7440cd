//! The small files of a model: in its folder, or here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tensors::plain;

use crate::{Error, Result, Settings};

/// Where a model's settings and its tokenizer are, which are files of text.
#[derive(Debug, Clone, Copy)]
pub enum SmallFiles<'a> {
    /// In a folder.
    Folder(&'a Path),
    /// Here, by their names: the folder has no others.
    Here(&'a BTreeMap<String, Vec<u8>>),
}

impl SmallFiles<'_> {
    /// All that have something to say of a model; what else a folder has is not read.
    pub const NAMES: [&'static str; 7] = [
        SETTINGS,
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "generation_config.json",
        ADAPTER,
    ];

    /// What errors call a file: its path, or its name.
    pub fn name(&self, file: &str) -> String {
        self.path(file).display().to_string()
    }

    /// Whether there is a file of this name.
    pub fn contains(&self, file: &str) -> bool {
        match self {
            Self::Folder(folder) => folder.join(file).exists(),
            Self::Here(files) => files.contains_key(file),
        }
    }

    /// What a file holds; `None` where it is not there.
    ///
    /// # Errors
    /// As [`read_text`](crate::read_text).
    pub fn read(&self, file: &str) -> Result<Option<Vec<u8>>> {
        let path = self.path(file);
        match self {
            Self::Folder(_) if !path.exists() => Ok(None),
            Self::Folder(_) => read_text(&path).map(Some),
            Self::Here(files) => {
                let Some(bytes) = files.get(file) else { return Ok(None) };
                let wrong = |source| tensors::Error::Read { path, source };
                plain::refuse_pointer(bytes).map_err(wrong)?;
                Ok(Some(bytes.clone()))
            }
        }
    }

    /// The same of a file that must be there.
    ///
    /// # Errors
    /// [`Error::NoFile`].
    pub fn expect(&self, file: &'static str) -> Result<Vec<u8>> {
        self.read(file)?.ok_or_else(|| Error::NoFile {
            folder: self.place(),
            file,
            hint: "",
        })
    }

    /// The model's settings, `config.json`.
    ///
    /// # Errors
    /// As [`settings_in`](crate::settings_in).
    pub fn settings(&self) -> Result<Settings> {
        if self.contains(ADAPTER) {
            let (file, found) = (self.place().display().to_string(), ADAPTER);
            let why = "an adapter is added to the weights, which is not done here: merge it \
                       into them (merge_and_unload) and save the model";
            return Err(Error::Unsupported { file, found: found.to_string(), why });
        }
        Settings::read(&self.name(SETTINGS), &self.expect(SETTINGS)?)
    }

    /// What errors call all of them: the folder, or a reader's choice.
    pub fn place(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.to_path_buf(),
            Self::Here(_) => PathBuf::from("what was chosen"),
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(file),
            Self::Here(_) => PathBuf::from(file),
        }
    }
}

/// What a file of settings or of a tokenizer holds.
///
/// # Errors
/// [`tensors::Error::Read`], also for a file that is longer than any of its kind.
pub fn read_text(path: &Path) -> Result<Vec<u8>> {
    let failed = |source| tensors::Error::Read { path: path.into(), source };
    Ok(plain::read(path, LONGEST_TEXT).map_err(failed)?)
}

/// The longest file of settings or of a tokenizer that is read: the largest that are in use
/// have 40 MB.
const LONGEST_TEXT: u64 = 1 << 29;

const SETTINGS: &str = "config.json";
const ADAPTER: &str = "adapter_config.json";
