//! Names beside a layer, and what they mean: one list for all that read a layer.

use super::{Claim, Rule, Use, first_rule};

/// What changes attention wherever in a file it stands.
pub fn anywhere(name: &str) -> Option<Use> {
    first_rule(ANYWHERE, name)
}

/// Weights in another form than floats, or a part of them.
pub fn in_other_form(name: &str) -> Option<Use> {
    first_rule(FORMS, name)
}

/// What is no weight in a layer's own module, by its name there.
pub fn in_module(local: &str) -> Option<Use> {
    first_rule(MODULE, local)
}

/// What stands beside a layer whose names begin with nothing.
pub fn beside(local: &str) -> Option<Use> {
    first_rule(BESIDE, local)
}

/// What goes into a layer or comes out of it.
pub fn of_input(name: &str) -> Option<Use> {
    first_rule(INPUTS, name)
}

/// Whether metadata says of masks that true blocks.
pub fn is_blocked(claim: &Claim<'_>) -> bool {
    claim.is_one_of(
        "blocked trueblocked trueisblocked trueblocks truemasked truepadding trueispadding \
         1blocked 1padding pytorch",
    )
}

pub(crate) const GRADIENT: Use = Use::Harmless("a gradient");
pub(crate) const OTHER: Use = Use::Harmless("no part of this layer's attention");
pub(crate) const BEHIND: Use =
    Use::Harmless("the norm behind the layer's attention: no part of it");
pub(crate) const APPENDED: Use = Use::Refused(
    "made with add_bias_kv=True or the like, this layer appends a learned key and value to \
     every sequence, which is not computed here",
);
pub(crate) const ROTATION: Use = Use::Refused(
    "a table of rotary positions: this layer rotates queries and keys, which is not computed here",
);
const RELATIVE: Use = Use::Refused(
    "a table of relative positions: this layer adds to its scores by distance, which is not computed here",
);
const BITS_AND_BYTES: Use = Use::Refused(
    "the weights beside it are quantised by bitsandbytes: save the layer in floats",
);
const QUANTISED: Use = Use::Refused(
    "the weights beside it are quantised (by GPTQ, AWQ or the like): save the layer in \
     floats",
);
const GATES: Use = Use::Refused(
    "gates or scales of heads or of what attention puts out, which is not computed here",
);
const ADAPTER: Use = Use::Refused(
    "an adapter (LoRA) is not merged: it is added to a weight, so merge it into the weight \
     before saving",
);
const PARTS: Use = Use::Refused(
    "a weight is kept as parts (pruning, a norm of weights): save it as one tensor",
);
const NORM: Use = Use::Refused(
    "queries or keys have a norm of their own in this layer, which is not computed here",
);

/// What changes attention wherever in the file it stands.
const ANYWHERE: &[Rule] = &[
    Rule("*rotary* *inv_freq* *freqs* *rope* *cos_cached* *sin_cached*", ROTATION),
    Rule(
        "*relative* *rel_pos* *rel_embeddings* *distance_embedding* *position_bias* \
         *pos_bias* *alibi* *slopes* *position_embedding_type*",
        RELATIVE,
    ),
    Rule(
        "*attention_gate* *attn_gate* *gate_attn* *gate_attention* *head_gate* \
         *gate_head* *head_scale* *attn_scale* *attention_scale* *attn_temp* \
         *attention_temp*",
        GATES,
    ),
    Rule("*attn_sink* *attention_sink*", APPENDED),
    Rule("*talking_heads*", GATES),
];

/// Weights in another form, or a part of them.
const FORMS: &[Rule] = &[
    Rule("*lora_* *base_layer* *adapter*", ADAPTER),
    Rule("*SCB *absmax *quant_state* *quant_map *weight_format", BITS_AND_BYTES),
    Rule("*weight_scale* *qweight *qzeros *g_idx *scales *quant*", QUANTISED),
    Rule("*_orig *weight_mask *weight_g *weight_v *parametrizations*", PARTS),
];

const MODULE: &[Rule] = &[Rule("*norm*", NORM), Rule("gate*", GATES)];

/// Modules beside a layer whose own names begin with nothing: those of the model that it is
/// the attention of.
const BESIDE: &[Rule] = &[Rule(
    "head.* lm_head.* cls.* classifier.* pooler.* fc.* fc#.* linear.* linear#.* \
         mlp.* ffn.* feed_forward.* embedding.* embeddings.* embed.* embed_tokens.* \
         pos_embed.* pos_embedding.* encoder.* decoder.* layers.* blocks.*",
    OTHER,
)];

const OUTPUT: Use = Use::Harmless("what a layer gave, not what it gets");
const OF_CASE: Use =
    Use::Harmless("of another precision: the names that are used have no /");
const DROPOUT: Use = Use::Refused(
    "weights are dropped by it, as in training, which is not done here: save the layer's \
     input in eval()",
);
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
const POSITIONS: Use =
    Use::Refused("positions or rotations, which are not read by this name");
const CACHE: Use =
    Use::Refused("keys and values of earlier tokens: put them into key and value");
const APPENDED_INPUT: Use = Use::Refused(
    "a key or value that is appended to every sequence, which is not computed here",
);
const LENGTHS: Use = Use::Refused(
    "how many tokens are real: say it as key_padding_mask, (batch, n_kv), True = padding",
);
const HEADS: Use =
    Use::Refused("heads are weighted or removed by it, which is not done here");
const CAUSAL: Use = Use::Refused("whether no query sees the future is said by --causal");

/// The names that what goes into a layer may have.
const INPUTS: &[Rule] = &[
    Rule("query key value", Use::Used),
    Rule("grad.* */grad.*", GRADIENT),
    Rule("head_mask layer_head_mask", HEADS),
    Rule("*attention_mask", OF_MODEL),
    Rule("*dropout_mask*", DROPOUT),
    Rule("*mask*", UNCLEAR),
    Rule("*attn_bias *attention_bias *position_bias", SCORES),
    Rule("f32/* f64/*", OF_CASE),
    Rule(
        "output out attn attn_heads attn_output attn_weights attn_output_weights \
         hidden.# attn.# expected expected_output expected_attn",
        OUTPUT,
    ),
    Rule("cotangent", Use::Harmless("what a backward pass begins with")),
    Rule("grad grad_output grad_query grad_key grad_value", GRADIENT),
    Rule("need_weights", Use::Harmless("maps are written in any case")),
    Rule("average_attn_weights", Use::Harmless("maps are written per head")),
    Rule("dropout dropout_p", Use::Harmless("dropout is for training alone")),
    Rule("is_causal causal", CAUSAL),
    Rule("padding", UNCLEAR),
    Rule("*position* *rotary* *freqs* *inv_freq cos sin", POSITIONS),
    Rule("past* cache*", CACHE),
    Rule("*bias_k *bias_v", APPENDED_INPUT),
    Rule("*lengths length *seqlen* *seqlens*", LENGTHS),
];
