//! From scores to attention weights.
//!
//! Make each row of scores a row of attention weights, which sum to 1:
//! `a_ij = exp(s_ij) / Σ_j exp(s_ij)`. A row is one query, its columns are the keys.
//!
//! Scores may be large, 1000 or −1000, and then the formula as it stands gives NaN, since
//! no f64 can hold exp(1000). Adding the same number to all scores of a row changes
//! nothing: use that. `scores.row(i)` is a row, with `.max()` and `.sum()`, and
//! `scores.clone()` is a matrix to write to.

use std::process::ExitCode;

use exercises::{Matrix, softmax};

/// The attention weights of each query, one for each key.
///
/// # Shapes
/// `scores` is `[n_q, n_kv]`, the result too.
// ANCHOR: answer
pub fn softmax(scores: &Matrix) -> Matrix {
    // YOURS: each row on its own; mind large scores.
    let mut attn = scores.clone();
    for mut row in attn.row_iter_mut() {
        let largest = row.max();
        row.apply(|score| *score = (*score - largest).exp());
        row /= row.sum();
    }
    attn
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    softmax::check(softmax)
}
