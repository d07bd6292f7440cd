use attention::Matrix;

use std::fs;

use tensors::{Existing, NewTensor, save};

use crate::{weight_files, weights_in};

/// A folder of two shards, and an index that says what the test does.
fn folder(weight_map: &serde_json::Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let tensor = |name: &str, number: f64| {
        let numbers = Matrix::repeat(1, 2, number);
        NewTensor::new(name, &[1, 2], [&numbers]).unwrap()
    };
    let shards = [
        ("a.safetensors", vec![("x", 1.0), ("y", 2.0)]),
        ("b.safetensors", vec![("z", 3.0)]),
    ];
    for (shard, tensors) in shards {
        let tensors: Vec<_> =
            tensors.into_iter().map(|(name, number)| tensor(name, number)).collect();
        save(&folder.path().join(shard), &tensors, Existing::Keep).unwrap();
    }
    let index = serde_json::json!({"metadata": {}, "weight_map": weight_map});
    let path = folder.path().join("model.safetensors.index.json");
    fs::write(path, index.to_string()).unwrap();
    folder
}

fn whole() -> serde_json::Value {
    serde_json::json!({"x": "a.safetensors", "y": "a.safetensors", "z": "b.safetensors"})
}

#[test]
fn shards_are_one_file() {
    let folder = folder(&whole());
    let file = weights_in(folder.path()).unwrap();
    assert_eq!(file.names(), ["x", "y", "z"]);
    for (name, number) in [("x", 1.0), ("y", 2.0), ("z", 3.0)] {
        assert_eq!(file.matrix(name).unwrap(), Matrix::repeat(1, 2, number), "{name}");
    }
    assert_eq!(weight_files(folder.path()).len(), 3);
    // One file is preferred, as transformers does.
    let numbers = Matrix::repeat(1, 2, 4.0);
    let tensor = NewTensor::new("w", &[1, 2], [&numbers]).unwrap();
    save(&folder.path().join("model.safetensors"), &[tensor], Existing::Keep).unwrap();
    assert_eq!(weights_in(folder.path()).unwrap().names(), ["w"]);
    assert_eq!(weight_files(folder.path()).len(), 1);
}

#[test]
fn an_index_that_does_not_fit_its_shards_is_refused_by_name() {
    let refused = |changes: serde_json::Value| {
        let mut map = whole();
        for (key, value) in changes.as_object().unwrap() {
            match value.is_null() {
                true => drop(map.as_object_mut().unwrap().remove(key)),
                false => map[key] = value.clone(),
            }
        }
        let folder = folder(&map);
        let error = weights_in(folder.path()).unwrap_err().to_string();
        error.replace(&folder.path().display().to_string(), "FOLDER").replace('\\', "/")
    };
    use serde_json::json;
    insta::assert_snapshot!(refused(json!({"z": "c.safetensors"})), @"FOLDER/model.safetensors.index.json: c.safetensors is not there, which it says holds 1 tensors");
    insta::assert_snapshot!(refused(json!({"w": "b.safetensors"})), @"FOLDER/model.safetensors.index.json: it says that w is in b.safetensors, which has none");
    insta::assert_snapshot!(refused(json!({"y": null})), @"FOLDER/model.safetensors.index.json: it does not say that y is in a.safetensors, where it is");
    insta::assert_snapshot!(refused(json!({"y": "b.safetensors"})), @"FOLDER/model.safetensors.index.json: it does not say that y is in a.safetensors, where it is");
    insta::assert_snapshot!(refused(json!({"y": "../a.safetensors"})), @r#"FOLDER/model.safetensors.index.json: it says that y is in "../a.safetensors", expected a file of this folder"#);
    insta::assert_snapshot!(refused(json!({"y": 7})), @r#"FOLDER/model.safetensors.index.json: it says that y is in "", expected a file of this folder"#);
    // What moves a terminal's cursor is not printed as it is.
    insta::assert_snapshot!(refused(json!({"y": "\u{1b}[31m.safetensors"})), @r#"FOLDER/model.safetensors.index.json: it says that y is in "/u{1b}[31m.safetensors", expected a file of this folder"#);
    insta::assert_snapshot!(refused(json!({"\u{1b}]0;own\u{7}": "\u{202e}.safetensors"})), @r#"FOLDER/model.safetensors.index.json: it says that /u{1b}]0;own/u{7} is in "/u{202e}.safetensors", expected a file of this folder"#);
    insta::assert_snapshot!(refused(json!({"\u{1b}]0;own\u{7}": "b.safetensors"})), @"FOLDER/model.safetensors.index.json: it says that /u{1b}]0;own/u{7} is in b.safetensors, which has none");
}
