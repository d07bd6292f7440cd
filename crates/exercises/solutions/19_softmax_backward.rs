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

use std::process::ExitCode;

use exercises::{Matrix, bank::softmax_backward};

/// The gradient of the scores from the gradient of the shares.
///
/// # Shapes
/// `attn` and `d_attn` are `[n_q, n_kv]`, the result too.
// ANCHOR: answer
pub fn softmax_backward(attn: &Matrix, d_attn: &Matrix) -> Matrix {
    // YOURS: the gradient of each score, from its row alone.
    let rows = attn.row_iter().zip(d_attn.row_iter());
    let dots: Vec<f64> = rows.map(|(a, d_a)| a.dot(&d_a)).collect(); // one a row
    let (n_q, n_kv) = attn.shape();
    Matrix::from_fn(n_q, n_kv, |i, k| attn[(i, k)] * (d_attn[(i, k)] - dots[i]))
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    softmax_backward::check(softmax_backward)
}
