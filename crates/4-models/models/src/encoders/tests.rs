//! What is refused, and what is read under other names.

use std::fs;
use std::path::{Path, PathBuf};

use attention::{LayerParameters, Matrix};
use model_files::Sequence;
use serde_json::{Map, json};
use tensors::{Existing, NewTensor, TensorFile, save, to_bytes};

use crate::encoders::{Config, Encoder, Files};
use crate::tests::{changed, config, model};
use crate::{Configuration, Tensors};

type Tensor = (String, Vec<usize>, Vec<f64>);

/// All tensors of a tiny model, each renamed, changed or left out.
fn changed_tensors(
    name: &str,
    change: impl Fn(&str, Vec<usize>, Vec<f64>) -> Option<Tensor>,
) -> Vec<NewTensor> {
    let file = TensorFile::open(model(name).join("model.safetensors")).unwrap();
    let mut tensors = Vec::new();
    for name in file.names() {
        let tensor = file.tensor(&name).unwrap();
        let (shape, numbers) = (tensor.shape().to_vec(), tensor.numbers().unwrap());
        if let Some((name, shape, numbers)) = change(&name, shape, numbers) {
            let numbers = Matrix::from_vec(numbers.len(), 1, numbers);
            tensors.push(NewTensor::new(name, &shape, [&numbers]).unwrap());
        }
    }
    tensors
}

fn file(tensors: &[NewTensor]) -> TensorFile {
    TensorFile::from_bytes("model.safetensors", to_bytes(tensors).unwrap()).unwrap()
}

fn rewritten(
    name: &str,
    change: impl Fn(&str, Vec<usize>, Vec<f64>) -> Option<Tensor>,
) -> TensorFile {
    file(&changed_tensors(name, change))
}

type AsRead = Encoder<LayerParameters>;

fn as_read(files: &Files) -> crate::Result<AsRead> {
    Encoder::read(files, LayerParameters::clone)
}

fn read(config: &Config, weights: &TensorFile) -> crate::Result<AsRead> {
    let files = Files {
        path: PathBuf::new(),
        config: config.clone(),
        tensors: Tensors::Safetensors(weights.clone()),
        unused: Vec::new(),
    };
    as_read(&files)
}

#[test]
fn a_setting_that_is_off_is_none() {
    let no_json = Config::read("config.json", b"[1]").unwrap_err();
    insta::assert_snapshot!(no_json, @"config.json: no object in JSON");
    for off in [json!(false), json!(0), json!(0.0), json!(""), json!([]), json!({})] {
        let off = changed("bert-1", json!({"rotary_value": off}));
        assert!(Config::read("config.json", &off).is_ok());
    }
}

/// As in transformers: a missing key has the family's default, and DistilBERT's have two names.
#[test]
fn a_missing_key_is_the_familys_default() {
    let of = config::<Config>;
    let bert =
        of("bert-1", json!({"num_attention_heads": null, "type_vocab_size": null}));
    assert_eq!((bert.dims.n_heads(), bert.n_types), (12, Some(2)));
    assert_eq!(of("electra-1", json!({"num_attention_heads": null})).dims.n_heads(), 4);
    let renamed = json!({"dim": null, "hidden_size": 24});
    assert_eq!(of("distilbert-1", renamed), of("distilbert-1", json!({})));
}

/// Other names for the same model.
#[test]
fn relatives_of_roberta_are_read_alike() {
    let of = |name: &str| config::<Config>("xlm_roberta-1", json!({"model_type": name}));
    let expected = of("xlm-roberta");
    assert_eq!(expected.family.counting, of("roberta").family.counting);
    for name in ["roberta", "camembert"] {
        let family = expected.family;
        assert_eq!(Config { family, ..of(name) }, expected, "{name}");
        assert_eq!(of(name).family.names, family.names, "{name}");
    }
}

#[test]
fn a_tensor_that_nobody_knows_is_refused_and_what_is_harmless_is_told() {
    let folder = Files::open(model("bert-1")).unwrap();
    let with = |names: &[&str]| {
        let same = |name: &str, shape, numbers| Some((name.to_string(), shape, numbers));
        let mut tensors = changed_tensors("bert-1", same);
        let one = Matrix::repeat(1, 1, 1.0);
        for name in names {
            tensors.push(NewTensor::new(*name, &[1], [&one]).unwrap());
        }
        file(&tensors)
    };
    let refused =
        |name: &str| read(&folder.config, &with(&[name])).unwrap_err().to_string();
    insta::assert_snapshot!(refused("encoder.layer.1.attention.self.rotary_embeddings.inv_freq"), @"model.safetensors: queries and keys are rotated by their positions: no part of the model is read from encoder.layer.1.attention.self.rotary_embeddings.inv_freq");
    insta::assert_snapshot!(refused("encoder.layer.1.attention.self.query.weight.absmax"), @"model.safetensors: its weights are quantised by bitsandbytes: no part of the model is read from encoder.layer.1.attention.self.query.weight.absmax");
    insta::assert_snapshot!(refused("encoder.layer.1.intermediate.gate.bias"), @"model.safetensors: biases that its settings say nothing of: no part of the model is read from encoder.layer.1.intermediate.gate.bias");
    insta::assert_snapshot!(refused("encoder.layer.3.output.dense.bias"), @"model.safetensors: it has tensors of 4 layers, and its config.json says 3");
    let names = ["cls.predictions.bias", "embeddings.position_ids", "classifier.weight"];
    let file = with(&names);
    assert!(read(&folder.config, &file).is_ok());
    let unused = folder.config.unused_tensors(&file);
    let unused: Vec<_> = unused.into_iter().map(|it| it.name).collect();
    let expected = [&names[..], &["pooler.dense.bias", "pooler.dense.weight"]].concat();
    assert_eq!(unused.len(), expected.len(), "{unused:?}");
    assert!(expected.iter().all(|name| unused.contains(&(*name).to_string())));
}

