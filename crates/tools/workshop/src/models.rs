//! Trained models that a page of the book may fetch: their files, and what a page is told of
//! them.
//!
//! They lie in `.learn/models`, from where the book's server gives them, or in `models` of a
//! book on a static host. Pages find them by [`LIST`], and ask for nothing that is not in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};

/// From the book's root, what pages ask for first.
pub const LIST: &str = "assets/models.json";

/// From the book's root, where the folders of models are.
pub const FOLDER: &str = "models";

/// A model that pages may fetch.
#[derive(Debug)]
pub struct Model {
    /// What pages and commands call it.
    pub key: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// Its folder among those of models.
    pub folder: &'static str,
    /// Its files there.
    pub files: &'static [&'static str],
}

/// All of them: the encoder with its weights in few bits, and a model that writes.
pub const ALL: [Model; 2] = [
    Model {
        key: "minilm",
        name: "all-MiniLM-L6-v2",
        folder: "all-MiniLM-L6-v2-4-bits",
        files: &["config.json", "tokenizer.json", "model.safetensors"],
    },
    Model {
        key: "smollm2",
        name: "SmolLM2-135M-Instruct",
        folder: "SmolLM2-135M-Instruct",
        files: &["SmolLM2-135M-Instruct.Q4_1.gguf"],
    },
];

/// What pages are told: by its key, each model all of whose files are among these folders.
pub fn list(folders: &Path) -> Value {
    let models = ALL.iter().filter_map(|it| Some((it.key.to_owned(), it.json(folders)?)));
    models.collect::<Map<_, _>>().into()
}

/// The file that an address of this book means, if it is one of a model's.
pub fn file(folders: &Path, address: &str) -> Option<PathBuf> {
    let (folder, name) =
        address.strip_prefix(FOLDER)?.strip_prefix('/')?.split_once('/')?;
    let model = ALL.iter().find(|it| it.folder == folder)?;
    let name = model.files.iter().find(|it| **it == name)?;
    Some(folders.join(folder).join(name)).filter(|path| path.is_file())
}

impl Model {
    fn json(&self, folders: &Path) -> Option<Value> {
        let (mut files, mut all) = (Vec::new(), 0);
        for name in self.files {
            let found = fs::metadata(folders.join(self.folder).join(name)).ok()?;
            let written = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            // Another address as soon as it is written anew: a browser keeps what it has.
            let version = written.as_secs();
            let address = format!("{FOLDER}/{}/{name}?v={version}", self.folder);
            files.push(json!({ "name": name, "bytes": found.len(), "address": address }));
            all += found.len();
        }
        Some(json!({ "name": self.name, "bytes": all, "files": files }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_listed_once_it_is_whole_and_nothing_else_is_a_file_of_it() {
        let folders = tempfile::tempdir().unwrap();
        let [minilm, _] = &ALL;
        let folder = folders.path().join(minilm.folder);
        fs::create_dir(&folder).unwrap();
        for (nth, name) in minilm.files.iter().enumerate() {
            assert_eq!(list(folders.path()), json!({}));
            fs::write(folder.join(name), "x".repeat(nth + 1)).unwrap();
        }
        fs::write(folder.join("secret.txt"), "secret").unwrap();
        let list = list(folders.path());
        assert_eq!(
            (list.as_object().unwrap().len(), &list["minilm"]["bytes"]),
            (1, &json!(6))
        );
        for told in list["minilm"]["files"].as_array().unwrap() {
            let address = told["address"].as_str().unwrap().split('?').next().unwrap();
            let path = file(folders.path(), address).unwrap();
            assert_eq!(path, folder.join(told["name"].as_str().unwrap()));
        }
        for address in [
            "models/all-MiniLM-L6-v2-4-bits/secret.txt",
            "models/all-MiniLM-L6-v2-4-bits/../secret.txt",
            "models/all-MiniLM-L6-v2-4-bits/",
            "models/config.json",
            "modelsx/all-MiniLM-L6-v2-4-bits/config.json",
            "models/SmolLM2-135M-Instruct/SmolLM2-135M-Instruct.Q4_1.gguf",
        ] {
            assert_eq!(file(folders.path(), address), None, "{address}");
        }
    }
}
