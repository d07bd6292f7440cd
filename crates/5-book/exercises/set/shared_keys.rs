//! Query heads that share keys and values, with a soft cap and a causal mask.
//!
//! `q` has `n_heads` heads side by side; `k` and `v` have `n_kv_heads`, which divides
//! `n_heads`. Neighbouring query heads read the same keys and values: if 6 share 2, heads
//! 0, 1 and 2 read the first, and heads 3, 4 and 5 the second.
//!
//! The queries belong to the **last** n_q of n_kv tokens, where n_q is at most n_kv: the
//! first query sees all keys but the last n_q − 1, and the last query sees all keys.
//!
//! A score is a dot product divided by the square root of the width of a head's keys, and
//! is then capped to cap · tanh(score / cap). The cap is positive.
//!
//! What must be true of the answer: each head's row is an average of the values that it
//! may see, so a later key changes nothing.
//!
//! You may use `softmax_rows`; a score of −∞ gets an attention weight of 0.

use std::process::ExitCode;

use exercises::{Matrix, shared_keys, softmax_rows};

/// The outputs of all query heads, side by side.
///
/// # Shapes
/// `q` is `[n_q, n_heads · d_k]`, `k` is `[n_kv, n_kv_heads · d_k]`, `v` is
/// `[n_kv, n_kv_heads · d_v]`, and the result is `[n_q, n_heads · d_v]`.
// ANCHOR: answer
pub fn attend(
    [q, k, v]: [&Matrix; 3],
    n_heads: usize,
    n_kv_heads: usize,
    cap: f64,
) -> Matrix {
    // YOURS: head by head, each with the keys and values of its group.
    let (n_q, n_kv) = (q.nrows(), k.nrows());
    let (d_k, d_v) = (q.ncols() / n_heads, v.ncols() / n_kv_heads);
    let mut out = Matrix::zeros(n_q, n_heads * d_v);
    for head in 0..n_heads {
        let group = head / (n_heads / n_kv_heads);
        let q_i = q.columns(head * d_k, d_k);
        let k_g = k.columns(group * d_k, d_k);
        let scores = q_i * k_g.transpose() / (d_k as f64).sqrt(); // [n_q, n_kv]
        let mut scores = scores.map(|score| cap * (score / cap).tanh());
        for i in 0..n_q {
            for j in n_kv - n_q + i + 1..n_kv {
                scores[(i, j)] = f64::NEG_INFINITY; // after the cap
            }
        }
        let read = softmax_rows(scores) * v.columns(group * d_v, d_v);
        out.columns_mut(head * d_v, d_v).copy_from(&read);
    }
    out
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    shared_keys::check(attend)
}
