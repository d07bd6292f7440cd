//! What is refused, and what is read under other names.

use std::fs;

use attention::Matrix;
use model_files::Sequence;
use serde_json::{Value as Json, json};
use tensors::TensorFile;

use crate::Configuration;
use crate::tests::{self, changed, model, rewritten};
use crate::translators::{AsRead, Config, Translator};

mod heads;
mod planted;
mod refused;

fn same(name: &str) -> Vec<(String, f64)> {
    vec![(name.to_string(), 1.0)]
}

fn read(folder: &tempfile::TempDir) -> Result<AsRead, String> {
    tests::read(folder, |path| Translator::load(path))
}

/// The logits of a source and a target.
fn logits(model: &AsRead) -> Matrix {
    let source = Sequence::new(vec![5, 40, 17, 9, 60, 2]);
    let target = Sequence::new(vec![1, 8, 33, 71, 20, 4]);
    let encoded = model.encode(&source).unwrap();
    let decoded = model.decode(&target, encoded.out(), &source).unwrap();
    model.logits(decoded.out()).unwrap()
}

fn plain(name: &str) -> Matrix {
    logits(&Translator::load(model(name)).unwrap())
}

fn apart(a: &Matrix, b: &Matrix) -> f64 {
    (a - b).amax()
}

#[test]
fn tables_of_tokens_are_found_under_every_name_that_ties_them() {
    for (name, prefix) in [("bart-1", "model."), ("t5-1", "")] {
        let expected = plain(name);
        let shared = format!("{prefix}shared.weight");
        let instead = |names: Vec<(String, f64)>| {
            let shared = shared.clone();
            move |name: &str| if name == shared { names.clone() } else { same(name) }
        };
        let of = |names: Vec<(String, f64)>| {
            let folder = rewritten(name, &json!({}), instead(names));
            logits(&read(&folder).unwrap())
        };
        let [encoder, decoder] = ["encoder", "decoder"]
            .map(|side| format!("{prefix}{side}.embed_tokens.weight"));
        let head = "lm_head.weight".to_string();
        // One of them, or all alike.
        for only in [&encoder, &decoder, &head] {
            assert_eq!(of(vec![(only.clone(), 1.0)]), expected, "{name}, {only}");
        }
        let all = [&shared, &encoder, &decoder, &head].map(|it| (it.clone(), 1.0));
        assert_eq!(of(all.to_vec()), expected, "{name}");
        // What is there with other numbers is what is used.
        let doubled = of(vec![(shared.clone(), 1.0), (head, 2.0)]);
        let of_logits = |m: Matrix| if name == "bart-1" { without_bias(m) } else { m };
        let found = apart(&of_logits(doubled), &(of_logits(expected.clone()) * 2.0));
        assert!(found < 1e-12, "{name}: {found:e}");
        for other in [&encoder, &decoder] {
            let found = of(vec![(shared.clone(), 1.0), (other.clone(), 2.0)]);
            assert!(apart(&found, &expected) > 0.1, "{name}, {other}");
        }
    }
}

fn without_bias(mut logits: Matrix) -> Matrix {
    let file = TensorFile::open(model("bart-1").join("model.safetensors")).unwrap();
    let bias = file.matrix("final_logits_bias").unwrap();
    logits.row_iter_mut().for_each(|mut row| row -= bias.row(0));
    logits
}

#[test]
fn files_without_a_prefix_a_bias_or_a_head_are_read() {
    let bare = |name: &str| match name.strip_prefix("model.") {
        Some(rest) => same(rest),
        None => Vec::new(),
    };
    let folder = rewritten("bart-1", &json!({}), bare);
    assert!(
        apart(&logits(&read(&folder).unwrap()), &without_bias(plain("bart-1"))) < 1e-12
    );
    let folder = rewritten("bart-1", &json!({"tie_word_embeddings": false}), same);
    let model = read(&folder).unwrap();
    let refused = model.logits(&Matrix::zeros(1, 24)).unwrap_err();
    insta::assert_snapshot!(refused, @"the model was saved without its head, and has no logits: there is no lm_head.weight, and its config.json does not say that the embedding is in its place");
}

#[test]
fn t5_scales_its_logits_as_its_settings_say() {
    let expected = plain("t5-1");
    let scale = 1.0 / 24f64.sqrt();
    for (changes, factor) in [
        (json!({"scale_decoder_outputs": true}), scale),
        (json!({"scale_decoder_outputs": null}), scale),
        (json!({"scale_decoder_outputs": null, "tie_word_embeddings": false}), 1.0),
        (json!({"tie_word_embeddings": false}), 1.0),
    ] {
        let folder = rewritten("t5-1", &changes, same);
        let found = apart(&logits(&read(&folder).unwrap()), &(&expected * factor));
        assert!(found < 1e-12, "{changes}: {found:e}");
    }
}

#[test]
fn what_is_forced_first_and_what_is_forbidden_is_kept_to() {
    let source = Sequence::new(vec![5, 40, 17, 9, 60, 2]);
    let written = |changes: Json, generation: Option<&str>| {
        let folder = rewritten("bart-1", &changes, same);
        if let Some(json) = generation {
            fs::write(folder.path().join("generation_config.json"), json).unwrap();
        }
        let model = read(&folder)?;
        let read = model.read_source(&source).unwrap();
        model.write(&read, 6).map_err(|it| it.to_string())
    };
    let free = written(json!({}), None).unwrap();
    let forced = written(json!({"forced_bos_token_id": 7}), None).unwrap();
    assert_eq!(forced.ids()[..2], [1, 7]);
    let forced = written(json!({}), Some(r#"{"forced_bos_token_id": 9}"#)).unwrap();
    assert_eq!(forced.ids()[..2], [1, 9]);
    let next = free.ids()[1];
    let without = written(json!({"bad_words_ids": [[next]]}), None).unwrap();
    assert!(!without.ids().contains(&next) && without.ids()[1] != next);
    // What would be written is the end.
    let ended = written(json!({"eos_token_id": [next, 3]}), None).unwrap();
    assert_eq!((ended.ids(), ended.has_ended()), ([1, next].as_slice(), true));
    insta::assert_snapshot!(written(json!({"decoder_start_token_id": 400}), None).unwrap_err(), @"config.json or generation_config.json: decoder_start_token_id: an id beyond the model's vocabulary");
    insta::assert_snapshot!(written(json!({"bad_words_ids": [[1, 2]]}), None).unwrap_err(), @"FOLDER/config.json: bad_words_ids is [[1,2]], expected lists of one id each: words of several tokens are not kept out");
    let mbart = Config::read("config.json", &changed("bart-1", json!({"model_type": "mbart", "decoder_start_token_id": null, "bos_token_id": null}))).unwrap();
    assert_eq!(mbart.writing.start, None);
}
