//! Backward through one head.
//!
//! Forward, `P = Q Kᵀ`, `S = P / √d_k`, `A = softmax(S)` under a mask, `head = A V`. You
//! are given Q, K, V, the map A as it came out, and `d_head`, which says how the loss
//! moves when an entry of the head's output moves. Return the same for Q, K and V, in
//! this order, each in the shape of what it belongs to.
//!
//! Go from the last line of the forward pass to the first. Each line takes the gradient
//! of what it made, and passes on a gradient for each of the things it was made from.
//!
//! - A value gathers from every query that read it, by the weight with which it was read.
//! - If `d_head` is 0 for a query, that query gets 0 and moves no key and no value.
//! - Where the mask blocked a key, A is 0, and nothing passes. No step needs the mask.
//!
//! You may use `softmax_rows_backward(attn, d_attn)`, which is what you wrote in exercise
//! `softmax_backward`. It gives a `Result`, and since the shapes fit here, `.unwrap()` is
//! safe. It takes `d_attn` itself and not a reference.

use std::process::ExitCode;

use exercises::{Matrix, head_backward, softmax_rows_backward};

/// The gradients of q, k and v, in this order, from the gradient of the head's output.
///
/// # Shapes
/// `q` is `[n_q, d_k]`, `k` is `[n_kv, d_k]`, `v` is `[n_kv, d_v]`, `attn` is
/// `[n_q, n_kv]`, `d_head` is `[n_q, d_v]`; the results have the shapes of q, k and v.
// ANCHOR: answer
pub fn head_backward(
    q: &Matrix,
    k: &Matrix,
    v: &Matrix,
    attn: &Matrix,
    d_head: &Matrix,
) -> [Matrix; 3] {
    // YOURS: [dq, dk, dv], last line of the head first.

    // head = attn * v
    let dv = attn.transpose() * d_head; // [n_kv, d_v]
    let d_attn = d_head * v.transpose(); // [n_q, n_kv]
    // attn = softmax_rows(scores)
    let d_scores = softmax_rows_backward(attn, d_attn).unwrap(); // [n_q, n_kv]
    // scores = q * k.transpose() / √d_k
    let d_products = d_scores / (q.ncols() as f64).sqrt(); // [n_q, n_kv]
    let dq = &d_products * k; // [n_q, d_k]
    let dk = d_products.transpose() * q; // [n_kv, d_k]
    [dq, dk, dv]
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    head_backward::check(head_backward)
}
