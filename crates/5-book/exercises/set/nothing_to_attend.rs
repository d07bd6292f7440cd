//! Softmax under a mask, for queries that may attend to nothing.
//!
//! Write the softmax itself: each open key gets `exp(score) / sum`, where the sum goes
//! over the open keys of its row, and each blocked key gets 0. There are two more rules:
//! - a row in which every key is blocked is a row of zeros;
//! - a blocked score may be anything, NaN and ∞ included, and must not matter.
//!
//! Open scores are ordinary numbers, but some rows lie near 800, near −800 or far below:
//! subtract the largest open score of the row first. No entry of the result is NaN.
//! `softmax_rows` follows the first rule already, so write this without it.

use std::process::ExitCode;

use exercises::{Matrix, nothing_to_attend};

/// The attention weights that each query gives to the keys that it may attend to.
///
/// # Shapes
/// `scores` and `allowed` are `[n_q, n_kv]`, and so is the result. `allowed[(i, j)]` is
/// true if query i may attend to key j.
// ANCHOR: answer
pub fn masked_softmax(scores: &Matrix, allowed: &Matrix<bool>) -> Matrix {
    // YOURS: weights for open keys, zeros for all that is blocked.
    let (n_q, n_kv) = scores.shape();
    let mut attn = Matrix::zeros(n_q, n_kv);
    for i in 0..n_q {
        let open = || (0..n_kv).filter(|&j| allowed[(i, j)]);
        let largest = open().map(|j| scores[(i, j)]).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = open().map(|j| (scores[(i, j)] - largest).exp()).sum();
        for j in open() {
            attn[(i, j)] = (scores[(i, j)] - largest).exp() / sum;
        }
    }
    attn
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    nothing_to_attend::check(masked_softmax)
}
