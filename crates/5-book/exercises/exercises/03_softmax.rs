//! # 03 · Softmax
//!
//! From scores to shares.
//!
//! Make of each row of scores a row of shares that sum to 1:
//! `a_ij = exp(s_ij) / Σ_j exp(s_ij)`. A row is one query, its columns are the keys.
//!
//! Scores may be large, 1000 or −1000, and then the formula as it stands gives NaN, since
//! no f64 can hold exp(1000). Adding the same number to all scores of a row changes
//! nothing: use that. `scores.row(i)` is a row, with `.max()` and `.sum()`, and
//! `scores.clone()` is a matrix to write to.
//!
//! Explained in chapter 2, “From scores to shares”.
//! Check it with `cargo learn check 3`; a hint: `cargo learn check 3 --hint`.

use std::process::ExitCode;

use exercises::{Matrix, bank::softmax};

/// The shares that each query gives to each key.
///
/// # Shapes
/// `scores` is `[n_q, n_kv]`, the result too.
pub fn softmax(scores: &Matrix) -> Matrix {
    // TODO: each row on its own; mind large scores.
    todo!()
}

fn main() -> ExitCode {
    softmax::check(softmax)
}
