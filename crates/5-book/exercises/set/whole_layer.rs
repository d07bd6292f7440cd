//! The whole layer.
//!
//! Each head attends separately, under its own mask; then the heads are set side by side
//! and mixed by W^O and its bias. Return the output and the map of each head.
//!
//! `parameters.heads()` are the heads, `parameters.w_o()` is W^O, and `parameters.dims()`
//! has the sizes (`dims().d_k()` and so on). `w.forward(x)` applies a projection and
//! returns a `Result`, which is an error if shapes do not fit. `mask.of_head(i)` is the
//! mask of head i, and its `apply(scores)` puts it on the scores (a blocked score becomes
//! −∞). `softmax_rows(scores)` returns a row of zeros where every key is blocked; both
//! take the matrix by value. The answer is `Attended { out, attn }`, where `attn` is a
//! `Vec`.
//!
//! Query, key and value may be three different sequences, and all sizes may differ. The
//! last input is a sentence in the trained layer, compared with PyTorch's result.
//!
//! Tokens to which no query may attend may be NaN, and a weight of 0 times NaN is NaN:
//! `weighted_values(&attn, v.as_view())` is `attn · v` without the keys whose attention
//! weight is 0. Scores may be huge: if you write your own softmax, it must not overflow.
//!
//! “The heads in code” in “A lens per head” has the code of a layer, and “Bad numbers”
//! shows how to handle rows without a key and weights of 0.

use std::process::ExitCode;

use exercises::{
    Attended, LayerParameters, Mask, Matrix, softmax_rows, weighted_values, whole_layer,
};

/// Multi-head attention.
///
/// # Shapes
/// `query` is `[n_q, d_model]`, `key` is `[n_kv, key_width]`, and `value` is
/// `[n_kv, value_width]`. In the result, `out` is `[n_q, d_model]` and `attn` has a map
/// `[n_q, n_kv]` per head, head 0 first.
// ANCHOR: answer
pub fn layer(
    parameters: &LayerParameters,
    query: &Matrix,
    key: &Matrix,
    value: &Matrix,
    mask: &Mask,
) -> Attended {
    // YOURS: every head under its own mask, then side by side, then mixed.
    let (dims, n_q) = (parameters.dims(), query.nrows());
    let mut attn = Vec::new();
    let mut concat = Matrix::zeros(n_q, dims.concat_width()); // [n_q, h · d_v]
    for (i, head) in parameters.heads().iter().enumerate() {
        let q = head.w_q.forward(query).unwrap(); // [n_q, d_k]
        let k = head.w_k.forward(key).unwrap(); // [n_kv, d_k]
        let v = head.w_v.forward(value).unwrap(); // [n_kv, d_v]
        let scores = q * k.transpose() / (dims.d_k() as f64).sqrt(); // [n_q, n_kv]
        let attn_i = softmax_rows(mask.of_head(i).apply(scores)); // [n_q, n_kv]
        let head_i = weighted_values(&attn_i, v.as_view()); // [n_q, d_v]
        concat.columns_mut(i * dims.d_v(), dims.d_v()).copy_from(&head_i);
        attn.push(attn_i);
    }
    Attended { out: parameters.w_o().forward(&concat).unwrap(), attn }
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    whole_layer::check(layer)
}
