//! A tiny model that reads one text and writes another, as files that a reader chooses.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Error, Model, Reading, SelectedFiles};

/// One of the tiny models, with a tokenizer that is to be read as it is; and more files, or
/// others in their stead.
pub fn folder(models: &Path, name: &str, more: &[(&str, Value)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let to = |file: &str| folder.path().join(file);
    for file in ["config.json", "model.safetensors"] {
        fs::copy(models.join(name).join(file), to(file)).unwrap();
    }
    fs::copy(models.join("tokenizer.json"), to("tokenizer.json")).unwrap();
    let as_it_is = json!({ "tokenizer_class": "PreTrainedTokenizerFast" });
    fs::write(to("tokenizer_config.json"), as_it_is.to_string()).unwrap();
    for (file, json) in more {
        fs::write(to(file), json.to_string()).unwrap();
    }
    folder
}

/// The names of all files of a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The model of all files of a folder, as a page takes them.
pub fn read(folder: &Path) -> Result<Model, Box<Error>> {
    let names = names(folder);
    let chosen = SelectedFiles::of(names.iter().map(String::as_str))?;
    let bytes = |name: &str| fs::read(folder.join(name)).unwrap();
    let files = chosen.names().into_iter().map(|name| (name.to_owned(), bytes(name)));
    let mut files: BTreeMap<String, Vec<u8>> = files.collect();
    let weights = files.remove("model.safetensors").unwrap();
    let mut reading = Reading::begin(&files, weights.len() as u64)?;
    for part in weights.chunks(1000) {
        reading.part(part)?;
    }
    Ok(reading.finish()?)
}
