//! What is known or refused, and where files and settings contradict each other.

use model_files::Sequence;
use serde_json::{Map, Value as Json, json};

use super::{changed, config, model, read, rewritten, same};
use crate::Configuration;
use crate::decoders::{AsRead, Config, Decoder, Files};

/// Its tensors have the names of a model without the unembedding, and it has none.
#[test]
fn a_model_without_a_head_gives_hidden_states_and_no_logits() {
    let short =
        |name: &str| (name != "lm_head.weight").then(|| name.replace("model.", ""));
    let expected: AsRead = Decoder::load(model("llama-1")).unwrap();
    let folder = rewritten("llama-1", json!({}), short);
    let model = read(&folder).unwrap();
    let sequence = Sequence::new(vec![5, 90, 17, 3]);
    let layers = model.forward(&sequence).unwrap();
    assert_eq!(layers, expected.forward(&sequence).unwrap());
    insta::assert_snapshot!(model.logits(layers.out()).unwrap_err(), @"the model was saved without its head, and has no logits: there is no lm_head.weight, and its config.json does not say that the embedding is in its place");
    #[cfg(feature = "fast")]
    {
        let model: AsRead<f32> = Decoder::load(folder.path()).unwrap();
        assert!(matches!(
            crate::decoders::FastDecoder::new(model),
            Err(crate::Error::NoHead { .. })
        ));
    }
}

/// A file's own head counts, whatever the settings say; the only table is both.
#[test]
fn the_file_decides_whether_there_is_a_head() {
    let expected: AsRead = Decoder::load(model("llama-1")).unwrap();
    let folder = rewritten("llama-1", json!({"tie_word_embeddings": true}), same);
    let said_tied = read(&folder).unwrap();
    assert_eq!(said_tied.unembedding, expected.unembedding);
    assert!(said_tied.unembedding.unwrap().tokens.is_some());
    let unused = Files::open(folder.path()).unwrap().unused;
    assert!(unused.iter().any(|it| it.name == "tie_word_embeddings"));
    let only_head = |name: &str| match name {
        "lm_head.weight" => None,
        "model.embed_tokens.weight" => Some("lm_head.weight".to_string()),
        name => Some(name.to_string()),
    };
    let folder = rewritten("llama-1", json!({"tie_word_embeddings": true}), only_head);
    let only_head = read(&folder).unwrap();
    assert_eq!(only_head.embedding, expected.embedding);
    assert_eq!(only_head.unembedding.unwrap().tokens, None);
}

/// What is added replaces what was there.
#[test]
fn two_keys_for_one_thing_agree() {
    let of = |changes| config::<Config>("llama-1", changes);
    let base = json!({"rope_theta": 10000.0, "rope_type": "default"});
    let added = json!({"rope_type": "linear", "factor": 4.0});
    let linear = json!({"rope_theta": 10000.0, "rope_type": "linear", "factor": 4.0});
    let both = of(json!({"rope_parameters": base, "rope_scaling": added}));
    assert_eq!(both, of(json!({"rope_parameters": linear})));
}

/// Null is none, a missing key is the family's default.
#[test]
fn a_missing_key_is_not_null() {
    let of = |name: &str, changes: Json, nulls: &[&str]| {
        let json = changed(name, changes);
        let mut settings: Map<String, Json> = serde_json::from_slice(&json).unwrap();
        for key in nulls {
            settings.insert((*key).to_string(), Json::Null);
        }
        Config::read("", &serde_json::to_vec(&settings).unwrap()).unwrap()
    };
    let caps = json!({"attn_logit_softcapping": null, "final_logit_softcapping": null});
    let missing = of("gemma2-1", caps, &[]);
    assert_eq!(missing.soft_cap.unwrap().bound(), 50.0);
    assert_eq!(missing.last_soft_cap.unwrap().bound(), 30.0);
    let keys = ["attn_logit_softcapping", "final_logit_softcapping"];
    let null = of("gemma2-1", json!({}), &keys);
    assert_eq!((null.soft_cap, null.last_soft_cap), (None, None));
    let window = json!({"sliding_window": null});
    let missing = of("mistral-1", window, &[]);
    assert_eq!(missing.window(2), Some(variants::Window::last(4096).unwrap()));
    assert_eq!(of("mistral-1", json!({}), &["sliding_window"]).window(2), None);
    let heads = json!({"num_attention_heads": null, "max_position_embeddings": null});
    let missing = of("gemma2-1", heads, &[]);
    assert_eq!((missing.dims().n_heads(), missing.n_positions), (8, 8192));
    let d_k =
        json!({"head_dim": null, "num_attention_heads": 4, "num_key_value_heads": 4});
    assert_eq!(of("qwen3-1", d_k, &[]).dims().d_k(), 128);
    let heads = json!({"num_key_value_heads": null, "num_attention_heads": 8});
    assert_eq!(of("mistral-1", heads, &[]).sizes.groups.n_kv_heads(), 8);
    let heads = json!({"num_attention_heads": 8, "head_dim": 8});
    assert_eq!(
        of("gemma2-1", heads, &["num_key_value_heads"]).sizes.groups.n_kv_heads(),
        8
    );
}

/// transformers reads both.
#[test]
fn a_key_has_its_other_name() {
    let of = |changes| config::<Config>("gpt2-1", changes);
    let expected = of(json!({}));
    assert_eq!(of(json!({"n_embd": null, "hidden_size": 24})), expected);
    assert_eq!(of(json!({"hidden_size": 24, "num_attention_heads": 4})), expected);
}

/// What is put before all names is taken off, and what is packed is called so.
#[test]
fn wrappers_are_taken_off_and_packed_weights_named() {
    let expected = Decoder::load(model("llama-1")).unwrap();
    for wrapper in ["_orig_mod.", "module.", "module._orig_mod.", "language_model."] {
        let folder =
            rewritten("llama-1", json!({}), |name| Some(format!("{wrapper}{name}")));
        assert_eq!(read(&folder).unwrap(), expected, "{wrapper}");
    }
    let some = |name: &str| Some(name.replace("model.layers.1", "module.model.layers.1"));
    assert!(read(&rewritten("llama-1", json!({}), some)).is_err());
    let base =
        |name: &str| Some(name.replace("q_proj.weight", "q_proj.base_layer.weight"));
    let refused = read(&rewritten("llama-1", json!({}), base)).unwrap_err();
    assert!(refused.contains("an adapter (LoRA) that is not merged"), "{refused}");
    let one = |name: &str| Some(name.replace("q_proj.weight", "qkv_proj.weight"));
    let refused = read(&rewritten("llama-1", json!({}), one)).unwrap_err();
    assert!(refused.contains("queries, keys and values in one matrix"), "{refused}");
}

/// Settings that ask for memory before the weights say otherwise.
#[test]
fn absurd_sizes_are_refused_before_anything_is_allocated() {
    let wide = json!({"n_embd": 1_u64 << 62, "n_head": 1});
    assert!(Config::read("", &changed("gpt2-1", wide)).is_ok());
    let wide = rewritten("gpt2-1", json!({"n_embd": 1_u64 << 62, "n_head": 1}), same);
    assert!(read(&wide).unwrap_err().contains("has shape (97, 24)"));
    let window = json!({"sliding_window": u64::MAX});
    let model = read(&rewritten("mistral-1", window, same)).unwrap();
    let layers = model.forward(&Sequence::new(vec![1, 2, 3])).unwrap();
    assert!(layers.attn[0][0][(2, 0)] > 0.0);
}
