//! Cut one wide projection into heads.
//!
//! A fused layer computes the queries of all heads with one product. Cut the result into
//! one matrix per head.

use std::process::ExitCode;

use exercises::{Matrix, columns_as_heads};

/// The queries of each head.
///
/// # Shapes
/// `q` is `[n_tokens, h · d_k]`; the result is h matrices `[n_tokens, d_k]`.
// ANCHOR: answer
pub fn split_heads(q: &Matrix, n_heads: usize) -> Vec<Matrix> {
    // YOURS: one matrix per head, head 0 first.
    let d_k = q.ncols() / n_heads;
    (0..n_heads).map(|i| q.columns(i * d_k, d_k).into_owned()).collect()
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    columns_as_heads::check(split_heads)
}
