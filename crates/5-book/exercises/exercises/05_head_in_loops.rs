//! # 05 · One head in loops
//!
//! One head in plain loops.
//!
//! The queries, keys and values are there. Score every key for a query,
//! `s_ij = q_i · k_j / √d_k`; make shares of the scores of the query,
//! `a_ij = exp(s_ij) / Σ_j exp(s_ij)`; average the values with them,
//! `out_i = Σ_j a_ij v_j`. Use no product of matrices: this is to be the definition that
//! everything else is compared with.
//!
//! Scores may be large, as in exercise 3: subtract the largest score of the query before
//! you take exponentials.
//!
//! Begin with `Matrix::zeros(n_q, d_v)` and fill in `out[(i, c)]`. The sizes are
//! `q.nrows()`, `k.nrows()`, `q.ncols()` and `v.ncols()`, and all four may differ. A size as
//! a number: `(q.ncols() as f64).sqrt()`.
//!
//! Explained in chapter 3, “First in loops”.
//! Check it with `cargo learn check 5`; a hint: `cargo learn check 5 --hint`.

use std::process::ExitCode;

use exercises::{Matrix, bank::head_in_loops};

/// The output of one head, `out_i = Σ_j a_ij v_j`.
///
/// # Shapes
/// `q` is `[n_q, d_k]`, `k` is `[n_kv, d_k]`, `v` is `[n_kv, d_v]`, the result
/// `[n_q, d_v]`.
pub fn attend(q: &Matrix, k: &Matrix, v: &Matrix) -> Matrix {
    // TODO: for each query, scores, then shares, then an average of values.
    todo!()
}

fn main() -> ExitCode {
    head_in_loops::check(attend)
}
