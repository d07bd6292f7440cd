//! What is refused of the tiny models' folders, by its name and with its numbers.

use serde_json::{Value, json};

use super::{read, refused, rewritten};
use crate::{Config, Model, ModelFiles, decoders, encoders, translators};

/// A tiny model, settings that change it, and what is wrong with it then.
const SETTINGS: &str = r#"
bert-1 {"hidden_size": null} => there is no hidden_size, expected a whole number of 1 or more
distilbert-1 {"n_heads": 0} => n_heads is 0, expected a whole number of 1 or more
bert-1 {"hidden_size": -24} => hidden_size is -24, expected a whole number of 1 or more
bert-1 {"num_attention_heads": 5} => its sizes make no layer: d_model 24 cannot be divided among 5 heads: 24 = 5 × 4 + 4
electra-1 {"hidden_act": "mish"} => hidden_act is "mish", expected gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, silu, swish or relu
bert-1 {"is_decoder": true} => is_decoder is true, expected false: decoders are left out
bert-1 {"pruned_heads": {"1": [0]}} => pruned_heads is {"1":[0]}, expected none: every layer has all its heads
bert-1 {"position_embedding_type": "relative_key"} => position_embedding_type is "relative_key", expected "absolute"
bert-1 {"is_causal": true} => is_causal is true, expected false: every token reads every other
roberta-1 {"pad_token_id": 18446744073709551615} => pad_token_id is 18446744073709551615, expected a number below max_position_embeddings
bert-1 {"num_hidden_layers": 1000000000} => num_hidden_layers is 1000000000, expected a number that a model can have
bert-1 {"rotary_value": 2} => rotary_value is 2: a key that is not known here, and may change what the model computes: take it out if it does not
bert-1 {"quantization_config": {"quant_method": "bitsandbytes"}} => quantization_config is {"quant_method":"bitsandbytes"}: the weights are quantised, which is not read here: save them dequantised
bert-1 {"auto_map": {"AutoModel": "modeling.X"}} => auto_map is {"AutoModel":"modeling.X"}: the model is computed by a program of its own, which is not run here
llama-1 {"num_key_value_heads": 3} => its sizes make no layer: 4 query heads cannot be shared out among 3 heads of keys and values: 4 = 3 × 1 + 1
llama-1 {"num_key_value_heads": 0} => num_key_value_heads is 0, expected a whole number of 1 or more
gpt2-1 {"n_head": 5} => its sizes make no layer: d_model 24 cannot be divided among 5 heads: 24 = 5 × 4 + 4
gpt2-1 {"scale_attn_by_inverse_layer_idx": true} => scale_attn_by_inverse_layer_idx is true, expected false
mistral-1 {"sliding_window": 0} => sliding_window is 0, expected a whole number of 1 or more
gemma2-1 {"layer_types": ["full_attention"]} => layer_types is ["full_attention"], expected a list with "sliding_attention" or "full_attention" for each layer
gemma2-1 {"layer_types": ["chunked_attention", "full_attention", "full_attention"]} => layer_types is ["chunked_attention","full_attention","full_attention"], expected a list with "sliding_attention" or "full_attention" for each layer
gemma2-1 {"attn_logit_softcapping": -1.0} => attn_logit_softcapping is -1.0, expected a number above 0
llama-1 {"rope_parameters": {"rope_type": "yarn"}} => there is no rope_parameters.factor, expected a number above 0
llama-1 {"rope_parameters": {"rope_type": "linear"}} => there is no rope_parameters.factor, expected a number above 0
llama-1 {"vocab_size": 0} => vocab_size is 0, expected a whole number of 1 or more
llama-1 {"hidden_act": "swiglu"} => hidden_act is "swiglu", expected gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, silu, swish or relu
llama-1 {"eos_token_id": -1} => eos_token_id is -1, expected an id, or a list of ids
llama-1 {"logit_scale": 0.0625} => logit_scale is 0.0625: a key that is not known here, and may change what the model computes: take it out if it does not
llama-1 {"num_local_experts": 8} => num_local_experts is 8: one feed-forward layer for all tokens is computed
llama-1 {"is_causal": false} => is_causal is false, expected true: tokens read those before them
llama-1 {"sliding_window": 4096} => sliding_window is 4096: this family has no windows here
llama-1 {"rope_parameters": {"rope_type": "default", "mrope_section": [1]}} => rope_parameters.mrope_section is [1]: a key that is not known here, and may change what the model computes: take it out if it does not
gemma3_text-1 {"attn_logit_softcapping": 50.0} => attn_logit_softcapping is 50.0, expected null: no cap on scores
mistral-1 {"layer_types": ["full_attention", "full_attention", "full_attention"]} => layer_types is ["full_attention","full_attention","full_attention"], expected the same for all layers, as sliding_window says
llama-1 {"rope_parameters": {"rope_theta": 500000.0, "rope_type": "default"}, "rope_scaling": {"rope_type": "linear", "factor": 4.0}} => rope_scaling is {"factor":4.0,"rope_type":"linear"}, expected what keeps the base: it replaces rope_parameters, which has another rope_theta
llama-1 {"rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}, "rope_theta": 500.0} => rope_theta is 500.0, expected what another key says of the same
llama-1 {"rope_scaling": [{"rope_type": "linear", "factor": 4.0}]} => rope_scaling is [{"factor":4.0,"rope_type":"linear"}], expected an object
llama-1 {"rope_parameters": {"rope_type": "default", "type": "yarn"}} => rope_parameters.type is "yarn", expected what rope_type says
llama-1 {"rope_parameters": {"partial_rotary_factor": 0.5}} => rope_parameters.partial_rotary_factor is 0.5, expected 1: whole heads of an even number of entries are rotated
gpt_neox-1 {"rope_parameters": {"partial_rotary_factor": 1000000000.0}} => rope_parameters.partial_rotary_factor is 1000000000.0, expected a share of a head that is two entries or more, and not all
gpt2-1 {"num_attention_heads": 2} => num_attention_heads is 2, expected what the family's own key says of the same
llama-1 {"num_hidden_layers": 1000000000} => num_hidden_layers is 1000000000, expected a number that a model can have
gpt2-1 {"n_layer": 4611686018427387904} => n_layer is 4611686018427387904, expected a number that a model can have
llama-1 {"head_dim": 1099511627776} => head_dim is 1099511627776, expected what makes heads of a width that a model can have
gemma3_text-1 {"head_dim": 1099511627776} => head_dim is 1099511627776, expected an even number that a head can have
bart-1 {"is_encoder_decoder": false} => is_encoder_decoder is false, expected true
bart-1 {"encoder_attention_heads": 5} => its sizes make no layer: d_model 24 cannot be divided among 5 heads: 24 = 5 × 4 + 4
bart-1 {"decoder_layers": null} => there is no decoder_layers, expected a whole number of 1 or more
bart-1 {"activation_function": "mish"} => activation_function is "mish", expected gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, silu, swish or relu
bart-1 {"normalize_before": true} => normalize_before is true, expected false, as this family is computed
bart-1 {"normalize_embedding": false} => normalize_embedding is false, expected true, as this family is computed
bart-1 {"add_final_layer_norm": true} => add_final_layer_norm is true, expected false, as this family is computed
bart-1 {"static_position_embeddings": true} => static_position_embeddings is true, expected false, as this family is computed
bart-1 {"extra_pos_embeddings": 0} => extra_pos_embeddings is 0, expected 2, the rows before the first token
bart-1 {"scale_embedding": "yes"} => scale_embedding is "yes", expected true or false
bart-1 {"adapter_size": 8} => adapter_size is 8: a key that is not known here, and may change what the model computes: take it out if it does not
bart-1 {"num_hidden_layers": 3} => num_hidden_layers is 3, expected what the family's own key says of the same
mbart-1 {"normalize_before": false} => normalize_before is false, expected true, as this family is computed
marian-1 {"static_position_embeddings": false} => static_position_embeddings is false, expected true, as this family is computed
marian-1 {"normalize_embedding": true} => normalize_embedding is true, expected false, as this family is computed
marian-1 {"decoder_vocab_size": 90} => decoder_vocab_size is 90, expected vocab_size, since share_encoder_decoder_embeddings is true
t5-1 {"feed_forward_proj": "gated-mish"} => feed_forward_proj is "gated-mish", expected gelu, gelu_new, silu, swish or relu, or one of them behind "gated-"
t5-1 {"feed_forward_proj": "sparse-relu"} => feed_forward_proj is "sparse-relu", expected gelu, gelu_new, silu, swish or relu, or one of them behind "gated-"
t5-1 {"is_gated_act": false} => is_gated_act is false, expected what feed_forward_proj says
t5-1 {"dense_act_fn": "relu"} => dense_act_fn is "relu", expected what feed_forward_proj says
t5-1 {"relative_attention_num_buckets": 0} => relative_attention_num_buckets is 0, expected a whole number of 1 or more
t5-1 {"d_kv": null} => there is no d_kv, expected a whole number of 1 or more
t5-1 {"scalable_attention": true} => scalable_attention is true: a key that is not known here, and may change what the model computes: take it out if it does not
t5-1 {"layer_norm_epsilon": -1} => layer_norm_epsilon is -1, expected a number of 0 or more
llama-1 {"rope_parameters": {"rope_type": "longrope", "factor": 2.0}} => rope_parameters.rope_type is "longrope", expected "default", "linear", "dynamic", "llama3" or "yarn"
llama-1 {"rope_parameters": {"type": "su"}} => rope_parameters.type is "su", expected "default", "linear", "dynamic", "llama3" or "yarn"
llama-1 {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "beta_fast": 32}} => rope_parameters.beta_fast is 32: a key that is not known here, and may change what the model computes: take it out if it does not
llama-1 {"rope_parameters": {"rope_type": "dynamic", "factor": "2"}} => rope_parameters.factor is "2", expected a number above 0
llama-1 {"rope_parameters": {"full_attention": {"rope_type": "default"}}} => rope_parameters.full_attention is {"rope_type":"default"}: a key that is not known here, and may change what the model computes: take it out if it does not
"#;

