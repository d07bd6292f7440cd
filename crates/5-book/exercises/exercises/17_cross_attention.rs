//! # 17 · Cross-attention
//!
//! One head that asks another sequence.
//!
//! The tokens of `x` ask, and those of `source` answer. There is no mask.
//!
//! - Each token of x gets one row, an average of values of source. So if source has a
//!   single token, every row of the result is that token's value, whatever x is.
//! - The two sequences may differ in length. Exchange two tokens of source, and the
//!   result stays as it is; exchange two of x, and two of its rows change places.
//! - Scores are scaled as in self-attention.
//!
//! `w` has the projections `w.w_q`, `w.w_k` and `w.w_v`, each with a bias;
//! `w.w_q.forward(x)` applies one, as a `Result`, which is an error if the shapes do not
//! fit. `softmax_rows` is there to use, and takes the matrix itself, not a reference.
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
    // TODO: what x reads from source.
    todo!()
}

fn main() -> ExitCode {
    cross_attention::check(cross_head)
}
