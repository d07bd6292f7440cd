//! Names beside a layer, and what they mean: one list for all that read a layer.

use super::Use::{Harmless, Refused, Used};
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

pub(crate) const GRADIENT: Use = Harmless("a gradient");
pub(crate) const OTHER: Use = Harmless("no part of this layer's attention");
pub(crate) const BEHIND: Use =
    Harmless("the norm behind the layer's attention: no part of it");
pub(crate) const APPENDED: Use = Refused(
    "made with add_bias_kv=True or the like, this layer appends a learned key and value to \
     every sequence, which is not computed here",
);
pub(crate) const ROTATION: Use = Refused(
    "a table of rotary positions: this layer rotates queries and keys, which is not computed here",
);
const GATES: Use = Refused(
    "gates or scales of heads or of what attention puts out, which is not computed here",
);

/// What changes attention wherever in the file it stands.
const ANYWHERE: &[Rule] = rules! {
    "*rotary* *inv_freq* *freqs* *rope* *cos_cached* *sin_cached*" => ROTATION,
    "*relative* *rel_pos* *rel_embeddings* *distance_embedding* *position_bias* \
        *pos_bias* *alibi* *slopes* *position_embedding_type*"
        => Refused("a table of relative positions: this layer adds to its scores by \
            distance, which is not computed here"),
    "*attention_gate* *attn_gate* *gate_attn* *gate_attention* *head_gate* *gate_head* \
        *head_scale* *attn_scale* *attention_scale* *attn_temp* *attention_temp* \
        *talking_heads*"
        => GATES,
    "*attn_sink* *attention_sink*" => APPENDED,
};

/// Weights in another form, or a part of them.
const FORMS: &[Rule] = rules! {
    "*lora_* *base_layer* *adapter*"
        => Refused("an adapter (LoRA) is not merged: it is added to a weight, so merge \
            it into the weight before saving"),
    "*SCB *absmax *quant_state* *quant_map *weight_format"
        => Refused("the weights beside it are quantised by bitsandbytes: save the \
            layer in floats"),
    "*weight_scale* *qweight *qzeros *g_idx *scales *quant*"
        => Refused("the weights beside it are quantised (by GPTQ, AWQ or the like): \
            save the layer in floats"),
    "*_orig *weight_mask *weight_g *weight_v *parametrizations*"
        => Refused("a weight is kept as parts (pruning, a norm of weights): save it as \
            one tensor"),
};

const MODULE: &[Rule] = rules! {
    "*norm*"
        => Refused("queries or keys have a norm of their own in this layer, which is \
            not computed here"),
    "gate*" => GATES,
};

/// Modules beside a layer whose own names begin with nothing: those of the model that it is
/// the attention of.
const BESIDE: &[Rule] = rules! {
    "head.* lm_head.* cls.* classifier.* pooler.* fc.* fc#.* linear.* linear#.* mlp.* \
        ffn.* feed_forward.* embedding.* embeddings.* embed.* embed_tokens.* \
        pos_embed.* pos_embedding.* encoder.* decoder.* layers.* blocks.*"
        => OTHER,
};

/// The names that what goes into a layer may have.
const INPUTS: &[Rule] = rules! {
    "query key value" => Used,
    "grad.* */grad.*" => GRADIENT,
    "head_mask layer_head_mask"
        => Refused("heads are weighted or removed by it, which is not done here"),
    "*attention_mask"
        => Refused("transformers' mask, where 1 or True is what may be attended to, or \
            a mask under another name: give key_padding_mask or attn_mask, in which \
            True is blocked"),
    "*dropout_mask*"
        => Refused("weights are dropped by it, as in training, which is not done here: \
            save the layer's input in eval()"),
    "*mask* padding"
        => Refused("a mask by a name that does not say what True means: give \
            key_padding_mask, (batch, n_kv), or attn_mask, (n_q, n_kv), in which True \
            is blocked"),
    "*attn_bias *attention_bias *position_bias"
        => Refused("added to the scores by its name: give it as attn_mask, (n_q, n_kv) \
            or (batch · heads, n_q, n_kv), in floats"),
    "f32/* f64/*" => Harmless("of another precision: the names that are used have no /"),
    "output out attn attn_heads attn_output attn_weights attn_output_weights hidden.# \
        attn.# expected expected_output expected_attn"
        => Harmless("what a layer gave, not what it gets"),
    "cotangent" => Harmless("what a backward pass begins with"),
    "grad grad_output grad_query grad_key grad_value" => GRADIENT,
    "need_weights" => Harmless("maps are written in any case"),
    "average_attn_weights" => Harmless("maps are written per head"),
    "dropout dropout_p" => Harmless("dropout is for training alone"),
    "is_causal causal" => Refused("whether no query sees the future is said by --causal"),
    "*position* *rotary* *freqs* *inv_freq cos sin"
        => Refused("positions or rotations, which are not read by this name"),
    "past* cache*"
        => Refused("keys and values of earlier tokens: put them into key and value"),
    "*bias_k *bias_v"
        => Refused("a key or value that is appended to every sequence, which is not \
            computed here"),
    "*lengths length *seqlen* *seqlens*"
        => Refused("how many tokens are real: say it as key_padding_mask, (batch, \
            n_kv), True = padding"),
};
