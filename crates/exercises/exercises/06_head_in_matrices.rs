//! # 06 · One head in matrices
//!
//! One whole head in matrices, from tokens to its output.
//!
//! `head = softmax(Q Kᵀ / √d_k) V` with `Q = query W^Q + b^Q`, `K = key W^K + b^K` and
//! `V = value W^V + b^V`. The tokens of query, key and value may differ in number and in
//! width; d_k and d_v may differ too.
//!
//! `head.w_q`, `head.w_k` and `head.w_v` are projections, each with a `weight`, stored
//! `[in, out]`, and a `bias`. `head.w_q.forward(x)` is `x · W + b`, as a `Result`; here all
//! sizes fit, so `.unwrap()` is in order. `softmax_rows` takes a matrix and gives one.
//!
//! Explained in chapter 3, “Then in matrices”.
//! Check it with `cargo learn check 6`; a hint: `cargo learn check 6 --hint`.

use std::process::ExitCode;

use exercises::{HeadParameters, Matrix, bank::head_in_matrices, softmax_rows};

/// The output of one head, `softmax(Q Kᵀ / √d_k) V`.
///
/// # Shapes
/// `query` is `[n_q, d_model]`, `key` and `value` are `[n_kv, …]` as wide as the head's
/// matrices are high, the result is `[n_q, d_v]`.
pub fn head(
    head: &HeadParameters,
    query: &Matrix,
    key: &Matrix,
    value: &Matrix,
) -> Matrix {
    // TODO: project, score, scale, turn rows into shares, average.
    todo!()
}

fn main() -> ExitCode {
    head_in_matrices::check(head)
}
