use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};

use attention::Matrix;
use models::{Choice, Sampling};
use serde_json::Value;
use tensors::{NewTensor, TensorFile, to_bytes};

use super::*;

mod author;
mod selected;
mod tiny;
mod translator;

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/models")
}

/// A tiny model's `config.json`, `tokenizer.json` and `model.safetensors`.
fn files(name: &str) -> [Vec<u8>; 3] {
    let files = [&format!("{name}/config.json"), "tokenizer.json"];
    let weights = format!("{name}/model.safetensors");
    [files[0], files[1], &weights].map(|file| fs::read(models().join(file)).unwrap())
}

fn begin(config: &[u8], tokenizer: &[u8], n_bytes: usize) -> Result<Reading, Error> {
    let files = [("config.json", config), ("tokenizer.json", tokenizer)];
    let files = files.map(|(name, bytes)| (name.to_owned(), bytes.to_vec()));
    Reading::begin(&files.into(), n_bytes as u64)
}

fn model(name: &str) -> Model {
    let [config, tokenizer, weights] = files(name);
    let mut reading = begin(&config, &tokenizer, weights.len()).unwrap();
    weights.chunks(1000).for_each(|part| reading.part(part).unwrap());
    reading.finish().unwrap()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// What is told when a text begins, and all steps that write it.
fn written(model: &mut Model, asked: &Request) -> (Value, Vec<Step>) {
    let (mut writing, told) = model.begin(asked).unwrap();
    let mut steps: Vec<Step> = Vec::new();
    while !steps.last().is_some_and(|step| step.is_last) {
        steps.push(model.step(&mut writing).unwrap());
    }
    (told, steps)
}

/// The tokens that were written.
fn ids(steps: &[Step]) -> Vec<usize> {
    let next = steps.iter().filter_map(|step| step.told["next"]["id"].as_u64());
    next.map(|id| id as usize).collect()
}

/// The chances that are shown, and how a token is chosen: by them, but at temperature 0.
fn chosen_by(temperature: f64, top_p: f64) -> (Sampling, Choice) {
    let plain = Sampling::default();
    if temperature == 0.0 {
        return (plain, Choice::greedy());
    }
    let sampling = plain.temperature(temperature).unwrap().top_p(top_p).unwrap();
    (sampling, Choice::by(sampling, 3))
}

/// How far the chances that are told are from those of the readable model's logits.
fn chances_apart(told: &Value, logits: &[f64], sampling: Sampling) -> f64 {
    let p = |row: &Value| row["p"].as_f64().unwrap();
    let likely = told["likely"].as_array().unwrap();
    let n_possible = logits.iter().filter(|logit| logit.is_finite()).count();
    assert_eq!(likely.len(), n_possible.min(10));
    assert!(likely.is_sorted_by(|a, b| p(a) >= p(b)));
    let chances = sampling.chances(logits);
    let expected = |row: &Value| chances[row["id"].as_u64().unwrap() as usize];
    let all = likely.iter().chain([&told["next"]]);
    all.map(|row| (p(row) - expected(row)).abs()).fold(0.0, f64::max)
}

/// Row `row` of some maps, head after head.
fn row(maps: &[Vec<Matrix>], row: usize, n_keys: usize) -> Vec<f64> {
    let heads = maps.iter().flatten();
    heads.flat_map(|map| (0..n_keys).map(move |key| map[(row, key)])).collect()
}

/// The largest difference of two lists of as many numbers.
fn apart(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let each = found.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).abs());
    each.fold(0.0, f64::max)
}

