//! One head in plain loops.
//!
//! The queries, keys and values are there. Score every key for a query,
//! `s_ij = q_i · k_j / √d_k`; make attention weights of the scores of the query,
//! `a_ij = exp(s_ij) / Σ_j exp(s_ij)`; average the values with them,
//! `out_i = Σ_j a_ij v_j`. Use no product of matrices: this is to be the definition that
//! everything else is compared with.
//!
//! Scores may be large, as in exercise `softmax`: subtract the largest score of the query
//! before you take exponentials.
//!
//! Begin with `Matrix::zeros(n_q, d_v)` and fill in `out[(i, c)]`. The sizes are
//! `q.nrows()`, `k.nrows()`, `q.ncols()` and `v.ncols()`, and all four may differ. To
//! compute with a size, make it an f64: `(q.ncols() as f64).sqrt()`.

use std::process::ExitCode;

use exercises::{Matrix, head_in_loops};

/// The output of one head, `out_i = Σ_j a_ij v_j`.
///
/// # Shapes
/// `q` is `[n_q, d_k]`, `k` is `[n_kv, d_k]`, `v` is `[n_kv, d_v]`, the result
/// `[n_q, d_v]`.
// ANCHOR: answer
pub fn attend(q: &Matrix, k: &Matrix, v: &Matrix) -> Matrix {
    // YOURS: for each query, scores, then weights, then an average of values.
    let (n_q, n_kv, d_k, d_v) = (q.nrows(), k.nrows(), q.ncols(), v.ncols());
    let mut out = Matrix::zeros(n_q, d_v);
    for i in 0..n_q {
        let dot = |j| (0..d_k).map(|c| q[(i, c)] * k[(j, c)]).sum::<f64>();
        let scores: Vec<f64> = (0..n_kv).map(|j| dot(j) / (d_k as f64).sqrt()).collect();

        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let exps: Vec<f64> = scores.iter().map(|s| (s - largest).exp()).collect();
        let sum: f64 = exps.iter().sum();

        for (j, exp) in exps.iter().enumerate() {
            for c in 0..d_v {
                out[(i, c)] += exp / sum * v[(j, c)];
            }
        }
    }
    out
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    head_in_loops::check(attend)
}
