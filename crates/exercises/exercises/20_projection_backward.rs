//! # 20 · A projection, backwards
//!
//! The way back through a projection.
//!
//! Forward, `Y = X W + b`: every token, a row of X, is multiplied by the same W and has the
//! same b added. `d_y` is the gradient of the loss with respect to Y. Give the gradients of
//! W, of b and of X, in this order:
//!
//! `dW = Xᵀ dY`, `db = Σ_t dY_t`, `dX = dY Wᵀ`
//!
//! Each has the shape of what it belongs to. `linear.weight` is W, and every projection
//! here has a bias. `m.transpose()` turns a matrix, and `m.column_iter()` gives its columns.
//!
//! Explained in chapter 9, “One product, and what its shapes force”.
//! Check it with `cargo learn check 20`; a hint: `cargo learn check 20 --hint`.

use std::process::ExitCode;

use exercises::{Linear, Matrix, bank::projection_backward};

/// The gradients of W, of b and of X from the gradient of Y.
///
/// # Shapes
/// `linear.weight` is `[d_in, d_out]`, `x` is `[n_tokens, d_in]`, `d_y` is
/// `[n_tokens, d_out]`; the results are `[d_in, d_out]`, `[d_out]` and `[n_tokens, d_in]`.
pub fn projection_backward(
    linear: &Linear,
    x: &Matrix,
    d_y: &Matrix,
) -> (Matrix, Vec<f64>, Matrix) {
    // TODO: (d_w, d_b, d_x).
    todo!()
}

fn main() -> ExitCode {
    projection_backward::check(projection_backward)
}
