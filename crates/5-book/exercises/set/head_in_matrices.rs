//! One whole head in matrices, from tokens to its output.
//!
//! The tokens of `query` ask, those of `key` say what they can be found by, and those of
//! `value` say what is read once they are found. Each kind is projected by a matrix and a
//! bias of the head's own. What each query reads is an average of values, by its
//! attention weights.
//!
//! - A query's weights sum to 1, and they come from its scores, scaled as in exercise
//!   `scale`.
//! - The three may differ in number and in width, and d_k and d_v may differ too. Each
//!   query gets one row, as wide as a value.
//! - If all keys of the head are equal, every query reads the plain mean of the values.
//!
//! `head.w_q`, `head.w_k` and `head.w_v` are the projections, each with a `weight`,
//! stored `[in, out]`, and a `bias`. `head.w_q.forward(x)` applies one to each row of x
//! and returns a `Result`; here all sizes fit, so `.unwrap()` is in order. `softmax_rows`
//! takes a matrix and returns one.

use std::process::ExitCode;

use exercises::{HeadParameters, Matrix, head_in_matrices, softmax_rows};

/// The output of one head.
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
    // YOURS: every step from tokens to the output.
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
