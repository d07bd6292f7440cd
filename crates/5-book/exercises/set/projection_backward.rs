//! Backward through a projection.
//!
//! Forward, `Y = X W + b`: every token, a row of X, is multiplied by the same W and has
//! the same b added. `d_y` says how the loss moves when an entry of Y moves. Return how
//! it moves when an entry of W, of b and of X moves, in this order.
//!
//! - Each of the three has the shape of what it belongs to.
//! - W and b serve every token. So if you stack one more token below the others, the
//!   first two gradients grow by those of that token alone, and the third gets one more
//!   row.
//! - A token whose row of `d_y` is 0 contributes nothing.
//!
//! `linear.weight` is W, and every projection here has a bias. `m.transpose()` is the
//! transpose of a matrix, and `m.column_iter()` goes through its columns.

use std::process::ExitCode;

use exercises::{Linear, Matrix, projection_backward};

/// The gradients of W, of b and of X from the gradient of Y.
///
/// # Shapes
/// `linear.weight` is `[d_in, d_out]`, `x` is `[n_tokens, d_in]`, `d_y` is
/// `[n_tokens, d_out]`; the results are `[d_in, d_out]`, `[d_out]` and `[n_tokens, d_in]`.
// ANCHOR: answer
pub fn projection_backward(
    linear: &Linear,
    x: &Matrix,
    d_y: &Matrix,
) -> (Matrix, Vec<f64>, Matrix) {
    // YOURS: (d_w, d_b, d_x).
    let d_w = x.transpose() * d_y; // [d_in, d_out]
    let d_b = d_y.column_iter().map(|feature| feature.sum()).collect(); // [d_out]
    let d_x = d_y * linear.weight.transpose(); // [n_tokens, d_in]
    (d_w, d_b, d_x)
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    projection_backward::check(projection_backward)
}
