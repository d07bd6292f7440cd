//! Which of a reader's files make a model, by their names.

use std::path::PathBuf;

use model_files::SmallFiles;

use crate::Error;

/// The weights of a folder.
pub(super) const WEIGHTS: &str = "model.safetensors";

/// The small files without which there is no model, as `save_pretrained` names them.
const NEEDED: [&str; 2] = ["config.json", "tokenizer.json"];

/// How the name of a file ends that has all in one.
const GGUF: &str = ".gguf";

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectedFiles<'a> {
    /// A file that is a whole model.
    Gguf(&'a str),
    /// A folder's weights, and of its small files those that are read.
    Folder(&'a str, Vec<&'a str>),
}

impl<'a> SelectedFiles<'a> {
    /// Which of these names make a model; others are left aside.
    ///
    /// # Errors
    /// [`model_files::Error::NoFile`] with the first of a folder's files that is missing;
    /// [`Error::NoModel`] where there is none of them.
    pub fn of(names: impl IntoIterator<Item = &'a str>) -> Result<Self, Error> {
        let names: Vec<&str> = names.into_iter().collect();
        let is_gguf = |name: &&&str| name.to_ascii_lowercase().ends_with(GGUF);
        let mut gguf = names.iter().filter(is_gguf);
        if let (Some(name), None) = (gguf.next(), gguf.next()) {
            return Ok(Self::Gguf(name));
        }
        let has = |file: &str| names.iter().find(|name| **name == file).copied();
        let is_part = |name: &&str| name.starts_with(PART.0) && name.contains(PART.1);
        let hint = |file: &str| match file {
            WEIGHTS if names.iter().any(is_part) => SEVERAL,
            "tokenizer.json" if has("source.spm").is_some() => SENTENCEPIECE,
            _ => "",
        };
        let missing = |file| {
            let folder = PathBuf::from("what was chosen");
            model_files::Error::NoFile { folder, file, hint: hint(file) }
        };
        let mut needed = NEEDED.into_iter().chain([WEIGHTS]);
        if !needed.clone().any(|file| has(file).is_some() || !hint(file).is_empty()) {
            return Err(Error::NoModel { names: names.join(", ") });
        }
        if let Some(file) = needed.find(|file| has(file).is_none()) {
            return Err(missing(file).into());
        }
        let weights = has(WEIGHTS).ok_or_else(|| missing(WEIGHTS))?;
        Ok(Self::Folder(weights, SmallFiles::NAMES.into_iter().filter_map(has).collect()))
    }

    /// The weights, and then the small files.
    pub fn names(&self) -> Vec<&'a str> {
        match self {
            Self::Gguf(name) => vec![name],
            Self::Folder(weights, small) => [&[*weights], &small[..]].concat(),
        }
    }
}

/// How names of weights in several files begin, and what stands in them.
const PART: (&str, &str) = ("model", ".safetensors");

const SEVERAL: &str = ": its weights are in several files, and a page reads one: load it with \
                       transformers, and model.save_pretrained(folder, \
                       max_shard_size=\"4GB\") writes one file";

const SENTENCEPIECE: &str = ": source.spm is SentencePiece's own file, which is not read here, \
                             and Marian's tokenizer writes no other";
