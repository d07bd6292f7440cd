//! The tiny models on disk, and files that differ from them.

use std::borrow::Borrow;
use std::fs;
use std::path::{Path, PathBuf};

use attention::Matrix;
use serde_json::{Map, Value, json};
use tensors::{Existing, NewTensor, TensorFile, save};

use crate::{Config, Configuration};

mod refused;

pub(crate) fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/models").join(name)
}

/// What transformers gave for something else than a model.
pub(crate) fn vectors(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data");
    serde_json::from_slice(&fs::read(folder.join("torch-vectors").join(file)).unwrap())
        .unwrap()
}

/// The config of a tiny model with some settings changed; null takes one away.
pub(crate) fn changed(name: &str, changes: impl Borrow<Value>) -> Vec<u8> {
    let json = fs::read(model(name).join("config.json")).unwrap();
    let mut settings: Map<String, Value> = serde_json::from_slice(&json).unwrap();
    let changes: &Value = changes.borrow();
    for (key, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(settings.remove(key)),
            value => drop(settings.insert(key.clone(), value.clone())),
        }
    }
    serde_json::to_vec(&settings).unwrap()
}

pub(crate) fn with_source(error: &dyn std::error::Error) -> String {
    error.source().map_or(error.to_string(), |source| format!("{error}: {source}"))
}

/// What a config with some settings changed says.
pub(crate) fn config<C: Configuration>(name: &str, changes: impl Borrow<Value>) -> C {
    C::read("", &changed(name, changes)).unwrap()
}

/// Why a config with some settings changed is refused.
pub(crate) fn refused<C: Configuration>(name: &str, changes: Value) -> String {
    match C::read("config.json", &changed(name, &changes)) {
        Ok(_) => panic!("{name} with {changes} is read"),
        Err(error) => with_source(&error),
    }
}

/// A tiny model with its config changed; each tensor is written under the names that `rename`
/// gives, times a factor.
pub(crate) fn rewritten<I: IntoIterator<Item = (String, f64)>>(
    name: &str,
    changes: &Value,
    rename: impl Fn(&str) -> I,
) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.json"), changed(name, changes)).unwrap();
    let file = TensorFile::open(model(name).join("model.safetensors")).unwrap();
    let mut tensors = Vec::new();
    for name in file.names() {
        let tensor = file.tensor(&name).unwrap();
        let numbers = tensor.numbers().unwrap();
        for (name, factor) in rename(&name) {
            let numbers = Matrix::from_vec(numbers.len(), 1, numbers.clone()) * factor;
            tensors.push(NewTensor::new(name, tensor.shape(), [&numbers]).unwrap());
        }
    }
    save(&folder.path().join("model.safetensors"), &tensors, Existing::Keep).unwrap();
    folder
}

/// What is read from a folder, or why not.
pub(crate) fn read<M>(
    folder: &tempfile::TempDir,
    load: impl Fn(&Path) -> crate::Result<M>,
) -> Result<M, String> {
    load(folder.path()).map_err(|error| {
        with_source(&error).replace(&folder.path().display().to_string(), "FOLDER")
    })
}

/// The kind of each family follows from its name.
#[test]
fn a_config_is_of_the_kind_of_its_family() {
    for (name, is_it) in [
        ("bert-1", (|it| matches!(it, Config::Encoder(_))) as fn(&Config) -> bool),
        ("llama-1", |it| matches!(it, Config::Decoder(_))),
        ("t5-1", |it| matches!(it, Config::Translator(_))),
    ] {
        let config: Config = config(name, json!({}));
        assert!(is_it(&config), "{name}");
        assert_eq!(name.strip_suffix("-1"), Some(config.family()));
    }
}
