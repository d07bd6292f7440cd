//! The scores of one head.
//!
//! How well does key j answer query i? Their dot product tells: multiply the two
//! rows entry by entry, and sum, `s_ij = Σ_c q_ic k_jc`. Return these raw scores, one
//! for each query and key; the division by √d_k comes later.
//!
//! Write loops or a product of matrices. `q[(i, c)]` is number c of query i, a matrix of
//! zeros is `Matrix::zeros(n_rows, n_columns)`, a product is `a * b`, and `a.transpose()`
//! transposes a matrix. There may be more keys than queries, or fewer.

use std::process::ExitCode;

use exercises::{Matrix, scores};

/// The dot product of each query with each key.
///
/// # Shapes
/// `q` is `[n_q, d_k]`, `k` is `[n_kv, d_k]`, the result `[n_q, n_kv]`.
// ANCHOR: answer
pub fn scores(q: &Matrix, k: &Matrix) -> Matrix {
    // YOURS: a row for each query, a column for each key.
    q * k.transpose()
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    scores::check(scores)
}
