//! What is refused, and what is read under other names.

use std::fs;

use attention::{LayerParameters, Linear, Matrix};
use model_files::Sequence;
use serde_json::json;
use tempfile::TempDir;
use tensors::{Existing, NewTensor, TensorFile, save};

use crate::encoders::{Config, Encoder, Files};
use crate::tests::{self, changed, config, model, rewritten};
use crate::{Configuration, Tensors};

type AsRead = Encoder<LayerParameters>;

fn read(folder: &TempDir) -> Result<AsRead, String> {
    tests::read(folder, |path| Encoder::load(path, LayerParameters::clone))
}

fn tiny(name: &str) -> AsRead {
    Encoder::load(model(name), LayerParameters::clone).unwrap()
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
    // With a tensor that is no part of the model under more names.
    let with = |names: &[&str]| {
        rewritten("bert-1", &json!({}), |it| {
            let more = names.iter().copied().filter(|_| it == "pooler.dense.bias");
            let all: Vec<_> = [it].into_iter().chain(more).collect();
            all.into_iter().map(|name| (name.to_string(), 1.0)).collect::<Vec<_>>()
        })
    };
    let refused = |name: &str| read(&with(&[name])).unwrap_err();
    insta::assert_snapshot!(refused("encoder.layer.1.attention.self.rotary_embeddings.inv_freq"), @"FOLDER/model.safetensors: queries and keys are rotated by their positions: no part of the model is read from encoder.layer.1.attention.self.rotary_embeddings.inv_freq");
    insta::assert_snapshot!(refused("encoder.layer.1.attention.self.query.weight.absmax"), @"FOLDER/model.safetensors: its weights are quantised by bitsandbytes: no part of the model is read from encoder.layer.1.attention.self.query.weight.absmax");
    insta::assert_snapshot!(refused("encoder.layer.1.intermediate.gate.bias"), @"FOLDER/model.safetensors: biases that its settings say nothing of: no part of the model is read from encoder.layer.1.intermediate.gate.bias");
    insta::assert_snapshot!(refused("encoder.layer.3.output.dense.bias"), @"FOLDER/model.safetensors: it has tensors of 4 layers, and its config.json says 3");
    let names = ["cls.predictions.bias", "embeddings.position_ids", "classifier.weight"];
    let folder = with(&names);
    assert!(read(&folder).is_ok());
    let Files { config, tensors, .. } = Files::open(folder.path()).unwrap();
    let Tensors::Safetensors(file) = tensors else { panic!("a folder") };
    let unused: Vec<_> =
        config.unused_tensors(&file).into_iter().map(|it| it.name).collect();
    let expected = [&names[..], &["pooler.dense.bias", "pooler.dense.weight"]].concat();
    assert_eq!(unused.len(), expected.len(), "{unused:?}");
    assert!(expected.iter().all(|name| unused.contains(&(*name).to_string())));
}

#[test]
fn a_folder_without_a_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = || read(&folder).unwrap_err();
    insta::assert_snapshot!(Files::open("no/folder").unwrap_err(), @"there is no folder no/folder");
    insta::assert_snapshot!(refused(), @"FOLDER has no config.json");
    let config = changed("bert-1", json!({}));
    fs::write(folder.path().join("config.json"), config).unwrap();
    fs::write(folder.path().join("pytorch_model.bin"), "").unwrap();
    insta::assert_snapshot!(refused(), @"FOLDER has no model.safetensors: pytorch_model.bin is a program in Python's format, and is not run here; save_pretrained writes the other");
    fs::write(folder.path().join("model.safetensors"), [9; 20]).unwrap();
    assert!(refused().contains("announce a header of 651061555542690057"));
}

