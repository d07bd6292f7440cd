//! Send a batch of sequences through one head.
//!
//! The sequences are stacked in one matrix and padded to equal length. Each attends
//! to itself only: `softmax(Q_s K_sᵀ / √d_k) V_s`. Of the keys of sequence s the first
//! `n_valid[s]` are real, at least one in each; the rest is padding, and no query may
//! attend to it. Rows of `q` are all computed, padding or not. n_q and n_kv may differ.
//!
//! `Mask::FirstKeys(n)` lets the first n keys be seen, `mask.apply(scores)` puts it on
//! the scores of one sequence (a blocked score becomes −∞, whatever it was), and
//! `softmax_rows` makes attention weights of them.
//!
//! Padding may be anything, NaN too, and a weight of 0 times NaN is NaN.
//! `weighted_values(&attn, v_s)` is `attn · v_s` without the keys whose weight is 0; it
//! takes rows of a matrix as `v.rows(first, n)` gives them.

use std::process::ExitCode;

use exercises::{Mask, Matrix, batches, softmax_rows, weighted_values};

/// The outputs of one head for all sequences, stacked in one matrix.
///
/// # Shapes
/// `q` is `[n_sequences · n_q, d_k]`, `k` is `[n_sequences · n_kv, d_k]`, `v` is
/// `[n_sequences · n_kv, d_v]`, `n_valid` has `n_sequences` entries; the result is
/// `[n_sequences · n_q, d_v]`.
// ANCHOR: answer
pub fn attend_batch(
    q: &Matrix,
    k: &Matrix,
    v: &Matrix,
    n_sequences: usize,
    n_valid: &[usize],
) -> Matrix {
    // YOURS: every sequence attends to its own real keys.
    let (n_q, n_kv) = (q.nrows() / n_sequences, k.nrows() / n_sequences);
    let sqrt_d_k = (q.ncols() as f64).sqrt();
    let mut out = Matrix::zeros(q.nrows(), v.ncols());
    for (s, &n) in n_valid.iter().enumerate() {
        let q_s = q.rows(s * n_q, n_q);
        let k_s = k.rows(s * n_kv, n_kv);
        let v_s = v.rows(s * n_kv, n_kv);
        let scores = q_s * k_s.transpose() / sqrt_d_k; // [n_q, n_kv]
        let attn = softmax_rows(Mask::FirstKeys(n).apply(scores)); // [n_q, n_kv]
        out.rows_mut(s * n_q, n_q).copy_from(&weighted_values(&attn, v_s));
    }
    out
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    batches::check(attend_batch)
}
