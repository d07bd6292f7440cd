//! The map of one head, scaled.
//!
//! `attn = softmax(Q Kᵀ / s)`. You choose the divisor s. The width of the model is handed
//! over too; decide whether you need it. `softmax_rows` from “Scores, softmax and √d_k”
//! is there to use; it takes the matrix itself, not a reference.

use std::process::ExitCode;

use exercises::{Matrix, scale, softmax_rows};

/// The attention weights of each query, one for each key.
///
/// # Shapes
/// `q` is `[n_q, d_k]`, `k` is `[n_kv, d_k]`, the result `[n_q, n_kv]`.
// ANCHOR: answer
pub fn attention_map(q: &Matrix, k: &Matrix, d_model: usize) -> Matrix {
    // YOURS: score each query against each key, scale, and make weights of each row.
    let d_k = q.ncols() as f64;
    softmax_rows(q * k.transpose() / d_k.sqrt())
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    scale::check(attention_map)
}
