//! # 25 · The whole layer
//!
//! The whole layer.
//!
//! `head_i = softmax(Q_i K_iᵀ / √d_k) V_i`, each head under its own mask, and the output is
//! `Concat(head_1, …, head_h) W^O + b^O`. Give back the output and the map of every head.
//!
//! `parameters.heads()` are the heads, `parameters.w_o()` is W^O, and `parameters.dims()` has
//! the sizes (`dims().d_k()` and so on). `w.forward(x)` gives `x · W + b` as a `Result`, an error if shapes do not fit.
//! `mask.of_head(i)` is the mask of head i, and its `apply(scores)` puts it on the scores.
//! `softmax_rows(scores)` makes a row in which every key is blocked a row of zeros; both take
//! the matrix itself. The answer is `Attended { out, attn }`, where `attn` is a `Vec`.
//!
//! Query, key and value may be three different sequences, and all sizes may differ. The last
//! input is a sentence in the trained layer, held against what PyTorch computed.
//!
//! Tokens that nobody may attend to may hold NaN, and a share of 0 times NaN is NaN:
//! `weighted_values(&attn, v.as_view())` is `attn · v` without the keys whose share is 0.
//!
//! Explained in chapter 12, “One layer, four sentences”.
//! Check it with `cargo learn check 25`; a hint: `cargo learn check 25 --hint`.

use std::process::ExitCode;

use exercises::{
    Attended, LayerParameters, Mask, Matrix, bank::whole_layer, softmax_rows,
    weighted_values,
};

/// Multi-head attention.
///
/// # Shapes
/// `query` is `[n_q, d_model]`, `key` is `[n_kv, key_width]`, `value` is
/// `[n_kv, value_width]`. Of the result, `out` is `[n_q, d_model]` and `attn` has a map
/// `[n_q, n_kv]` a head, head 0 first.
pub fn layer(
    parameters: &LayerParameters,
    query: &Matrix,
    key: &Matrix,
    value: &Matrix,
    mask: &Mask,
) -> Attended {
    // TODO: every head under its own mask, then side by side, then mixed.
    todo!()
}

fn main() -> ExitCode {
    whole_layer::check(layer)
}
