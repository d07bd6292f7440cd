//! What INPUT may hold, and what of it is used.

use model_files::{Result, Rule, TensorFile, Unused, Use, first_rule, says_no};

const OUTPUT: Use = Use::Harmless("what a layer gave, not what it gets");
const OF_MODEL: Use = Use::Refused(
    "transformers' mask, where 1 or True is what may be attended to, or a mask under another \
     name: give key_padding_mask or attn_mask, in which True is blocked",
);
const UNCLEAR: Use = Use::Refused(
    "a mask by a name that does not say what True means: give key_padding_mask, \
     (batch, n_kv), or attn_mask, (n_q, n_kv), in which True is blocked",
);
const SCORES: Use = Use::Refused(
    "added to the scores by its name: give it as attn_mask, (n_q, n_kv) or \
     (batch · heads, n_q, n_kv), in floats",
);
const POSITIONS: Use = Use::Refused(
    "positions or rotations: a layer of nn.MultiheadAttention or BERT has none, and what \
     uses them is another layer",
);
const CACHE: Use =
    Use::Refused("keys and values of earlier tokens: put them into key and value");
const APPENDED: Use = Use::Refused(
    "a key or value that is appended to every sequence, which no stage here does",
);
const LENGTHS: Use = Use::Refused(
    "how many tokens are real: say it as key_padding_mask, (batch, n_kv), True = padding",
);
const HEADS: Use =
    Use::Refused("heads are weighted or removed by it, which is not done here");
const CAUSAL: Use = Use::Refused("whether no query sees the future is said by --causal");

/// Names of masks in PyTorch's layers, and the mask of `nn.MultiheadAttention` that each is
/// passed on as. True blocks in all of them.
pub const MASKS: [(&str, &[&str]); 2] = [
    (
        "key_padding_mask",
        &[
            "key_padding_mask",
            "src_key_padding_mask",
            "tgt_key_padding_mask",
            "memory_key_padding_mask",
        ],
    ),
    ("attn_mask", &["attn_mask", "src_mask", "tgt_mask", "memory_mask"]),
];

const RULES: &[Rule] = &[
    Rule("query", Use::Used),
    Rule("key", Use::Used),
    Rule("value", Use::Used),
    Rule(
        "*/*",
        Use::Harmless("of another precision or case: the names in use have no /"),
    ),
    Rule("output", OUTPUT),
    Rule("out", OUTPUT),
    Rule("attn", OUTPUT),
    Rule("attn_heads", OUTPUT),
    Rule("attn_output", OUTPUT),
    Rule("attn_weights", OUTPUT),
    Rule("attn_output_weights", OUTPUT),
    Rule("hidden.*", OUTPUT),
    Rule("attn.*", OUTPUT),
    Rule("expected*", OUTPUT),
    Rule("cotangent", Use::Harmless("what a backward pass begins with")),
    Rule("grad*", Use::Harmless("a gradient")),
    Rule("need_weights", Use::Harmless("maps are written in any case")),
    Rule("average_attn_weights", Use::Harmless("maps are written per head")),
    Rule("dropout*", Use::Harmless("dropout is for training alone")),
    Rule("is_causal", CAUSAL),
    Rule("causal", CAUSAL),
    Rule("head_mask", HEADS),
    Rule("layer_head_mask", HEADS),
    Rule("*attention_mask", OF_MODEL),
    Rule("*mask*", UNCLEAR),
    Rule("padding", UNCLEAR),
    Rule("*attn_bias", SCORES),
    Rule("*attention_bias", SCORES),
    Rule("*position_bias", SCORES),
    Rule("*position*", POSITIONS),
    Rule("*rotary*", POSITIONS),
    Rule("*freqs*", POSITIONS),
    Rule("*inv_freq", POSITIONS),
    Rule("cos", POSITIONS),
    Rule("sin", POSITIONS),
    Rule("past*", CACHE),
    Rule("cache*", CACHE),
    Rule("*bias_k", APPENDED),
    Rule("*bias_v", APPENDED),
    Rule("*lengths", LENGTHS),
    Rule("length", LENGTHS),
    Rule("*seqlen*", LENGTHS),
    Rule("*seqlens*", LENGTHS),
];

const METADATA: &[(&str, &str)] = &[
    (
        "batch_first",
        "and the batch is read as the first dimension of query, key and value",
    ),
    ("mask_polarity", "and True in a mask is read as blocked"),
    ("add_bias_kv", "and no stage here appends a learned key and value"),
    ("add_zero_attn", "and no stage here appends a key and value of zeros"),
];

/// What is done with a name of INPUT.
pub fn of_input(name: &str) -> Option<Use> {
    let is_mask = MASKS.iter().any(|(_, names)| names.contains(&name));
    if is_mask { Some(Use::Used) } else { first_rule(RULES, name) }
}

/// What INPUT holds and is not used. Where it is WEIGHTS too (`is_one`), the names of modules
/// are the layer's reader's to answer for.
pub fn unused(file: &TensorFile, is_one: bool) -> Result<Vec<Unused>> {
    let of_layer = Use::Harmless("a layer's or a model's parameter");
    let is_layers = |name: &str| {
        is_one && (name.contains('.') || name.contains("_proj_")) && !name.contains("/")
    };
    file.expect_metadata(METADATA, |key, text| says_no(text) != (key == "batch_first"))?;
    file.expect_known("attend's INPUT", |name| match is_layers(name) {
        true => Some(of_layer),
        false => of_input(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model_files::{NewTensor, to_bytes};

    fn refused(name: &str) -> String {
        let one = attention::Matrix::<f64>::from_element(1, 1, 0.0);
        let tensors =
            ["query", name].map(|name| NewTensor::new(name, &[1, 1], [&one]).unwrap());
        let file =
            TensorFile::from_bytes("some.file", to_bytes(&tensors).unwrap()).unwrap();
        unused(&file, false)
            .map_or_else(|error| error.to_string(), |unused| format!("{unused:?}"))
    }

    #[test]
    fn what_may_change_the_result_is_refused_by_its_meaning() {
        insta::assert_snapshot!(refused("attention_mask"), @"some.file: attention_mask: transformers' mask, where 1 or True is what may be attended to, or a mask under another name: give key_padding_mask or attn_mask, in which True is blocked");
        insta::assert_snapshot!(refused("mask"), @"some.file: mask: a mask by a name that does not say what True means: give key_padding_mask, (batch, n_kv), or attn_mask, (n_q, n_kv), in which True is blocked");
        insta::assert_snapshot!(refused("position_ids"), @"some.file: position_ids: positions or rotations: a layer of nn.MultiheadAttention or BERT has none, and what uses them is another layer");
        insta::assert_snapshot!(refused("lengths"), @"some.file: lengths: how many tokens are real: say it as key_padding_mask, (batch, n_kv), True = padding");
        insta::assert_snapshot!(refused("surprise"), @"some.file: surprise is not known to attend's INPUT, and may change the result: take it out of the file if it does not");
        insta::assert_snapshot!(refused("src_key_padding_mask"), @"[]");
        insta::assert_snapshot!(refused("grad.query"), @r#"[Unused { name: "grad.query", why: "a gradient" }]"#);
    }
}
