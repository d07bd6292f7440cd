//! What an INPUT of a model may hold beside its ids.

use crate::{Claim, Fact, Rule, Use};

const OUTPUT: Use = Use::Harmless("what a model gave, not what it gets");
const FOR_TRAINING: Use = Use::Harmless("what a loss compares with; no layer reads it");
const OF_TOKENIZER: Use =
    Use::Harmless("a tokenizer's note on the text; no model reads it");
const PADDING: Use = Use::Refused(
    "PyTorch's mask of padding, True = blocked: a model's INPUT says the same as \
     attention_mask, 1 = real and 0 = padding",
);
const SCORES: Use = Use::Refused(
    "a mask of queries and keys, or without a name that says which value blocks: a model's \
     INPUT has attention_mask, 1 = real and 0 = padding",
);
const CROSS: Use = Use::Refused(
    "part of what an encoder with a decoder gets, and this model has no attention to \
     another text",
);
const VECTORS: Use =
    Use::Refused("embeddings where input_ids would be: ids are read here");
const CACHE: Use = Use::Refused(
    "keys and values of tokens before these: texts are read from their start",
);
const HEADS: Use =
    Use::Refused("heads are weighted or removed by it, which is not done here");
const TYPES: Use =
    Use::Refused("types of tokens under another name: call it token_type_ids");
const LANGUAGES: Use =
    Use::Refused("embeddings of languages are added by it, which are not known here");
const LENGTHS: Use = Use::Refused(
    "how many tokens are real: say it as attention_mask, 1 = real, 0 = padding",
);

pub(super) const RULES: &[Rule] = &[
    Rule("input_ids attention_mask token_type_ids position_ids", Use::Used),
    Rule(
        "hidden.# hidden_states.# last_hidden_state pooler_output sentence_embedding \
         attn.# attentions.# logits logits.# out output loss cross.#",
        OUTPUT,
    ),
    Rule("labels label next_sentence_label start_positions end_positions", FOR_TRAINING),
    Rule(
        "special_tokens_mask offset_mapping overflow_to_sample_mapping word_ids",
        OF_TOKENIZER,
    ),
    Rule("decoder_* encoder_* cross_attn_head_mask", CROSS),
    Rule("*key_padding_mask *padding_mask", PADDING),
    Rule("*head_mask", HEADS),
    Rule("*mask *attention_bias *attn_bias position_bias", SCORES),
    Rule("*inputs_embeds", VECTORS),
    Rule("past* cache*", CACHE),
    Rule("segment_ids token_types token_type type_ids", TYPES),
    Rule("langs lang_ids", LANGUAGES),
    Rule("length lengths", LENGTHS),
    Rule(
        "positions pos_ids",
        Use::Refused("positions under another name: call it position_ids"),
    ),
];

/// What an INPUT of a model with two sides may hold, before what any may.
pub(super) const PAIRS: &[Rule] = &[
    Rule("input_ids attention_mask decoder_input_ids decoder_attention_mask", Use::Used),
    Rule(
        "encoder.hidden.# encoder.attn.# decoder.hidden.# decoder.attn.# \
         encoder_hidden_states.# decoder_hidden_states.# encoder_attentions.# \
         decoder_attentions.# cross_attentions.# encoder_last_hidden_state",
        OUTPUT,
    ),
    Rule("encoder_outputs* encoder_hidden_states", MEMORY),
    Rule("token_type_ids", Use::Refused("types of tokens, which this model has not")),
    Rule(
        "position_ids *position_ids",
        Use::Refused("positions are counted in this model"),
    ),
];

const MEMORY: Use =
    Use::Refused("what an encoder gave: both sides are computed here, from input_ids");

/// Whether a file's metadata says how its tensors are read; what a model is, is said by its
/// settings.
pub(super) fn is_so(claim: &Claim<'_>, is_causal: bool) -> Option<bool> {
    const REAL: &str = "1real 1isreal 1real0padding 1realpad0 1attended truereal";
    match claim.fact {
        Fact::Mask => Some(claim.is_usual() || claim.is_one_of(REAL)),
        Fact::Causal => Some(claim.is_flag(is_causal)),
        Fact::Bidirectional => Some(claim.is_flag(!is_causal)),
        Fact::BatchFirst
        | Fact::TimeFirst
        | Fact::Scale
        | Fact::Scores
        | Fact::SoftCap
        | Fact::Window
        | Fact::Positions
        | Fact::AppendedKeys
        | Fact::Pruned
        | Fact::Lengths
        | Fact::Reversed
        | Fact::Transposed => Some(claim.is_usual()),
        _ => None,
    }
}
