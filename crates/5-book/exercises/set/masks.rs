//! A map under two masks at once.
//!
//! `scores` are scaled already. Two masks are on them, and a key is seen only if both let
//! it be seen:
//! - causal: query i may attend to key j where `j <= i + (n_kv - n_q)`, so that the last
//!   query sees every key;
//! - padding: only the first `n_valid` keys are real. It may be 0: then no query has a key,
//!   and all rows are zeros.
//!
//! `softmax_rows(masked)` from “Scores, softmax and √d_k” is there to use. It makes a row
//! of zeros of scores that are all −∞, and takes the matrix itself and not a reference.

use std::process::ExitCode;

use exercises::{Matrix, masks, softmax_rows};

/// The attention weights that each query gives to the keys that it may see; 0 for all
/// others.
///
/// # Shapes
/// `scores` is `[n_q, n_kv]` with `n_q <= n_kv`, the result `[n_q, n_kv]`.
// ANCHOR: answer
pub fn masked_map(scores: &Matrix, n_valid: usize) -> Matrix {
    // YOURS: the map under both masks.
    let (n_q, n_kv) = scores.shape();
    let masked = Matrix::from_fn(n_q, n_kv, |i, j| {
        let may_attend = j <= i + (n_kv - n_q) && j < n_valid;
        if may_attend { scores[(i, j)] } else { f64::NEG_INFINITY }
    });
    softmax_rows(masked)
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    masks::check(masked_map)
}
