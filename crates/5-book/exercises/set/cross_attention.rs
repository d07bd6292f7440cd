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

use std::process::ExitCode;

use exercises::{HeadParameters, Matrix, cross_attention, softmax_rows};

/// What the head reads from `source` for each token of `x`.
///
/// # Shapes
/// `x` is `[n_q, d_model]`, `source` is `[n_kv, d_model]`, the result `[n_q, d_v]`.
// ANCHOR: answer
pub fn cross_head(w: &HeadParameters, x: &Matrix, source: &Matrix) -> Matrix {
    // YOURS: what x reads from source.
    let q = w.w_q.forward(x).unwrap(); // [n_q, d_k]
    let k = w.w_k.forward(source).unwrap(); // [n_kv, d_k]
    let v = w.w_v.forward(source).unwrap(); // [n_kv, d_v]
    let d_k = q.ncols() as f64;
    softmax_rows(q * k.transpose() / d_k.sqrt()) * v
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    cross_attention::check(cross_head)
}
