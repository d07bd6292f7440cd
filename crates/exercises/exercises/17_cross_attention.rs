//! # 17 · Cross-attention
//!
//! One head that asks another sequence.
//!
//! `out = softmax(Q Kᵀ / √d_k) V`, where the tokens of `x` ask and those of `source`
//! answer. There is no mask. `w` holds the projections `w.w_q`, `w.w_k` and `w.w_v`, each
//! with a bias; `w.w_q.forward(x)` gives `x · W^Q + b^Q` as a `Result`, which is an error if
//! the shapes do not fit. `softmax_rows` is there to use.
//!
//! Explained in chapter 7, “Attending to another sequence”.
//! Check it with `cargo learn check 17`; a hint: `cargo learn check 17 --hint`.

use std::process::ExitCode;

use exercises::{HeadParameters, Matrix, bank::cross_attention, softmax_rows};

/// What the head reads from `source` for each token of `x`.
///
/// # Shapes
/// `x` is `[n_q, d_model]`, `source` is `[n_kv, d_model]`, the result `[n_q, d_v]`.
pub fn cross_head(w: &HeadParameters, x: &Matrix, source: &Matrix) -> Matrix {
    // TODO: project, score, share out, average.
    todo!()
}

fn main() -> ExitCode {
    cross_attention::check(cross_head)
}
