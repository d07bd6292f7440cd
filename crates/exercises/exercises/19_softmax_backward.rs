//! # 19 · Softmax, backwards
//!
//! The way back through softmax, row by row.
//!
//! Forward, each row of scores became a row of shares: `attn = softmax(scores)`. `d_attn`
//! is the gradient of the loss with respect to the shares. What is it with respect to the
//! scores? For share `a_k` of a row and its gradient `da_k`:
//!
//! `ds_k = a_k · (da_k − Σ_j a_j · da_j)`
//!
//! The sum runs over the row. Make no Jacobian. A query that may attend to nothing has a
//! row of zeros in `attn`.
//!
//! Explained in chapter 9, “Softmax, one dot product a row”.
//! Check it with `cargo learn check 19`; a hint: `cargo learn check 19 --hint`.

use std::process::ExitCode;

use exercises::{Matrix, bank::softmax_backward};

/// The gradient of the scores from the gradient of the shares.
///
/// # Shapes
/// `attn` and `d_attn` are `[n_q, n_kv]`, the result too.
pub fn softmax_backward(attn: &Matrix, d_attn: &Matrix) -> Matrix {
    // TODO: the gradient of each score, from its row alone.
    todo!()
}

fn main() -> ExitCode {
    softmax_backward::check(softmax_backward)
}
