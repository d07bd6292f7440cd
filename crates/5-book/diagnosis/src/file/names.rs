//! What tensors are called.

use crate::State;

/// Names of W^Q, W^K, W^V and W^O without `.weight` or `.bias`, in lower case.
pub const PROJECTIONS: [&str; 4] = [
    "q_proj w_q wq query q_lin to_q q_linear fc_q query_proj linears.0 w_qs q",
    "k_proj w_k wk key k_lin to_k k_linear fc_k key_proj linears.1 w_ks k",
    "v_proj w_v wv value v_lin to_v v_linear fc_v value_proj linears.2 w_vs v",
    "out_proj o_proj w_o wo output.dense out_lin to_out.0 to_out out_linear fc_o fc_out \
     c_proj linears.3 dense proj out fc o",
];

/// Names of all three side by side: one block after the other.
pub const PACKED: &str = "in_proj c_attn qkv wqkv qkv_proj to_qkv w_qkv in_proj_qkv";

/// The same, head by head.
pub const PACKED_BY_HEADS: &str = "query_key_value";

/// What follows such a name, and what its bias has in place of it.
pub const FORMS: [(&str, &str); 4] =
    [(".weight", ".bias"), ("_weight", "_bias"), (".kernel", ".bias"), ("", "_bias")];

/// Names that are those of tensors where nothing follows them.
pub const NEVER_BARE: &[&str] =
    &["query", "key", "value", "q", "k", "v", "o", "out", "proj", "dense", "fc"];

/// Names of the inputs for queries, keys and values.
pub const INPUTS: [&[&str]; 3] =
    [&["query", "x", "input", "inputs", "hidden_states"], &["key", "memory"], &["value"]];

/// Names of a tensor.
pub fn of(state: State) -> &'static [&'static str] {
    match state {
        State::Query | State::HeadQuery => &["q"],
        State::Key | State::HeadKey => &["k"],
        State::Value | State::HeadValue => &["v"],
        State::Scores => &["scores", "attn_scores", "logits"],
        State::Attn => {
            &["attn", "attn_weights", "attn_heads", "attention_probs", "weights"]
        }
        State::Heads => &["heads", "context"],
        State::Concat => &["concat", "merged"],
        State::Output => &["output", "out", "attn_output", "y"],
    }
}
