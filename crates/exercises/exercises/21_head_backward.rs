//! # 21 · One head, backwards
//!
//! The way back through one head.
//!
//! Forward, `P = Q Kᵀ`, `S = P / √d_k`, `A = softmax(S)` under a mask, `head = A V`. You are
//! given Q, K, V, the map A as it came out, and `d_head`, the gradient of the loss with
//! respect to the output of the head. Walk back to the gradients of Q, K and V, last line
//! first:
//!
//! `dV = Aᵀ dhead`, `dA = dhead Vᵀ`, then softmax, `dP = dS / √d_k`, `dQ = dP K`,
//! `dK = dPᵀ Q`
//!
//! `softmax_rows_backward(attn, d_attn)` is there to use: exercise 19, as a `Result`; here
//! the shapes fit, so `.unwrap()` is in order. Where the mask blocked a key, A is 0.
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