/// The same of the weights, also without a tensor.
const TENSORS: &str = r#"
bert-1 {} -encoder.layer.2.output.dense.bias => no tensor encoder.layer.2.output.dense.bias
bert-1 {"vocab_size": 98} => embeddings.word_embeddings.weight has shape (97, 24), expected (98, 24)
bert-1 {"num_hidden_layers": 2} => it has tensors of 3 layers, and its config.json says 2
llama-1 {} -model.layers.2.mlp.up_proj.weight => no tensor model.layers.2.mlp.up_proj.weight
llama-1 {"num_key_value_heads": 4} => model.layers.0.self_attn.k_proj.weight has shape (12, 24), expected (24, 24)
gpt2-1 {"n_positions": 65} => transformer.wpe.weight has shape (64, 24), expected (65, 24)
llama-1 {"num_hidden_layers": 2} => it has tensors of 3 layers, and its config.json says 2
llama-1 {"num_hidden_layers": 4} => it has tensors of 3 layers, and its config.json says 4
t5-1 {"num_decoder_layers": 2} => it has tensors of 3 layers, and its config.json says 2
t5-1 {"relative_attention_num_buckets": 9} => encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight has shape (8, 4), expected (9, 4)
t5-1 {"feed_forward_proj": "relu", "is_gated_act": null, "dense_act_fn": null} => no tensor encoder.block.0.layer.1.DenseReluDense.wi.weight
t5-1 {} -shared.weight => no tensor shared.weight
bart-1 {"model_type": "mbart"} => no tensor model.encoder.layer_norm.weight
bart-1 {"model_type": "marian"} => model.encoder.embed_positions.weight has shape (66, 24), expected (64, 24)
bart-1 {"max_position_embeddings": 66} => model.encoder.embed_positions.weight has shape (66, 24), expected (68, 24)
marian-1 {"share_encoder_decoder_embeddings": false} => no tensor model.encoder.embed_tokens.weight
"#;

