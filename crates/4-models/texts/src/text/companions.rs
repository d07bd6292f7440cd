//! The files beside a `tokenizer.json` that say something of it.

use model_files::{Error, SmallFiles};
use serde_json::{Map, Value};

use crate::Result;

pub(super) type Object = Map<String, Value>;

/// A file, by its name for errors, and what it holds: nothing where it is not there.
#[derive(Debug, Default)]
pub(super) struct File {
    pub name: String,
    pub keys: Object,
}

/// The four files.
#[derive(Debug, Default)]
pub(super) struct Companions {
    /// `config.json`, which is the model's.
    pub model: File,
    /// `tokenizer_config.json`.
    pub config: File,
    /// `special_tokens_map.json`.
    pub special: File,
    /// `added_tokens.json`.
    pub added: File,
}

impl Companions {
    /// # Errors
    /// [`Error::Read`]; [`Error::Json`], also for what is no object.
    pub fn read(files: &SmallFiles) -> Result<Self> {
        let mut beside = Self {
            model: File::read(files, "config.json")?,
            config: File::read(files, "tokenizer_config.json")?,
            special: File::read(files, "special_tokens_map.json")?,
            added: File::read(files, "added_tokens.json")?,
        };
        // AutoTokenizer reads those two only where the newer way to say the same is missing.
        if beside.config.keys.contains_key("added_tokens_decoder") {
            (beside.special, beside.added) = Default::default();
        }
        Ok(beside)
    }

    /// A key of the tokenizer's settings, and the file that it stands in:
    /// `special_tokens_map.json` goes before `tokenizer_config.json`.
    pub fn setting(&self, key: &str) -> Option<(&Value, &str)> {
        let mut files = [&self.special, &self.config].into_iter();
        files.find_map(|file| Some((file.keys.get(key)?, file.name.as_str())))
    }

    /// The names of those settings.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        let special = self.special.keys.keys();
        let new = |key: &&String| !self.special.keys.contains_key(*key);
        special.chain(self.config.keys.keys().filter(new))
    }
}

impl File {
    fn read(files: &SmallFiles, file: &str) -> Result<Self> {
        let name = files.name(file);
        let Some(bytes) = files.read(file)? else {
            return Ok(Self { name, ..Self::default() });
        };
        match serde_json::from_slice(&bytes) {
            Ok(keys) => Ok(Self { name, keys }),
            Err(source) => Err(Error::Json { file: name, source }.into()),
        }
    }

    /// What is there as text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.keys.get(key).and_then(Value::as_str)
    }
}

/// The text of a token, which is written as it is or with how it is matched.
pub(super) fn token_text(token: &Value) -> Option<&str> {
    token.as_str().or_else(|| token.get("content").and_then(Value::as_str))
}
