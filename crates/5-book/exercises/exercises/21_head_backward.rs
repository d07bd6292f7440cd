//! # 21 · One head, backwards
//!
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
//! - A value gathers from every query that read it, by the share with which it was read.
//! - If `d_head` is 0 for a query, that query gets 0 and moves no key and no value.
//! - Where the mask blocked a key, A is 0, and nothing passes. No step needs the mask.
//!
//! `softmax_rows_backward(attn, d_attn)` is there to use: exercise 19, as a `Result`;
//! here the shapes fit, so `.unwrap()` is in order.
//!
//! Explained in chapter 9, “The walk”.
//! Check it with `cargo learn check 21`; a hint: `cargo learn check 21 --hint`.

use std::process::ExitCode;

use exercises::{Matrix, bank::head_backward, softmax_rows_backward};

/// The gradients of q, k and v, in this order, from the gradient of the head's output.
///
/// # Shapes
/// `q` is `[n_q, d_k]`, `k` is `[n_kv, d_k]`, `v` is `[n_kv, d_v]`, `attn` is
/// `[n_q, n_kv]`, `d_head` is `[n_q, d_v]`; the results have the shapes of q, k and v.
pub fn head_backward(
    q: &Matrix,
    k: &Matrix,
    v: &Matrix,
    attn: &Matrix,
    d_head: &Matrix,
) -> [Matrix; 3] {
    // TODO: [dq, dk, dv], last line of the head first.
    todo!()
}

fn main() -> ExitCode {
    head_backward::check(head_backward)
}
