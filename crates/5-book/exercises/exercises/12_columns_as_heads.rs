//! # 12 · Columns as heads
//!
//! Cut one wide projection into heads.
//!
//! A fused layer computes the queries of all heads with one product. Cut the result into
//! one matrix per head.
//!
//! Explained in chapter 5, “How a matrix lies in memory”.
//! Check it with `cargo learn check 12`; a hint: `cargo learn check 12 --hint`.

use std::process::ExitCode;

use exercises::{Matrix, bank::columns_as_heads};

/// The queries of each head.
///
/// # Shapes
/// `q` is `[n_tokens, h · d_k]`; the result is h matrices `[n_tokens, d_k]`.
pub fn split_heads(q: &Matrix, n_heads: usize) -> Vec<Matrix> {
    // TODO: one matrix per head, head 0 first.
    todo!()
}

fn main() -> ExitCode {
    columns_as_heads::check(split_heads)
}
