//! What is refused, and what is read under other names.

use std::fs;
use std::path::{Path, PathBuf};

use attention::{LayerParameters, Matrix};
use model_files::Sequence;
use serde_json::{Map, Value, json};
use tensors::{Existing, NewTensor, TensorFile, save, to_bytes};

use crate::encoders::{Config, Encoder, Files};
use crate::tests::{self, model};
use crate::{Configuration, Tensors};

fn changed(name: &str, changes: Value) -> Vec<u8> {
    tests::changed(name, &changes)
}

fn refused(name: &str, changes: Value) -> String {
    tests::refused::<Config>(name, changes)
}

/// All tensors of a tiny model, each renamed, changed or left out.
fn rewritten(
    name: &str,
    change: impl Fn(&str, Vec<usize>, Vec<f64>) -> Option<(String, Vec<usize>, Vec<f64>)>,
) -> TensorFile {
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
    TensorFile::from_bytes("model.safetensors", to_bytes(&tensors).unwrap()).unwrap()
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
fn a_config_that_makes_no_model_is_refused_with_its_numbers() {
    insta::assert_snapshot!(refused("bert-1", json!({"model_type": "gpt2"})), @r#"config.json: model_type is "gpt2"; the known ones are bert, roberta, xlm-roberta, camembert, electra, distilbert"#);
    insta::assert_snapshot!(refused("bert-1", json!({"model_type": null})), @"config.json: model_type is missing; the known ones are bert, roberta, xlm-roberta, camembert, electra, distilbert");
    insta::assert_snapshot!(refused("bert-1", json!({"hidden_size": null})), @"config.json: there is no hidden_size, expected a whole number of 1 or more");
    insta::assert_snapshot!(refused("distilbert-1", json!({"n_heads": 0})), @"config.json: n_heads is 0, expected a whole number of 1 or more");
    insta::assert_snapshot!(refused("bert-1", json!({"hidden_size": -24})), @"config.json: hidden_size is -24, expected a whole number of 1 or more");
    insta::assert_snapshot!(refused("bert-1", json!({"num_attention_heads": 5})), @"config.json: its sizes make no layer: d_model 24 cannot be divided among 5 heads: 24 = 5 × 4 + 4");
    insta::assert_snapshot!(refused("electra-1", json!({"hidden_act": "mish"})), @r#"config.json: hidden_act is "mish", expected gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, silu, swish or relu"#);
    insta::assert_snapshot!(refused("bert-1", json!({"is_decoder": true})), @"config.json: is_decoder is true, expected false: decoders are left out");
    insta::assert_snapshot!(refused("bert-1", json!({"pruned_heads": {"1": [0]}})), @r#"config.json: pruned_heads is {"1":[0]}, expected none: every layer has all its heads"#);
    insta::assert_snapshot!(refused("bert-1", json!({"position_embedding_type": "relative_key"})), @r#"config.json: position_embedding_type is "relative_key", expected "absolute""#);
    insta::assert_snapshot!(refused("bert-1", json!({"is_causal": true})), @"config.json: is_causal is true, expected false: every token reads every other");
    insta::assert_snapshot!(refused("roberta-1", json!({"pad_token_id": u64::MAX})), @"config.json: pad_token_id is 18446744073709551615, expected a number below max_position_embeddings");
    insta::assert_snapshot!(refused("bert-1", json!({"num_hidden_layers": 1_000_000_000})), @"config.json: num_hidden_layers is 1000000000, expected a number that a model can have");
    let no_json = Config::read("config.json", b"[1]").unwrap_err();
    insta::assert_snapshot!(no_json, @"config.json: no object in JSON");
}

/// As in transformers: a missing key has the family's default, and DistilBERT's have two names.
#[test]
fn a_missing_key_is_the_familys_default() {
    let of = |name: &str, changes| Config::read("", &changed(name, changes)).unwrap();
    let bert =
        of("bert-1", json!({"num_attention_heads": null, "type_vocab_size": null}));
    assert_eq!((bert.dims.n_heads(), bert.n_types), (12, Some(2)));
    assert_eq!(of("electra-1", json!({"num_attention_heads": null})).dims.n_heads(), 4);
    let renamed = json!({"dim": null, "hidden_size": 24});
    assert_eq!(of("distilbert-1", renamed), of("distilbert-1", json!({})));
}

#[test]
fn a_setting_that_nobody_knows_is_refused() {
    insta::assert_snapshot!(refused("bert-1", json!({"rotary_value": 2})), @"config.json: rotary_value is 2: a key that is not known here, and may change what the model computes: take it out if it does not");
    insta::assert_snapshot!(refused("bert-1", json!({"quantization_config": {"quant_method": "bitsandbytes"}})), @r#"config.json: quantization_config is {"quant_method":"bitsandbytes"}: the weights are quantised, which is not read here: save them dequantised"#);
    insta::assert_snapshot!(refused("bert-1", json!({"auto_map": {"AutoModel": "modeling.X"}})), @r#"config.json: auto_map is {"AutoModel":"modeling.X"}: the model is computed by a program of its own, which is not run here"#);
    for off in [json!(false), json!(0), json!(0.0), json!(""), json!([]), json!({})] {
        let off = changed("bert-1", json!({"rotary_value": off}));
        assert!(Config::read("config.json", &off).is_ok());
    }
}

/// Other names for the same model.
#[test]
fn relatives_of_roberta_are_read_alike() {
    let of = |name: &str| {
        let changes = json!({"model_type": name});
        Config::read("", &changed("xlm_roberta-1", changes)).unwrap()
    };
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
        let file = rewritten("bert-1", |name, shape, numbers| {
            Some((name.to_string(), shape, numbers))
        });
        let mut tensors = Vec::new();
        for name in file.names() {
            let numbers = file.tensor(&name).unwrap().numbers().unwrap();
            let numbers = Matrix::from_vec(numbers.len(), 1, numbers);
            let shape = file.tensor(&name).unwrap().shape().to_vec();
            tensors.push(NewTensor::new(name, &shape, [&numbers]).unwrap());
        }
        let one = Matrix::repeat(1, 1, 1.0);
        for name in names {
            tensors.push(NewTensor::new(*name, &[1], [&one]).unwrap());
        }
        TensorFile::from_bytes("model.safetensors", to_bytes(&tensors).unwrap()).unwrap()
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
    let config = Config { n_layers: 2, ..folder.config.clone() };
    let fewer = as_read(&Files { config, ..folder }).unwrap_err().to_string();
    assert!(fewer.ends_with("it has tensors of 3 layers, and its config.json says 2"));
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
fn a_tensor_that_is_missing_or_of_another_shape_is_named() {
    let config = Files::open(model("bert-1")).unwrap().config;
    let without = rewritten("bert-1", |name, shape, numbers| {
        let is_it = name == "encoder.layer.2.output.dense.bias";
        (!is_it).then(|| (name.to_string(), shape, numbers))
    });
    let said = read(&config, &without).unwrap_err().to_string();
    let start =
        "model.safetensors: no tensor encoder.layer.2.output.dense.bias; there is ";
    assert!(said.starts_with(start), "{said}");
    let narrow = rewritten("bert-1", |name, shape, numbers| {
        Some(match name {
            "encoder.layer.1.attention.self.key.weight" => {
                (name.to_string(), vec![12, 24], numbers[..288].to_vec())
            }
            name => (name.to_string(), shape, numbers),
        })
    });
    insta::assert_snapshot!(read(&config, &narrow).unwrap_err(), @"model.safetensors: encoder.layer.1.attention.self.key.weight has shape (12, 24), expected (24, 24)");
    let config = Config::read("", &changed("bert-1", json!({"vocab_size": 98}))).unwrap();
    let folder = Files { config, ..Files::open(model("bert-1")).unwrap() };
    let said = as_read(&folder).unwrap_err().to_string();
    let end = "embeddings.word_embeddings.weight has shape (97, 24), expected (98, 24)";
    assert!(said.ends_with(end), "{said}");
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
