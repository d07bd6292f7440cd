use std::error::Error as _;
use std::fs;
use std::path::Path;

use tensors::TensorFile;

use super::*;

mod author;
mod chosen;
mod tiny;
mod translator;

/// A tiny model's `config.json`, `tokenizer.json` and `model.safetensors`.
fn files() -> [Vec<u8>; 3] {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/models");
    ["bert-1/config.json", "tokenizer.json", "bert-1/model.safetensors"]
        .map(|file| fs::read(models.join(file)).unwrap())
}

fn begin(config: &[u8], tokenizer: &[u8], n_bytes: usize) -> Result<Reading, Error> {
    let files = [("config.json", config), ("tokenizer.json", tokenizer)];
    let files = files.map(|(name, bytes)| (name.to_owned(), bytes.to_vec()));
    Reading::begin(&files.into(), n_bytes as u64)
}

fn model() -> Model {
    let [config, tokenizer, weights] = files();
    let mut reading = begin(&config, &tokenizer, weights.len()).unwrap();
    weights.chunks(1000).for_each(|part| reading.part(part).unwrap());
    reading.finish().unwrap()
}

#[test]
fn files_are_known_by_their_names() {
    let all = ["vocab.txt", "config.json", "tokenizer.json", "model.safetensors"];
    let small = vec!["config.json", "tokenizer.json"];
    assert_eq!(Chosen::of(all).unwrap(), Chosen::Folder("model.safetensors", small));
    let refused = |names: &[&'static str]| {
        Chosen::of(names.iter().copied()).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(&[all[1], all[3]]), @"what was chosen has no tokenizer.json");
    insta::assert_snapshot!(refused(&[all[1], all[2], "model.safetensors.index.json"]), @r#"what was chosen has no model.safetensors: its weights are in several files, and a page reads one: load it with transformers, and model.save_pretrained(folder, max_shard_size="4GB") writes one file"#);
    insta::assert_snapshot!(refused(&["model-00001-of-00002.safetensors"]), @"what was chosen has no config.json");
    insta::assert_snapshot!(refused(&[all[1], all[3], "source.spm"]), @"what was chosen has no tokenizer.json: source.spm is SentencePiece's own file, which is not read here, and Marian's tokenizer writes no other");
    let more = ["generation_config.json", "notes.txt", "tokenizer_config.json"];
    let chosen = Chosen::of([&all[..], &more].concat()).unwrap();
    let names = chosen.names();
    assert_eq!(names[0], "model.safetensors");
    assert_eq!(names[1..], [all[1], all[2], more[2], more[0]]);
}

#[test]
fn parts_must_add_up_to_the_file() {
    let [config, tokenizer, weights] = files();
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
    let [config, tokenizer, weights] = files();
    let refused = begin(&weights, &tokenizer, 0).unwrap_err();
    assert_eq!(refused.to_string(), "config.json: no object in JSON");
    assert!(refused.source().is_some());
    let refused = begin(&config, &config, 0).unwrap_err().to_string();
    assert!(refused.starts_with("tokenizer.json: no tokenizer: "), "{refused}");
}

#[test]
fn a_text_is_told_with_every_share() {
    let looked = model().look("The bank of the river.").unwrap().text;
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
    let model = model();
    insta::assert_snapshot!(model.look(" ").unwrap_err(), @"the text is empty: no token is left of it");
    let long = model.look(&"the ".repeat(63)).unwrap_err();
    insta::assert_snapshot!(long, @"the text has 65 tokens, [CLS] and [SEP] or the like among them, and the model has 64 positions");
    assert_eq!(model.about()["longest"], 64);
}

/// The queries' weights of the first layer NaN: JSON has none, and a page was left waiting.
#[test]
fn maps_that_are_not_finite_are_refused() {
    let [config, tokenizer, mut weights] = files();
    let file = TensorFile::from_bytes("weights", weights.clone()).unwrap();
    let name = "encoder.layer.0.attention.self.query.weight";
    let header: serde_json::Value = {
        let n = u64::from_le_bytes(weights[..8].try_into().unwrap()) as usize;
        serde_json::from_slice(&weights[8..8 + n]).unwrap()
    };
    let n_header = u64::from_le_bytes(weights[..8].try_into().unwrap()) as usize;
    let at = |i: usize| header[name]["data_offsets"][i].as_u64().unwrap() as usize;
    let numbers = &mut weights[8 + n_header..][at(0)..at(1)];
    assert_eq!(numbers.len(), 4 * file.tensor(name).unwrap().numbers().unwrap().len());
    numbers.as_chunks_mut().0.fill(f32::NAN.to_le_bytes());
    let mut reading = begin(&config, &tokenizer, weights.len()).unwrap();
    reading.part(&weights).unwrap();
    let refused = reading.finish().unwrap().look("The bank.").unwrap_err();
    insta::assert_snapshot!(refused, @"NaN or infinity begins in the attention of layer 0, counted from 0: the model's weights are not finite there, or too large for this precision");
}

#[test]
fn heads_that_are_not_there_are_refused_and_draws_end() {
    let model = model();
    let looked = model.look("The bank of the river.").unwrap();
    let heads =
        |names: &[&str]| names.iter().map(|it| it.to_string()).collect::<Vec<_>>();
    let refused = |name| model.ablate(&looked, &heads(&[name])).unwrap_err().to_string();
    insta::assert_snapshot!(refused("3.0"), @"there are 3 layers, 0 to 2: layer 3 does not exist");
    insta::assert_snapshot!(refused("1.4"), @"there are 4 heads, 0 to 3: head 4 does not exist");
    insta::assert_snapshot!(refused("1,4"), @r#""1,4" is no head: a head is its layer and its number, both from 0, as in 5.7"#);
    let heads = heads(&["1.2", "0.1", "1.2"]);
    let (mut ablation, less) = model.ablate(&looked, &heads).unwrap();
    assert_eq!(ablation.heads, [(0, 1), (1, 2)]);
    let n = (0..99).take_while(|_| model.draw(&looked, &mut ablation).unwrap()).count();
    // Three others in each of two layers.
    assert_eq!((n, ablation.of_draws.len()), (9, 9));
    // Maps up to the lowest layer are as they were, and later ones are not.
    assert_eq!(less.maps[0], looked.text.maps[0]);
    assert_ne!(less.maps[1], looked.text.maps[1]);
}
