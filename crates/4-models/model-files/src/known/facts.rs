//! What a text of metadata can say of a model: one list, for every reader.

/// Each fact, the words by which a key says something of it, and what another fact would
/// change, behind the key and its text.
macro_rules! facts {
    ($($fact:ident: $words:literal => $why:literal,)*) => {
        /// What a key of metadata says something of, where a model of another kind would
        /// compute something else.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // the names are the field's
        pub enum Fact {
            $($fact,)*
        }

        const FACTS: &[(Fact, &str)] = &[$((Fact::$fact, $words)),*];

        impl Fact {
            /// What another fact would change.
            pub(super) fn why(self) -> &'static str {
                match self {
                    $(Self::$fact => $why,)*
                }
            }
        }
    };
}

/// What a key says something of, by its words.
pub(super) fn fact(key: &str) -> Option<Fact> {
    let words = words(key);
    let fits = |patterns: &str| patterns.split(' ').any(|one| is_in(one, &words));
    if fits(NOTES) {
        return None;
    }
    FACTS.iter().find(|row| fits(row.1)).map(|row| row.0)
}

/// The words of a key between underscores: `_num_key_value_heads_` of `numKeyValueHeads`.
pub(super) fn words(key: &str) -> String {
    let characters: Vec<char> = key.chars().collect();
    let mut words = String::from("_");
    for (i, &c) in characters.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| characters[i]);
        let is_lower =
            |c: Option<&char>| c.is_some_and(|c| c.is_lowercase() || c.is_ascii_digit());
        let is_start = c.is_uppercase()
            && (is_lower(before.as_ref())
                || before.is_some_and(char::is_uppercase)
                    && is_lower(characters.get(i + 1)));
        if (is_start || !c.is_alphanumeric()) && !words.ends_with('_') {
            words.push('_');
        }
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
    }
    if !words.ends_with('_') {
        words.push('_');
    }
    words
}

/// Whether these words are among a key's; `*` ends a beginning of a word, and `=` stands
/// before all words that there are.
fn is_in(pattern: &str, words: &str) -> bool {
    if let Some(all) = pattern.strip_prefix('=') {
        return words.trim_matches('_') == all;
    }
    let stem = pattern.trim_end_matches('*');
    let is_open = stem != pattern;
    let found = match is_open {
        true => words.contains(&format!("_{stem}")),
        false => words.contains(&format!("_{stem}_")),
    };
    // Written in one: nhead, batchfirst.
    let joined = stem.replace('_', "");
    let is_joined =
        |word: &str| word == joined || is_open && word.starts_with(joined.as_str());
    found || stem.contains('_') && words.split('_').any(is_joined)
}

/// Words of keys that are notes all the same.
const NOTES: &str = "mask_token* max_position* position_ids layer_norm_eps rms_norm_eps num_classes \
    lm_head chat_template total_size dropout*";

