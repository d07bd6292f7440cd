//! What a file with a layer may hold beside it.
//!
//! A module owns its parameters, so what lies in the layer's own module is on a list, or the
//! layer is another than the one that is computed here. What lies outside belongs to other
//! layers, but for the few tables that a whole model shares.

use super::{FoundLayer, Naming};
use crate::{Result, Rule, TensorFile, Unused, Use, first_rule, says_no};

const BEHIND: Use = Use::Harmless("the norm behind the layer's attention: no part of it");
const OTHER: Use = Use::Harmless("no part of this layer's attention");
const GRADIENT: Use = Use::Harmless("a gradient");
const ROTATION: Use = Use::Refused(
    "a table of rotary positions: this layer rotates queries and keys, which no stage here \
     does",
);
const RELATIVE: Use = Use::Refused(
    "a table of relative positions: this layer adds to its scores by distance, which no \
     stage here does",
);
const QUANTISED: Use = Use::Refused(
    "the weights beside it are quantised (by bitsandbytes, GPTQ, AWQ or the like): save the \
     layer in floats",
);
const ADAPTER: Use = Use::Refused(
    "an adapter (LoRA) is added to a weight: merge it into the weight before saving",
);
const PARTS: Use = Use::Refused(
    "a weight is kept as parts (pruning, a norm of weights): save it as one tensor",
);
const APPENDED: Use = Use::Refused(
    "made with add_bias_kv=True, this layer appends a learned key and value to every \
     sequence, which no stage here does",
);
const NORM: Use = Use::Refused(
    "queries or keys have a norm of their own in this layer, which no stage here has",
);

/// What changes attention wherever in the file it stands.
const ANYWHERE: &[Rule] = &[
    Rule("*rotary*", ROTATION),
    Rule("*inv_freq*", ROTATION),
    Rule("*freqs*", ROTATION),
    Rule("*rope*", ROTATION),
    Rule("*cos_cached*", ROTATION),
    Rule("*sin_cached*", ROTATION),
    Rule("*relative*", RELATIVE),
    Rule("*rel_pos*", RELATIVE),
    Rule("*rel_embeddings*", RELATIVE),
    Rule("*distance_embedding*", RELATIVE),
    Rule("*position_bias*", RELATIVE),
    Rule("*pos_bias*", RELATIVE),
    Rule("*alibi*", RELATIVE),
    Rule("*slopes*", RELATIVE),
];

/// What is read, and what is refused by its meaning, in the layer's own module.
const PYTORCH: &[Rule] = &[
    Rule("in_proj_weight", Use::Used),
    Rule("q_proj_weight", Use::Used),
    Rule("k_proj_weight", Use::Used),
    Rule("v_proj_weight", Use::Used),
    Rule("in_proj_bias", Use::Used),
    Rule("out_proj.weight", Use::Used),
    Rule("out_proj.bias", Use::Used),
    Rule("bias_k", APPENDED),
    Rule("bias_v", APPENDED),
];

const BERT: &[Rule] = &[
    Rule("attention.self.query.weight", Use::Used),
    Rule("attention.self.query.bias", Use::Used),
    Rule("attention.self.key.weight", Use::Used),
    Rule("attention.self.key.bias", Use::Used),
    Rule("attention.self.value.weight", Use::Used),
    Rule("attention.self.value.bias", Use::Used),
    Rule("attention.output.dense.weight", Use::Used),
    Rule("attention.output.dense.bias", Use::Used),
    // Also LayerNorm.gamma and .beta, of old files.
    Rule("attention.output.LayerNorm.*", BEHIND),
    // ESM's stands before attention, and what `attend` gets is behind it.
    Rule("attention.LayerNorm.*", Use::Harmless("the norm before the layer's attention")),
];

const MODULE: &[Rule] = &[
    Rule("*lora_*", ADAPTER),
    Rule("*base_layer*", ADAPTER),
    Rule("*adapter*", ADAPTER),
    Rule("*weight_scale*", QUANTISED),
    Rule("*absmax*", QUANTISED),
    Rule("*quant*", QUANTISED),
    Rule("*SCB", QUANTISED),
    Rule("*qzeros", QUANTISED),
    Rule("*scales", QUANTISED),
    Rule("*_orig", PARTS),
    Rule("*weight_mask", PARTS),
    Rule("*weight_g", PARTS),
    Rule("*weight_v", PARTS),
    Rule("*parametrizations*", PARTS),
    Rule("*norm*", NORM),
];

/// What a file's metadata may say of its layer.
const METADATA: &[(&str, &str)] = &[
    ("add_bias_kv", "and no stage here appends a learned key and value"),
    ("add_zero_attn", "and no stage here appends a key and value of zeros"),
    ("scale", "and scores are divided by √d_k here"),
    ("softcap", "and scores have no bound here"),
    ("logit_softcap", "and scores have no bound here"),
    ("attn_logit_softcapping", "and scores have no bound here"),
    ("rotary", "and queries and keys are not rotated here"),
    ("rope_theta", "and queries and keys are not rotated here"),
    ("alibi", "and nothing is added by distance here"),
    ("sliding_window", "and no window is kept here"),
    ("num_kv_heads", "and each head has its own keys and values here"),
    ("num_key_value_heads", "and each head has its own keys and values here"),
    ("quantization", "and weights are read as they are"),
    ("quantization_config", "and weights are read as they are"),
];

const N_HEADS: &[(&str, &str)] = &[
    ("num_heads", "and the number of heads that was asked for is another"),
    ("n_heads", "and the number of heads that was asked for is another"),
    ("num_attention_heads", "and the number of heads that was asked for is another"),
];

/// What the file holds beside this layer and changes nothing; what would change it is
/// refused. `is_input` says which names are an input's, where one file holds both.
pub(super) fn unused(
    file: &TensorFile,
    layer: &FoundLayer,
    others: &[FoundLayer],
    n_heads: usize,
    is_input: impl Fn(&str) -> bool,
) -> Result<Vec<Unused>> {
    file.expect_metadata(METADATA, |key, text| {
        let is_all = key.starts_with("num_k") && text.parse() == Ok(n_heads);
        says_no(text) || is_all
    })?;
    file.expect_metadata(N_HEADS, |_, text| text.parse() == Ok(n_heads))?;
    let own = match layer.naming {
        Naming::PyTorch => PYTORCH,
        Naming::Bert => BERT,
    };
    let module = match layer.naming {
        Naming::PyTorch => layer.prefix.clone(),
        Naming::Bert => format!("{}attention.", layer.prefix),
    };
    let is_others = |name: &str| {
        let mut others = others.iter().filter(|other| *other != layer);
        others.any(|other| !other.prefix.is_empty() && name.starts_with(&other.prefix))
    };
    file.expect_known("a layer's file", |name| {
        if name.starts_with("grad.") || name.contains("/grad.") {
            return Some(GRADIENT);
        }
        let local = name.strip_prefix(layer.prefix.as_str());
        if let Some(found) = local.and_then(|local| first_rule(own, local)) {
            return Some(found);
        }
        if !name.starts_with(&module) {
            return Some(match first_rule(ANYWHERE, name) {
                Some(refused) if !is_others(name) => refused,
                _ => OTHER,
            });
        }
        if module.is_empty() && (is_input(name) || is_others(name)) {
            return Some(OTHER);
        }
        let refused = first_rule(ANYWHERE, name).or_else(|| first_rule(MODULE, name));
        // Without a prefix, another module's names begin with its own.
        let is_outside = module.is_empty()
            && name.split_once('.').is_some_and(|(first, _)| !first.ends_with("_proj"));
        refused.or(is_outside.then_some(OTHER))
    })
}