#[test]
fn a_folder_without_a_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |path: &Path| {
        let said = Files::open(path).unwrap_err().to_string();
        said.replace(&folder.path().display().to_string(), "FOLDER")
    };
    insta::assert_snapshot!(refused(&folder.path().join("no")), @"there is no folder FOLDER/no");
    insta::assert_snapshot!(refused(folder.path()), @"FOLDER has no config.json");
    let config = changed("bert-1", json!({}));
    fs::write(folder.path().join("config.json"), config).unwrap();
    fs::write(folder.path().join("pytorch_model.bin"), "").unwrap();
    insta::assert_snapshot!(refused(folder.path()), @"FOLDER has no model.safetensors: pytorch_model.bin is a program in Python's format, and is not run here; save_pretrained writes the other");
    fs::write(folder.path().join("model.safetensors"), [9; 20]).unwrap();
    assert!(refused(folder.path()).contains("announce a header of 651061555542690057"));
}

#[test]
fn a_prefix_and_the_oldest_names_of_norms_are_read_alike() {
    for (name, prefix) in [("bert-1", "bert."), ("distilbert-1", "distilbert.")] {
        let folder = Files::open(model(name)).unwrap();
        let other = rewritten(name, |name, shape, numbers| {
            let old = name.replace("LayerNorm.weight", "LayerNorm.gamma");
            let old = old.replace("LayerNorm.bias", "LayerNorm.beta");
            Some((format!("{prefix}{old}"), shape, numbers))
        });
        let expected = as_read(&folder).unwrap();
        assert_eq!(read(&folder.config, &other).unwrap(), expected, "{name}");
    }
}

#[test]
fn narrow_embeddings_are_projected_behind_their_norm() {
    let folder = Files::open(model("electra-1")).unwrap();
    let narrow = changed("electra-1", json!({"embedding_size": 5}));
    let weights = rewritten("electra-1", |name, mut shape, numbers| {
        if name.starts_with("embeddings.") {
            let rows = numbers.chunks(24).flat_map(|row| row[..5].to_vec()).collect();
            *shape.last_mut().unwrap() = 5;
            return Some((name.to_string(), shape, rows));
        }
        Some((name.to_string(), shape, numbers))
    });
    let missing = read(&Config::read("", &narrow).unwrap(), &weights).unwrap_err();
    let missing = missing.to_string();
    assert!(missing.contains("no tensor embeddings_project.weight"), "{missing}");

    let projection: Vec<f64> = (0..24 * 5).map(|i| f64::from(i % 7) - 3.0).collect();
    let mut encoder = as_read(&folder).unwrap();
    let narrow = |m: &Matrix| m.columns(0, 5).into_owned();
    let embeddings = &mut encoder.embeddings;
    embeddings.tokens.tokens = narrow(&embeddings.tokens.tokens);
    embeddings.positions = narrow(&embeddings.positions);
    embeddings.types = embeddings.types.as_ref().map(narrow);
    embeddings.norm.gain = embeddings.norm.gain.columns(0, 5).into_owned();
    embeddings.norm.bias = embeddings.norm.bias.columns(0, 5).into_owned();
    let sequence = Sequence::new(vec![3, 1, 4]);
    let normed = embeddings.forward(&sequence).unwrap();
    assert_eq!(normed.shape(), (3, 5));
    let weight = Matrix::from_vec(5, 24, projection); // [out, in] row by row
    let bias = vec![0.5; 24].into();
    let projection = attention::Linear::new(weight, Some(bias)).unwrap();
    embeddings.projection = Some(projection);
    let x = embeddings.forward(&sequence).unwrap();
    for (row, column) in [(0, 0), (1, 7), (2, 23)] {
        let weight = |i: usize| f64::from((column * 5 + i) as u32 % 7) - 3.0;
        let sum: f64 = (0..5).map(|i| normed[(row, i)] * weight(i)).sum();
        assert!((x[(row, column)] - sum - 0.5).abs() < 1e-12);
    }
}

