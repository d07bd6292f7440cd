//! What is refused, and what is read under other names; GGUF files have tests of their own.

use std::fs;

use attention::{Real, RowVector};
use model_files::Sequence;
use serde_json::{Value as Json, json};
use variants::Entries;

use crate::decoders::study::HeadOfLayer;
use crate::decoders::{AsRead, Config, Decoder, Files, families};
use crate::tests::{self, changed, config, model};
use crate::{Head, ablate};

mod ablated;
mod attribution;
mod controls;
mod known;
mod patched;
mod stretched;

/// A tiny model with its config changed, and its tensors renamed or left out.
pub(crate) fn rewritten(
    name: &str,
    changes: Json,
    rename: impl Fn(&str) -> Option<String>,
) -> tempfile::TempDir {
    tests::rewritten(name, &changes, |name| rename(name).map(|name| (name, 1.0)))
}

/// The name that a tensor has.
pub(crate) fn same(name: &str) -> Option<String> {
    Some(name.to_string())
}

fn read(folder: &tempfile::TempDir) -> Result<AsRead, String> {
    tests::read(folder, |path| Decoder::load(path))
}

/// The names of the tiny models, one of each family.
pub(crate) fn names() -> impl Iterator<Item = String> {
    families().map(|family| format!("{}-1", family.name))
}

pub(crate) fn tiny<T: Real>(name: &str) -> AsRead<T> {
    Decoder::load(model(name)).unwrap()
}

/// The model in which some heads put out zeros.
pub(crate) fn without_heads(model: &AsRead, heads: &[HeadOfLayer]) -> AsRead {
    with_constants(model, heads, |_| None)
}

/// The model in which some heads put out a constant, or zeros.
fn with_constants(
    model: &AsRead,
    heads: &[HeadOfLayer],
    constant: impl Fn(Head) -> Option<RowVector>,
) -> AsRead {
    let mut less = model.clone();
    let heads: Vec<Head> = heads.iter().copied().map(Head::from).collect();
    ablate(&mut less, &heads, constant).unwrap();
    less
}

#[test]
fn settings_of_older_files_are_read() {
    let of = config::<Config>;
    let old =
        json!({"rope_parameters": null, "rope_theta": 10000.0, "rope_scaling": null});
    assert_eq!(of("llama-1", old), of("llama-1", json!({})));
    let old = json!({
        "rope_parameters": null, "rotary_pct": 0.5, "rotary_emb_base": 10000,
    });
    assert_eq!(of("gpt_neox-1", old), of("gpt_neox-1", json!({})));
    let old = json!({"layer_types": null});
    assert_eq!(of("gemma2-1", old), of("gemma2-1", json!({})));
    assert_eq!(of("llama-1", json!({"eos_token_id": [2, 5]})).ends, [2, 5]);
}

/// A chat model has a second end there; one that names none leaves the config's.
#[test]
fn a_text_ends_where_the_file_of_generation_says() {
    let folder = rewritten("llama-1", json!({"eos_token_id": 2}), same);
    let ends = || Files::open(folder.path()).map(|files| files.config.ends);
    assert_eq!(ends().unwrap(), [2]);
    for (says, expected) in [
        (json!({"eos_token_id": [2, 5]}), vec![2, 5]),
        (json!({"eos_token_id": 5}), vec![5]),
        (json!({"eos_token_id": null, "do_sample": false}), vec![2]),
        (json!({"eos_token_id": []}), vec![2]),
    ] {
        let path = folder.path().join("generation_config.json");
        fs::write(&path, says.to_string()).unwrap();
        assert_eq!(ends().unwrap(), expected, "{says}");
    }
    let path = folder.path().join("generation_config.json");
    fs::write(&path, r#"{"eos_token_id": [2, "</s>"]}"#).unwrap();
    let refused = ends().unwrap_err().to_string();
    let refused = refused.replace(&folder.path().display().to_string(), "FOLDER");
    insta::assert_snapshot!(refused, @r#"FOLDER/generation_config.json: eos_token_id is [2,"</s>"], expected an id, or a list of ids"#);
}

/// In the tiny model the scale that is asked for is 1 / √d_k: here it is another.
#[test]
fn a_scale_of_its_own_is_that_of_other_queries() {
    let mut expected: AsRead = tiny("gemma2-1");
    for block in &mut expected.blocks {
        let w_q = &mut block.attention.function.entries_mut()[0];
        w_q.iter_mut().for_each(|entry| *entry *= 2.0);
    }
    let scaled = rewritten("gemma2-1", json!({"query_pre_attn_scalar": 2.0}), same);
    let scaled = read(&scaled).unwrap(); // a quarter of d_k, so twice the scores
    let sequence = Sequence::new(vec![5, 90, 17, 3, 3, 41, 8]);
    let [a, b] = [expected, scaled].map(|model| model.forward(&sequence).unwrap().attn);
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        assert!((a - b).amax() < 1e-12);
    }
    let default: Config = config("gemma2-1", json!({"query_pre_attn_scalar": null}));
    assert_eq!(default.scale, Some(1.0 / 16.0));
}

#[test]
fn packed_weights_and_a_folder_without_a_model_are_refused() {
    let other = |name: &str| {
        Some(name.replace("layers.1.mlp.up_proj.weight", "layers.1.mlp.up_proj.qweight"))
    };
    insta::assert_snapshot!(read(&rewritten("llama-1", json!({}), other)).unwrap_err(), @"FOLDER/model.safetensors: its weights are quantised (GPTQ or AWQ): no part of the model is read from model.layers.1.mlp.up_proj.qweight");
    let no_model = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(read(&no_model).unwrap_err(), @"FOLDER has no config.json");
}

#[test]
fn ids_positions_and_caches_that_do_not_fit_are_refused() {
    let gpt2: AsRead = Decoder::load(model("gpt2-1")).unwrap();
    let llama: AsRead = Decoder::load(model("llama-1")).unwrap();
    for model in [&gpt2, &llama] {
        let refused = |ids: &[usize]| {
            model.forward(&Sequence::new(ids.to_vec())).unwrap_err().to_string()
        };
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused(&[1, 97]), @"token 1 has id 97, and the vocabulary has 97 entries, from 0");
            insta::assert_snapshot!(refused(&[1; 65]), @"the text has 65 tokens, and the model has 64 positions");
            insta::assert_snapshot!(refused(&[]), @"the number of tokens is 0, and must be at least 1");
        }
        let mut caches = model.caches();
        model.forward_cached(&[1; 64], &mut caches).unwrap();
        let refused = model.forward_cached(&[1], &mut caches).unwrap_err();
        insta::allow_duplicates! { insta::assert_snapshot!(refused, @"the text has 65 tokens, and the model has 64 positions"); }
        assert_eq!(caches[2].n_seen(), 64);
    }
    let mut caches = gpt2.caches();
    insta::assert_snapshot!(llama.forward_cached(&[1], &mut caches).unwrap_err(), @"the keys of a cache has shape (0, 24), expected (0, 12)");
    insta::assert_snapshot!(gpt2.forward_cached(&[1], &mut caches[..2]).unwrap_err(), @"the list of caches has 2 entries, expected 3");
    gpt2.forward_cached(&[1], &mut caches).unwrap();
    caches[1] = gpt2.caches().swap_remove(1);
    insta::assert_snapshot!(gpt2.forward_cached(&[1], &mut caches).unwrap_err(), @"the cache of layer 1 has seen 0 tokens, and that of layer 0 has seen 1");
}