// The first that fits counts.
facts! {
    KeyValueHeads: "kv_head* kv_num_heads num_kv* n_kv* key_value_head* head_count_kv \
        gqa mqa query_group* multi_query*"
        => "and each head has its own keys and values here",
    HeadWidth: "head_dim* head_size d_head d_k size_per_head"
        => "and a head is of another width here",
    HeadNorm: "qk_norm* q_norm k_norm query_norm qk_layernorm"
        => "and queries and keys have no norm here",
    Pruned: "prun*"
        => "and every head is computed here",
    Gates: "gate* gated*"
        => "and there are no such gates here",
    Heads: "heads nhead* n_head* num_head* head_count attention_head*"
        => "and the number of heads here is another",
    BatchFirst: "batch_first"
        => "and the batch is read as the first dimension here",
    TimeFirst: "time_major time_first seq_first sequence_first batch_second"
        => "and the batch is read as the first dimension here",
    Bidirectional: "bidirectional* bi_directional num_directions n_directions"
        => "and the directions here are others",
    Causal: "causal* iscausal is_decoder autoregressive unidirectional"
        => "and whether a token sees later ones is said otherwise here",
    Window: "window* sliding* local_attention attention_span max_distance"
        => "and there is no such window here",
    SoftCap: "softcap* soft_cap* logit_softcap* logit_cap* clip_qkv qkv_clip"
        => "and scores have no such bound here",
    Positions: "rope* rotary* alibi* relative* rel_pos* rel_attn* position_embedding* \
        positional* position_encoding* position_bias* position_type pos_emb* pos_enc* \
        pos_type use_positions"
        => "and such positions are not computed here",
    Scale: "scale scaling scale_factor softmax_scale pre_attn_scalar temperature"
        => "and scores are scaled by another number here",
    Scores: "softmax* attention_type attention_kind =attention attn_type score_function \
        off_by_one"
        => "and a softmax of scaled products is computed here",
    AppendedKeys: "bias_kv bias_k bias_v zero_attn* sink* attention_sink*"
        => "and no key and value are appended here",
    Quantised: "quant* bits nbits wbits load_in_8bit load_in_4bit 4bit 8bit awq gptq bnb \
        nf4 int8 int4 fp8 zero_point* group_size"
        => "and weights are read as they are",
    Dtype: "dtype* torch_dtype precision"
        => "and numbers of that kind are not read here",
    Architecture: "architecture* arch model_type model_class layer_class module_class \
        cell_type rnn_type layer_type* =class class_name =type =module =cell framework"
        => "and another one is computed here",
    Layers: "num_layers n_layer* num_hidden_layers nlayers"
        => "and the number of layers here is another",
    Projection: "proj_size projection_size recurrent_projection*"
        => "and a hidden state is not projected here",
    Activation: "activation* nonlinearity hidden_act recurrent_act* act_fn"
        => "and another one is computed here",
    Cell: "peephole* coupled* zoneout* forget_bias layer_norm layernorm =mode \
        initial_state init_state"
        => "and no such cell is computed here",
    PaddingSide: "padding_side pad_side left_pad* truncation_side =padding"
        => "and what is padding is said by tensors here",
    Mask: "mask* masks masked padding_value polarity true_means"
        => "and a mask is read in another way here",
    Lengths: "=lengths seq_lens seqlens valid_len* seq_lengths input_lengths"
        => "and lengths are read from a tensor of that name",
    Reversed: "reverse* reversed go_backwards time_reversed"
        => "and a sequence is read from its first token on",
    Transposed: "transpos* layout axes dim_order qkv_order proj_order interleaved*"
        => "and weights are read as PyTorch and their family store them",
    CrossAttention: "cross_attention* is_encoder_decoder"
        => "and there is no attention to another text here",
    Experts: "expert* experts moe n_experts"
        => "and one feed-forward layer is computed for all tokens here",
    InputWidth: "input_size input_dim d_in"
        => "and the input's width here is another",
    Width: "hidden_size hidden_dim d_model embed_dim n_embd"
        => "and the width here is another",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_words_however_they_are_joined() {
        for (key, expected) in [
            ("nhead", Some(Fact::Heads)),
            ("attr.q_num_heads", Some(Fact::Heads)),
            ("numHeads", Some(Fact::Heads)),
            ("numKVHeads", Some(Fact::KeyValueHeads)),
            ("num-key-value-heads", Some(Fact::KeyValueHeads)),
            ("batchFirst", Some(Fact::BatchFirst)),
            ("batchfirst", Some(Fact::BatchFirst)),
            ("is_causal", Some(Fact::Causal)),
            ("rope_theta", Some(Fact::Positions)),
            ("softmaxScale", Some(Fact::Scale)),
            ("quantization", Some(Fact::Quantised)),
            ("attention_mask", Some(Fact::Mask)),
            ("modelspec.architecture", Some(Fact::Architecture)),
            ("lm_head.weight", None),
            ("mask_token_id", None),
            ("attention_dropout", None),
            ("format", None),
            ("scales of the fish", None),
            ("headline", None),
        ] {
            assert_eq!(fact(key), expected, "{key}");
        }
    }
}
