//! Backward through softmax, row by row.
//!
//! Forward, each row of scores became a row of attention weights: `attn = softmax(scores)`.
//! `d_attn` says how the loss moves when a weight moves. But nothing can move one weight
//! alone: what one key gains, the others of its row lose. So find out how the loss moves
//! when a **score** moves.
//!
//! - Each row of the result sums to 0: raising all scores of a row alike changes no weight.
//! - If all entries of a row of `d_attn` are equal, that row of the result is 0.
//! - A weight of exactly 0 or exactly 1 passes nothing on to its score. A query that may
//!   attend to nothing has a row of zeros in `attn`, and gets zeros.
//! - With two keys, weights of 1/4 and 3/4, and gradients of 1 and 0, the result is 3/16
//!   and −3/16.
//!
//! Make no matrix of derivatives: a row of n entries takes about n multiplications,
//! twice.

use std::process::ExitCode;

use exercises::{Matrix, softmax_backward};

/// The gradient of the scores from the gradient of the attention weights.
///
/// # Shapes
/// `attn` and `d_attn` are `[n_q, n_kv]`, the result too.
// ANCHOR: answer
pub fn softmax_backward(attn: &Matrix, d_attn: &Matrix) -> Matrix {
    // YOURS: the gradient of each score, from its row alone.
    let rows = attn.row_iter().zip(d_attn.row_iter());
    let dots: Vec<f64> = rows.map(|(a, d_a)| a.dot(&d_a)).collect(); // one a row
    let (n_q, n_kv) = attn.shape();
    Matrix::from_fn(n_q, n_kv, |i, k| attn[(i, k)] * (d_attn[(i, k)] - dots[i]))
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    softmax_backward::check(softmax_backward)
}