/// The model of each line of a table, the changes, and the error.
fn cases(table: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    table.trim().lines().map(|line| {
        let (case, error) = line.split_once(" => ").unwrap();
        let (name, changes) = case.split_once(' ').unwrap();
        (name, changes, error)
    })
}

#[test]
fn a_config_that_makes_no_model_or_another_is_refused_with_its_numbers() {
    for (name, changes, error) in cases(SETTINGS) {
        let changes: Value = serde_json::from_str(changes).unwrap();
        assert_eq!(refused::<Config>(name, changes), format!("config.json: {error}"));
    }
}

#[test]
fn another_family_is_refused_with_the_names_of_those_that_are_known() {
    let family = |name: &str| json!({"model_type": name});
    let missing = || json!({"model_type": null});
    insta::assert_snapshot!(refused::<Config>("t5-1", family("mt5")), @r#"config.json: model_type is "mt5"; the known ones are bert, roberta, xlm-roberta, camembert, electra, distilbert, gpt2, gpt_neox, llama, mistral, qwen2, qwen3, gemma2, gemma3_text, marian, bart, mbart, t5"#);
    insta::assert_snapshot!(refused::<encoders::Config>("bert-1", family("gpt2")), @r#"config.json: model_type is "gpt2"; the known ones are bert, roberta, xlm-roberta, camembert, electra, distilbert"#);
    insta::assert_snapshot!(refused::<encoders::Config>("bert-1", missing()), @"config.json: model_type is missing; the known ones are bert, roberta, xlm-roberta, camembert, electra, distilbert");
    insta::assert_snapshot!(refused::<decoders::Config>("gpt2-1", family("bert")), @r#"config.json: model_type is "bert"; the known ones are gpt2, gpt_neox, llama, mistral, qwen2, qwen3, gemma2, gemma3_text"#);
    insta::assert_snapshot!(refused::<decoders::Config>("llama-1", missing()), @"config.json: model_type is missing; the known ones are gpt2, gpt_neox, llama, mistral, qwen2, qwen3, gemma2, gemma3_text");
    insta::assert_snapshot!(refused::<translators::Config>("t5-1", family("mt5")), @r#"config.json: model_type is "mt5"; the known ones are marian, bart, mbart, t5"#);
}

#[test]
fn tensors_that_do_not_fit_are_named() {
    for (name, changes, error) in cases(TENSORS) {
        let (changes, without) = changes.split_once(" -").unwrap_or((changes, ""));
        let changes = serde_json::from_str(changes).unwrap();
        let folder = rewritten(name, &changes, |it| {
            (it != without).then(|| (it.to_string(), 1.0))
        });
        let found = read(&folder, |path| {
            let files = ModelFiles::open(path)?;
            Model::read(&files, Clone::clone, decoders::AsRead::<f32>::read)
        });
        let found = found.unwrap_err();
        let found = found.split("; there is").next().unwrap();
        assert_eq!(found, format!("FOLDER/model.safetensors: {error}"), "{name}");
    }
}
