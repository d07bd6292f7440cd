//! How much work is one pass?
//!
//! Count the multiply-adds of a pass of `n_q` queries over `n_kv` keys and values: a
//! multiplication and the addition of its product to a sum are one. A head makes Q, K and
//! V, the scores Q Kᵀ, and A V; after all heads, the concatenation is multiplied by W^O.
//! Query, key and value tokens are all `d_model` wide. Softmax and biases are left out.
//! `dims` has `d_model()`, `n_heads()`, `d_k()`, `d_v()`, and `concat_width()`
//! for h · d_v.

use std::process::ExitCode;

use exercises::{Dims, count_multiply_adds};

/// The multiply-adds of one pass.
///
/// # Shapes
/// The queries are `[n_q, d_model]`, the keys and values `[n_kv, d_model]`; the sizes of
/// the matrices are those of exercise `count_parameters`.
// ANCHOR: answer
pub fn multiply_adds(dims: Dims, n_q: usize, n_kv: usize) -> usize {
    // YOURS: add up the products of matrices that one pass computes.
    let (d_model, d_k, d_v) = (dims.d_model(), dims.d_k(), dims.d_v());
    let product = |n: usize, m: usize, p: usize| n * m * p; // (n, m) × (m, p)
    let q = product(n_q, d_model, d_k);
    let k = product(n_kv, d_model, d_k);
    let v = product(n_kv, d_model, d_v);
    let scores = product(n_q, d_k, n_kv);
    let averages = product(n_q, n_kv, d_v);
    let out = product(n_q, dims.concat_width(), d_model);
    dims.n_heads() * (q + k + v + scores + averages) + out
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    count_multiply_adds::check(multiply_adds)
}
