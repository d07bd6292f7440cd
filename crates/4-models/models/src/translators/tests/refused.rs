//! Each setting that would make another model, by its name.

use super::*;

fn refused(name: &str, changes: Json) -> String {
    tests::refused::<Config>(name, changes)
}

#[test]
fn a_config_that_makes_another_model_is_refused_by_name() {
    insta::assert_snapshot!(refused("t5-1", json!({"model_type": "mt5"})), @r#"config.json: model_type is "mt5"; the known ones are marian, bart, mbart, t5"#);
    insta::assert_snapshot!(refused("bart-1", json!({"is_encoder_decoder": false})), @"config.json: is_encoder_decoder is false, expected true");
    insta::assert_snapshot!(refused("bart-1", json!({"encoder_attention_heads": 5})), @"config.json: its sizes make no layer: d_model 24 cannot be divided among 5 heads: 24 = 5 × 4 + 4");
    insta::assert_snapshot!(refused("bart-1", json!({"decoder_layers": null})), @"config.json: there is no decoder_layers, expected a whole number of 1 or more");
    insta::assert_snapshot!(refused("bart-1", json!({"activation_function": "mish"})), @r#"config.json: activation_function is "mish", expected gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, silu, swish or relu"#);
    insta::assert_snapshot!(refused("bart-1", json!({"normalize_before": true})), @"config.json: normalize_before is true, expected false, as this family is computed");
    insta::assert_snapshot!(refused("bart-1", json!({"normalize_embedding": false})), @"config.json: normalize_embedding is false, expected true, as this family is computed");
    insta::assert_snapshot!(refused("bart-1", json!({"add_final_layer_norm": true})), @"config.json: add_final_layer_norm is true, expected false, as this family is computed");
    insta::assert_snapshot!(refused("bart-1", json!({"static_position_embeddings": true})), @"config.json: static_position_embeddings is true, expected false, as this family is computed");
    insta::assert_snapshot!(refused("bart-1", json!({"extra_pos_embeddings": 0})), @"config.json: extra_pos_embeddings is 0, expected 2, the rows before the first token");
    insta::assert_snapshot!(refused("bart-1", json!({"scale_embedding": "yes"})), @r#"config.json: scale_embedding is "yes", expected true or false"#);
    insta::assert_snapshot!(refused("bart-1", json!({"adapter_size": 8})), @"config.json: adapter_size is 8: a key that is not known here, and may change what the model computes: take it out if it does not");
    insta::assert_snapshot!(refused("bart-1", json!({"num_hidden_layers": 3})), @"config.json: num_hidden_layers is 3, expected what the family's own key says of the same");
    insta::assert_snapshot!(refused("marian-1", json!({"static_position_embeddings": false})), @"config.json: static_position_embeddings is false, expected true, as this family is computed");
    insta::assert_snapshot!(refused("marian-1", json!({"normalize_embedding": true})), @"config.json: normalize_embedding is true, expected false, as this family is computed");
    insta::assert_snapshot!(refused("marian-1", json!({"decoder_vocab_size": 90})), @"config.json: decoder_vocab_size is 90, expected vocab_size, since share_encoder_decoder_embeddings is true");
    insta::assert_snapshot!(refused("t5-1", json!({"feed_forward_proj": "gated-mish"})), @r#"config.json: feed_forward_proj is "gated-mish", expected gelu, gelu_new, silu, swish or relu, or one of them behind "gated-""#);
    insta::assert_snapshot!(refused("t5-1", json!({"feed_forward_proj": "sparse-relu"})), @r#"config.json: feed_forward_proj is "sparse-relu", expected gelu, gelu_new, silu, swish or relu, or one of them behind "gated-""#);
    insta::assert_snapshot!(refused("t5-1", json!({"is_gated_act": false})), @"config.json: is_gated_act is false, expected what feed_forward_proj says");
    insta::assert_snapshot!(refused("t5-1", json!({"dense_act_fn": "relu"})), @r#"config.json: dense_act_fn is "relu", expected what feed_forward_proj says"#);
    insta::assert_snapshot!(refused("t5-1", json!({"relative_attention_num_buckets": 0})), @"config.json: relative_attention_num_buckets is 0, expected a whole number of 1 or more");
    insta::assert_snapshot!(refused("t5-1", json!({"d_kv": null})), @"config.json: there is no d_kv, expected a whole number of 1 or more");
    insta::assert_snapshot!(refused("t5-1", json!({"scalable_attention": true})), @"config.json: scalable_attention is true: a key that is not known here, and may change what the model computes: take it out if it does not");
    insta::assert_snapshot!(refused("t5-1", json!({"layer_norm_epsilon": -1})), @"config.json: layer_norm_epsilon is -1, expected a number of 0 or more");
}

#[test]
fn tensors_that_do_not_fit_are_refused_by_name() {
    let without = |out: &'static str| {
        move |name: &str| if name == out { Vec::new() } else { same(name) }
    };
    let of =
        |name, changes, out| read(&rewritten(name, &changes, without(out))).unwrap_err();
    let short =
        |text: String| text.split("; there is").next().unwrap_or_default().to_owned();
    insta::assert_snapshot!(of("t5-1", json!({"num_decoder_layers": 2}), ""), @"FOLDER/model.safetensors: it has tensors of 3 layers, and its config.json says 2");
    insta::assert_snapshot!(of("t5-1", json!({"relative_attention_max_distance": 2}), ""), @"8 buckets, of which 2 of a direction are of one distance each, for distances to 2: a direction needs 2 buckets, and distances beyond those");
    insta::assert_snapshot!(of("t5-1", json!({"relative_attention_num_buckets": 9}), ""), @"FOLDER/model.safetensors: encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight has shape (8, 4), expected (9, 4)");
    insta::assert_snapshot!(short(of("t5-1", json!({"feed_forward_proj": "relu", "is_gated_act": null, "dense_act_fn": null}), "")), @"FOLDER/model.safetensors: no tensor encoder.block.0.layer.1.DenseReluDense.wi.weight");
    insta::assert_snapshot!(short(of("t5-1", json!({}), "shared.weight")), @"FOLDER/model.safetensors: no tensor shared.weight");
    insta::assert_snapshot!(short(of("bart-1", json!({"model_type": "mbart"}), "")), @"FOLDER/model.safetensors: no tensor model.encoder.layer_norm.weight");
    insta::assert_snapshot!(of("bart-1", json!({"model_type": "marian"}), ""), @"FOLDER/model.safetensors: model.encoder.embed_positions.weight has shape (66, 24), expected (64, 24)");
    insta::assert_snapshot!(of("bart-1", json!({"max_position_embeddings": 66}), ""), @"FOLDER/model.safetensors: model.encoder.embed_positions.weight has shape (66, 24), expected (68, 24)");
    insta::assert_snapshot!(short(of("marian-1", json!({"share_encoder_decoder_embeddings": false}), "")), @"FOLDER/model.safetensors: no tensor model.encoder.embed_tokens.weight");
}

#[test]
fn texts_that_the_model_cannot_read_are_refused_with_their_numbers() {
    let model: AsRead = Translator::load(model("bart-1")).unwrap();
    let source = Sequence::new(vec![5, 6, 7]);
    let encode = |ids: Vec<usize>| model.encode(&Sequence::new(ids)).unwrap_err();
    insta::assert_snapshot!(encode(vec![3, 97]), @"token 1 has id 97, and the vocabulary has 97 entries, from 0");
    insta::assert_snapshot!(encode(vec![]), @"the number of tokens is 0, and must be at least 1");
    insta::assert_snapshot!(encode(vec![3; 65]), @"the text has 65 tokens, and the model has 64 positions");
    let memory = model.encode(&source).unwrap();
    let decode = |ids: Vec<usize>, source: &Sequence| {
        model.decode(&Sequence::new(ids), memory.out(), source).unwrap_err()
    };
    insta::assert_snapshot!(decode(vec![97], &source), @"token 0 has id 97, and the vocabulary has 97 entries, from 0");
    insta::assert_snapshot!(decode(vec![], &source), @"the number of tokens is 0, and must be at least 1");
    insta::assert_snapshot!(decode(vec![3; 65], &source), @"the text has 65 tokens, and the model has 64 positions");
    let mut padded = Sequence::new(vec![5, 6]);
    padded.is_real[1] = false;
    insta::assert_snapshot!(decode(vec![3], &padded), @"the mask of keys has 2 entries, expected 3");
    let read = model.read_source(&source).unwrap();
    let mut caches = model.caches();
    model.decode_cached(&[3; 64], &read, &mut caches).unwrap();
    let mut refused =
        |ids: &[usize]| model.decode_cached(ids, &read, &mut caches).unwrap_err();
    insta::assert_snapshot!(refused(&[3]), @"the text has 65 tokens, and the model has 64 positions");
    assert_eq!(caches[0].n_seen(), 64);
    let other: AsRead = Translator::load(super::model("t5-1")).unwrap();
    let of_other = model.decode_cached(&[3], &read, &mut other.caches()).unwrap_err();
    insta::assert_snapshot!(of_other, @"the keys of a cache has shape (0, 20), expected (0, 24)");
}