#[test]
fn a_prefix_and_the_oldest_names_of_norms_are_read_alike() {
    for (name, prefix) in [("bert-1", "bert."), ("distilbert-1", "distilbert.")] {
        let other = rewritten(name, &json!({}), |it| {
            let old = it.replace("LayerNorm.weight", "LayerNorm.gamma");
            let old = old.replace("LayerNorm.bias", "LayerNorm.beta");
            [(format!("{prefix}{old}"), 1.0)]
        });
        assert_eq!(read(&other).unwrap(), tiny(name), "{name}");
    }
}

#[test]
fn narrow_embeddings_are_projected_behind_their_norm() {
    let folder = rewritten("electra-1", &json!({"embedding_size": 5}), |_| []);
    let whole = TensorFile::open(model("electra-1").join("model.safetensors")).unwrap();
    let narrow = |name: String| {
        let tensor = whole.tensor(&name).unwrap();
        let (mut shape, mut numbers) =
            (tensor.shape().to_vec(), tensor.numbers().unwrap());
        if name.starts_with("embeddings.") {
            *shape.last_mut().unwrap() = 5;
            numbers = numbers.chunks(24).flat_map(|row| row[..5].to_vec()).collect();
        }
        let numbers = Matrix::from_vec(numbers.len(), 1, numbers);
        NewTensor::new(name, &shape, [&numbers]).unwrap()
    };
    let weights: Vec<_> = whole.names().into_iter().map(narrow).collect();
    let path = folder.path().join("model.safetensors");
    save(&path, &weights, Existing::Replace).unwrap();
    let missing = read(&folder).unwrap_err();
    assert!(missing.contains("no tensor embeddings_project.weight"), "{missing}");

    let projection: Vec<f64> = (0..24 * 5).map(|i| f64::from(i % 7) - 3.0).collect();
    let mut encoder = tiny("electra-1");
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
    embeddings.projection = Some(Linear::new(weight, Some(bias)).unwrap());
    let x = embeddings.forward(&sequence).unwrap();
    for (row, column) in [(0, 0), (1, 7), (2, 23)] {
        let weight = |i: usize| f64::from((column * 5 + i) as u32 % 7) - 3.0;
        let sum: f64 = (0..5).map(|i| normed[(row, i)] * weight(i)).sum();
        assert!((x[(row, column)] - sum - 0.5).abs() < 1e-12);
    }
}

#[test]
fn roberta_counts_its_tokens_without_padding() {
    let Encoder { config, embeddings, .. } = tiny("roberta-1");
    assert_eq!(config.longest(), 62);
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
    let config = config::<Config>("bert-1", json!({}));
    let refused = |name: &str, kind: &str, shape: &[usize], numbers: &[i64]| {
        let ids = ("input_ids", "I64", &[2, 2][..], &[0, 96, 3, 4][..]);
        let all = [ids, (name, kind, shape, numbers)];
        let of = |tensors: &[_]| config.sequences(&integers(tensors)).unwrap_err();
        if name == ids.0 { of(&all[1..]) } else { of(&all) }
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
    insta::assert_snapshot!(config.sequences(&integers(&[])).unwrap_err(), @"INPUT: no tensor input_ids; there is none at all");
    let one =
        config.sequences(&integers(&[("input_ids", "I64", &[2], &[7, 8])])).unwrap();
    assert_eq!(one, [Sequence::new(vec![7, 8])]);
}

/// A file of integers, eight bytes each, which [`save`] does not write.
fn integers(tensors: &[(&str, &str, &[usize], &[i64])]) -> TensorFile {
    let (mut header, mut bytes) = (json!({}), Vec::new());
    for (name, kind, shape, numbers) in tensors {
        let from = bytes.len();
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        let offsets = [from, bytes.len()];
        header[name] = json!({"dtype": kind, "shape": shape, "data_offsets": offsets});
    }
    let header = header.to_string();
    let length = (header.len() as u64).to_le_bytes();
    let file = [&length[..], header.as_bytes(), &bytes].concat();
    TensorFile::from_bytes("INPUT", file).unwrap()
}