#[test]
fn files_are_known_by_their_names() {
    let all = ["vocab.txt", "config.json", "tokenizer.json", "model.safetensors"];
    let small = vec!["config.json", "tokenizer.json"];
    assert_eq!(
        SelectedFiles::of(all).unwrap(),
        SelectedFiles::Folder("model.safetensors", small)
    );
    let refused = |names: &[&'static str]| {
        SelectedFiles::of(names.iter().copied()).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(&[all[1], all[3]]), @"what was chosen has no tokenizer.json");
    insta::assert_snapshot!(refused(&[all[1], all[2], "model.safetensors.index.json"]), @r#"what was chosen has no model.safetensors: its weights are in several files, and a page reads one: load it with transformers, and model.save_pretrained(folder, max_shard_size="4GB") writes one file"#);
    insta::assert_snapshot!(refused(&["model-00001-of-00002.safetensors"]), @"what was chosen has no config.json");
    insta::assert_snapshot!(refused(&[all[1], all[3], "source.spm"]), @"what was chosen has no tokenizer.json: source.spm is SentencePiece's own file, which is not read here, and Marian's tokenizer writes no other");
    let more = ["generation_config.json", "notes.txt", "tokenizer_config.json"];
    let chosen = SelectedFiles::of([&all[..], &more].concat()).unwrap();
    let names = chosen.names();
    assert_eq!(names[0], "model.safetensors");
    assert_eq!(names[1..], [all[1], all[2], more[2], more[0]]);
}

#[test]
fn parts_must_add_up_to_the_file() {
    let [config, tokenizer, weights] = files("bert-1");
    let reading = || begin(&config, &tokenizer, weights.len()).unwrap();
    let mut less = reading();
    less.part(&weights[1..]).unwrap();
    insta::assert_snapshot!(less.finish().unwrap_err(), @"model.safetensors: 77607 bytes were read, and the file has 77608");
    let mut more = reading();
    more.part(&weights).unwrap();
    insta::assert_snapshot!(more.part(&[0]).unwrap_err(), @"model.safetensors: 77609 bytes were read, and the file has 77608");
    let refused = begin(&config, &tokenizer, usize::MAX).unwrap_err();
    assert!(matches!(refused, Error::Memory { .. }), "{refused}");
}

#[test]
fn a_file_in_the_place_of_another_is_named() {
    let [config, tokenizer, weights] = files("bert-1");
    let refused = begin(&weights, &tokenizer, 0).unwrap_err();
    assert_eq!(refused.to_string(), "config.json: no object in JSON");
    assert!(refused.source().is_some());
    let refused = begin(&config, &config, 0).unwrap_err().to_string();
    assert!(refused.starts_with("tokenizer.json: no tokenizer: "), "{refused}");
}

#[test]
fn a_text_is_told_with_every_share() {
    let looked = model("bert-1").look("The bank of the river.").unwrap().text;
    let pieces = ["[CLS]", "the", "bank", "of", "the", "river", ".", "[SEP]"];
    assert_eq!(looked.pieces, pieces);
    let told = looked.to_json();
    assert_eq!((&told["n_heads"], &told["causal"]), (&4.into(), &false.into()));
    let shares = looked.shares();
    assert_eq!(shares.len(), 12 * 8 * 8);
    assert_eq!(shares[(4 + 2) * 64 + 3 * 8 + 5], looked.maps[1][2][(3, 5)]);
}

#[test]
fn a_text_is_refused_before_it_is_too_much() {
    let model = model("bert-1");
    insta::assert_snapshot!(model.look(" ").unwrap_err(), @"the text is empty: no token is left of it");
    let long = model.look(&"the ".repeat(63)).unwrap_err();
    insta::assert_snapshot!(long, @"the text has 65 tokens, [CLS] and [SEP] or the like among them, and the model has 64 positions");
    assert_eq!(model.about()["longest"], 64);
}

/// The queries' weights of the first layer NaN: JSON has none, and a page was left waiting.
#[test]
fn maps_that_are_not_finite_are_refused() {
    let [config, tokenizer, weights] = files("bert-1");
    let file = TensorFile::from_bytes("weights", weights).unwrap();
    let tensor = |name: String| {
        let tensor = file.tensor(&name).unwrap();
        let numbers: Vec<f32> = tensor.numbers_as().unwrap();
        let is_it = name == "encoder.layer.0.attention.self.query.weight";
        let factor = if is_it { f32::NAN } else { 1.0 };
        let numbers = Matrix::from_vec(numbers.len(), 1, numbers) * factor;
        NewTensor::new(&name, tensor.shape(), [&numbers]).unwrap()
    };
    let tensors: Vec<_> = file.names().into_iter().map(tensor).collect();
    let weights = to_bytes(&tensors).unwrap();
    let mut reading = begin(&config, &tokenizer, weights.len()).unwrap();
    reading.part(&weights).unwrap();
    let refused = reading.finish().unwrap().look("The bank.").unwrap_err();
    insta::assert_snapshot!(refused, @"NaN or infinity begins in the attention of layer 0, counted from 0: the model's weights are not finite there, or too large for this precision");
}

#[test]
fn heads_that_are_not_there_are_refused_and_draws_end() {
    let model = model("bert-1");
    let looked = model.look("The bank of the river.").unwrap();
    let refused = |name| model.ablate(&looked, &owned(&[name])).unwrap_err().to_string();
    insta::assert_snapshot!(refused("3.0"), @"there are 3 layers, 0 to 2: layer 3 does not exist");
    insta::assert_snapshot!(refused("1.4"), @"there are 4 heads, 0 to 3: head 4 does not exist");
    insta::assert_snapshot!(refused("1,4"), @r#""1,4" is no head: a head is its layer and its number, both from 0, as in 5.7"#);
    let heads = owned(&["1.2", "0.1", "1.2"]);
    let (mut ablation, less) = model.ablate(&looked, &heads).unwrap();
    assert_eq!(ablation.heads, [(0, 1), (1, 2)]);
    let n = (0..99).take_while(|_| model.draw(&looked, &mut ablation).unwrap()).count();
    // Three others in each of two layers.
    assert_eq!((n, ablation.of_draws.len()), (9, 9));
    // Maps up to the lowest layer are as they were, and later ones are not.
    assert_eq!(less.maps[0], looked.text.maps[0]);
    assert_ne!(less.maps[1], looked.text.maps[1]);
}
