//! One whole head in matrices, from tokens to its output.
//!
//! `head = softmax(Q Kᵀ / √d_k) V` with `Q = query W^Q + b^Q`, `K = key W^K + b^K` and
//! `V = value W^V + b^V`. The tokens of query, key and value may differ in number and in
//! width; d_k and d_v may differ too.
//!
//! `head.w_q`, `head.w_k` and `head.w_v` are projections, each with a `weight`, stored
//! `[in, out]`, and a `bias`. `head.w_q.forward(x)` is `x · W + b`, as a `Result`; here all
//! sizes fit, so `.unwrap()` is in order. `softmax_rows` takes a matrix and gives one.

use std::process::ExitCode;

use exercises::{HeadParameters, Matrix, bank::head_in_matrices, softmax_rows};

/// The output of one head, `softmax(Q Kᵀ / √d_k) V`.
///
/// # Shapes
/// `query` is `[n_q, d_model]`, `key` and `value` are `[n_kv, …]` as wide as the head's
/// matrices are high, the result is `[n_q, d_v]`.
// ANCHOR: answer
pub fn head(
    head: &HeadParameters,
    query: &Matrix,
    key: &Matrix,
    value: &Matrix,
) -> Matrix {
    // YOURS: project, score, scale, turn rows into shares, average.
    let q = head.w_q.forward(query).unwrap(); // [n_q, d_k]
    let k = head.w_k.forward(key).unwrap(); // [n_kv, d_k]
    let v = head.w_v.forward(value).unwrap(); // [n_kv, d_v]
    let scores = &q * k.transpose() / (q.ncols() as f64).sqrt(); // [n_q, n_kv]
    let attn = softmax_rows(scores); // [n_q, n_kv]
    attn * v // [n_q, d_v]
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    head_in_matrices::check(head)
}
