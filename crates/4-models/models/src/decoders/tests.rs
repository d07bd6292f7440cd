//! What is refused, and what is read under other names; GGUF files have tests of their own.

use std::fs;

use model_files::Sequence;
use serde_json::{Value as Json, json};
use variants::Entries;

use crate::Configuration;
use crate::decoders::{AsRead, Config, Decoder, Files};
use crate::tests;
pub(crate) use crate::tests::model;

mod ablated;
mod attribution;
mod controls;
mod known;
mod patched;
mod references;
mod stretched;

fn changed(name: &str, changes: Json) -> Vec<u8> {
    tests::changed(name, &changes)
}

fn refused(name: &str, changes: Json) -> String {
    tests::refused::<Config>(name, changes)
}

/// A tiny model with its config changed, and its tensors renamed or left out.
pub(crate) fn rewritten(
    name: &str,
    changes: Json,
    rename: impl Fn(&str) -> Option<String>,
) -> tempfile::TempDir {
    tests::rewritten(name, &changes, |name| rename(name).map(|name| (name, 1.0)))
}

fn read(folder: &tempfile::TempDir) -> Result<AsRead, String> {
    tests::read(folder, |path| Decoder::load(path))
}

#[test]
fn a_config_that_makes_no_model_is_refused_with_its_numbers() {
    insta::assert_snapshot!(refused("gpt2-1", json!({"model_type": "bert"})), @r#"config.json: model_type is "bert"; the known ones are gpt2, gpt_neox, llama, mistral, qwen2, qwen3, gemma2, gemma3_text"#);
    insta::assert_snapshot!(refused("llama-1", json!({"model_type": null})), @"config.json: model_type is missing; the known ones are gpt2, gpt_neox, llama, mistral, qwen2, qwen3, gemma2, gemma3_text");
    insta::assert_snapshot!(refused("llama-1", json!({"num_key_value_heads": 3})), @"config.json: its sizes make no layer: 4 query heads cannot be shared out among 3 heads of keys and values: 4 = 3 × 1 + 1");
    insta::assert_snapshot!(refused("llama-1", json!({"num_key_value_heads": 0})), @"config.json: num_key_value_heads is 0, expected a whole number of 1 or more");
    insta::assert_snapshot!(refused("gpt2-1", json!({"n_head": 5})), @"config.json: its sizes make no layer: d_model 24 cannot be divided among 5 heads: 24 = 5 × 4 + 4");
    insta::assert_snapshot!(refused("gpt2-1", json!({"scale_attn_by_inverse_layer_idx": true})), @"config.json: scale_attn_by_inverse_layer_idx is true, expected false");
    insta::assert_snapshot!(refused("mistral-1", json!({"sliding_window": 0})), @"config.json: sliding_window is 0, expected a whole number of 1 or more");
    insta::assert_snapshot!(refused("gemma2-1", json!({"layer_types": ["full_attention"]})), @r#"config.json: layer_types is ["full_attention"], expected a list with "sliding_attention" or "full_attention" for each layer"#);
    insta::assert_snapshot!(refused("gemma2-1", json!({"layer_types": ["chunked_attention", "full_attention", "full_attention"]})), @r#"config.json: layer_types is ["chunked_attention","full_attention","full_attention"], expected a list with "sliding_attention" or "full_attention" for each layer"#);
    insta::assert_snapshot!(refused("gemma2-1", json!({"attn_logit_softcapping": -1.0})), @"config.json: attn_logit_softcapping is -1.0, expected a number above 0");
    insta::assert_snapshot!(refused("llama-1", json!({"rope_parameters": {"rope_type": "yarn"}})), @"config.json: there is no rope_parameters.factor, expected a number above 0");
    insta::assert_snapshot!(refused("llama-1", json!({"rope_parameters": {"rope_type": "linear"}})), @"config.json: there is no rope_parameters.factor, expected a number above 0");
    insta::assert_snapshot!(refused("llama-1", json!({"vocab_size": 0})), @"config.json: vocab_size is 0, expected a whole number of 1 or more");
    insta::assert_snapshot!(refused("llama-1", json!({"hidden_act": "swiglu"})), @r#"config.json: hidden_act is "swiglu", expected gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, silu, swish or relu"#);
}

#[test]
fn settings_of_older_files_are_read() {
    let of = |name, changes| Config::read("", &changed(name, changes)).unwrap();
    let config = of("llama-1", json!({}));
    let old =
        json!({"rope_parameters": null, "rope_theta": 10000.0, "rope_scaling": null});
    assert_eq!(of("llama-1", old), config);
    let old = json!({
        "rope_parameters": null, "rotary_pct": 0.5, "rotary_emb_base": 10000,
    });
    assert_eq!(of("gpt_neox-1", old), of("gpt_neox-1", json!({})));
    let old = json!({"layer_types": null});
    assert_eq!(of("gemma2-1", old), of("gemma2-1", json!({})));
    assert_eq!(of("llama-1", json!({"eos_token_id": [2, 5]})).ends, [2, 5]);
    let linear = json!({"rope_parameters": {"rope_type": "linear", "factor": 4.0}});
    let frequencies = |config: &Config| config.rotary.clone().unwrap().frequencies;
    assert_eq!(frequencies(&of("llama-1", linear))[0], frequencies(&config)[0] / 4.0);
    // What rounds often within the old texts stays, what rounds less than once is slowed.
    let llama3 = json!({"rope_parameters": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 64,
    }});
    let [before, after] = [&config, &of("llama-1", llama3)].map(frequencies);
    assert_eq!(after[0], before[0]);
    assert_eq!(after[2], before[2] / 8.0);
}

/// A chat model has a second end there; one that names none leaves the config's.
#[test]
fn a_text_ends_where_the_file_of_generation_says() {
    let all = |name: &str| Some(name.to_string());
    let folder = rewritten("llama-1", json!({"eos_token_id": 2}), all);
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
    insta::assert_snapshot!(super::tests::refused("llama-1", json!({"eos_token_id": -1})), @"config.json: eos_token_id is -1, expected an id, or a list of ids");
}

/// In the tiny model the scale that is asked for is 1 / √d_k: here it is another.
#[test]
fn a_scale_of_its_own_is_that_of_other_queries() {
    let expected: AsRead = Decoder::load(model("gemma2-1")).unwrap();
    let expected = expected.with_attention(|_, layer| {
        let mut layer = layer.clone();
        layer.entries_mut()[0].iter_mut().for_each(|entry| *entry *= 2.0);
        layer
    });
    let all = |name: &str| Some(name.to_string());
    let scaled = rewritten("gemma2-1", json!({"query_pre_attn_scalar": 2.0}), all);
    let scaled = read(&scaled).unwrap(); // a quarter of d_k, so twice the scores
    let sequence = Sequence::new(vec![5, 90, 17, 3, 3, 41, 8]);
    let [a, b] = [expected, scaled].map(|model| model.forward(&sequence).unwrap().attn);
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        assert!((a - b).amax() < 1e-12);
    }
    let default = json!({"query_pre_attn_scalar": null});
    let default = Config::read("", &changed("gemma2-1", default)).unwrap();
    assert_eq!(default.scale, Some(1.0 / 16.0));
}

#[test]
fn tensors_that_do_not_fit_are_named() {
    let all = |name: &str| Some(name.to_string());
    let without =
        |name: &str| (!name.contains("layers.2.mlp.up_proj")).then(|| name.into());
    let missing = read(&rewritten("llama-1", json!({}), without)).unwrap_err();
    let start = "FOLDER/model.safetensors: no tensor model.layers.2.mlp.up_proj.weight;";
    assert!(missing.starts_with(start), "{missing}");
    let narrow = rewritten("llama-1", json!({"num_key_value_heads": 4}), all);
    insta::assert_snapshot!(read(&narrow).unwrap_err(), @"FOLDER/model.safetensors: model.layers.0.self_attn.k_proj.weight has shape (12, 24), expected (24, 24)");
    let wide = rewritten("gpt2-1", json!({"n_positions": 65}), all);
    insta::assert_snapshot!(read(&wide).unwrap_err(), @"FOLDER/model.safetensors: transformer.wpe.weight has shape (64, 24), expected (65, 24)");
    for (changes, name) in
        [(json!({"num_hidden_layers": 2}), "2"), (json!({"num_hidden_layers": 4}), "4")]
    {
        let refused = read(&rewritten("llama-1", changes, all)).unwrap_err();
        let end = format!("it has tensors of 3 layers, and its config.json says {name}");
        assert!(refused.ends_with(&end), "{refused}");
    }
    let other = |name: &str| {
        Some(name.replace("layers.1.mlp.up_proj.weight", "layers.1.mlp.up_proj.qweight"))
    };
    insta::assert_snapshot!(read(&rewritten("llama-1", json!({}), other)).unwrap_err(), @"FOLDER/model.safetensors: its weights are quantised (GPTQ or AWQ): no part of the model is read from model.layers.1.mlp.up_proj.qweight");
    let no_model = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(read(&no_model).unwrap_err(), @"FOLDER has no config.json");
}

#[test]
fn a_model_that_was_saved_without_its_head_is_read_alike() {
    let short = |name: &str| Some(name.replace("transformer.", ""));
    let expected = Decoder::load(model("gpt2-1")).unwrap();
    assert_eq!(read(&rewritten("gpt2-1", json!({}), short)).unwrap(), expected);
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
