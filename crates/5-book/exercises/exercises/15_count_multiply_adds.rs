//! # 15 · Count the multiply-adds
//!
//! How much work is one pass?
//!
//! Count the multiply-adds of a pass of `n_q` queries over `n_kv` keys and values: a
//! multiplication and the addition of its product to a sum are one. A head makes Q, K and
//! V, the scores Q Kᵀ, and A V; after all heads, the concatenation is multiplied by W^O.
//! Query, key and value tokens are all `d_model` wide. Softmax and biases are left out.
//! `dims` has `d_model()`, `n_heads()`, `d_k()`, `d_v()`, and `concat_width()` for h · d_v.
//!
//! Explained in chapter 6, “Counting the work”.
//! Check it with `cargo learn check 15`; a hint: `cargo learn check 15 --hint`.

use std::process::ExitCode;

use exercises::{Dims, bank::count_multiply_adds};

/// The multiply-adds of one pass.
///
/// # Shapes
/// The queries are `[n_q, d_model]`, the keys and values `[n_kv, d_model]`; the sizes of
/// the matrices are those of exercise 14.
pub fn multiply_adds(dims: Dims, n_q: usize, n_kv: usize) -> usize {
    // TODO: add up the products of matrices that one pass computes.
    todo!()
}

fn main() -> ExitCode {
    count_multiply_adds::check(multiply_adds)
}