#[test]
fn roberta_counts_its_tokens_without_padding() {
    let folder = Files::open(model("roberta-1")).unwrap();
    let embeddings = as_read(&folder).unwrap().embeddings;
    assert_eq!(folder.config.longest(), 62);
    let of = |ids: &[usize]| embeddings.forward(&Sequence::new(ids.to_vec())).unwrap();
    // 1 is padding: the same tokens behind it have the same positions.
    assert_eq!(of(&[1, 1, 5, 6]).rows(2, 2), of(&[5, 6]).rows(0, 2));
    assert_ne!(of(&[5, 6]).row(0), of(&[6, 5]).row(1));
    let long = embeddings.forward(&Sequence::new(vec![5; 63])).unwrap_err();
    insta::assert_snapshot!(long, @"the text has 63 tokens, and the model has 62 positions");
    assert!(embeddings.forward(&Sequence::new(vec![5; 62])).is_ok());
}

#[test]
fn sequences_that_do_not_fit_are_refused_with_their_numbers() {
    let config = Files::open(model("bert-1")).unwrap().config;
    let folder = tempfile::tempdir().unwrap();
    let read = |tensors: &[(&str, &str, Vec<usize>, Vec<i64>)]| {
        let path = folder.path().join("input.safetensors");
        save(&path, &[], Existing::Replace).unwrap();
        fs::write(&path, integers(tensors)).unwrap();
        config.sequences(&TensorFile::open(&path).unwrap()).map_err(|error| {
            error.to_string().replace(&path.display().to_string(), "INPUT")
        })
    };
    let ids = ("input_ids", "I64", vec![2, 2], vec![0, 96, 3, 4]);
    let refused = |name, kind, shape: &[usize], numbers: &[i64]| {
        let other = (name, kind, shape.to_vec(), numbers.to_vec());
        match name {
            "input_ids" => read(&[other]).unwrap_err(),
            _ => read(&[ids.clone(), other]).unwrap_err(),
        }
    };
    insta::assert_snapshot!(refused("input_ids", "I64", &[2, 2], &[0, 1, 2, 97]), @"INPUT: input_ids of sequence 1, token 1 is 97, expected an id from 0 to 96");
    insta::assert_snapshot!(refused("input_ids", "I64", &[2], &[0, -1]), @"INPUT: input_ids of sequence 0, token 1 is -1, expected an id from 0 to 96");
    insta::assert_snapshot!(refused("input_ids", "F64", &[1, 1], &[0]), @"INPUT: input_ids holds F64, expected I64, I32, I16, I8, U64, U32, U16, U8 or BOOL");
    insta::assert_snapshot!(refused("input_ids", "I64", &[1, 1, 1], &[0]), @"INPUT: input_ids has shape (1, 1, 1), expected (n_sequences, n_tokens) or (n_tokens)");
    insta::assert_snapshot!(refused("input_ids", "I64", &[2, 0], &[]), @"INPUT: input_ids has shape (2, 0): it holds nothing");
    insta::assert_snapshot!(refused("attention_mask", "I64", &[4], &[1; 4]), @"INPUT: attention_mask has shape (4), expected (2, 2)");
    insta::assert_snapshot!(refused("attention_mask", "I64", &[2, 2], &[1, 1, 0, 0]), @"INPUT: attention_mask of sequence 1 is 0 for all its 2 tokens: there is nothing to attend to");
    insta::assert_snapshot!(refused("attention_mask", "I64", &[2, 2], &[1, 1, 1, -10000]), @"INPUT: attention_mask of sequence 1, token 1 is -10000, expected 0 or 1");
    insta::assert_snapshot!(refused("token_type_ids", "I64", &[2, 2], &[0, 1, 2, 0]), @"INPUT: token_type_ids of sequence 1, token 0 is 2, expected 0 or 1");
    let narrow = ("input_ids", "I32", vec![2], vec![7, 8]);
    let one = read(&[narrow]).unwrap();
    assert_eq!(one, [Sequence::new(vec![7, 8])]);
    insta::assert_snapshot!(read(&[]).unwrap_err(), @"INPUT: no tensor input_ids; there is none at all");
}

/// A file of integers, which [`save`] does not write.
fn integers(tensors: &[(&str, &str, Vec<usize>, Vec<i64>)]) -> Vec<u8> {
    let (mut header, mut bytes) = (Map::new(), Vec::new());
    for (name, kind, shape, numbers) in tensors {
        let from = bytes.len();
        for number in numbers {
            match *kind {
                "I32" => bytes.extend((*number as i32).to_le_bytes()),
                _ => bytes.extend(number.to_le_bytes()),
            }
        }
        let info =
            json!({"dtype": kind, "shape": shape, "data_offsets": [from, bytes.len()]});
        header.insert((*name).to_string(), info);
    }
    let header = serde_json::to_vec(&header).unwrap();
    [&(header.len() as u64).to_le_bytes()[..], &header, &bytes].concat()
}
