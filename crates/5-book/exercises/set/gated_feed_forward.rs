//! The second half of a block in newer models: RMSNorm and a gated feed-forward layer.
//!
//! Each token x, a row, becomes x + f(n), where
//! - n = gain ⊙ x / √(mean(x²) + eps) is the RMSNorm of x, which subtracts no mean and
//!   adds no bias;
//! - f(n) = (silu(n · W_gate) ⊙ (n · W_up)) · W_down, with silu(z) = z / (1 + exp(−z)).
//!
//! The products with W_gate and W_up have d_ff entries each, and ⊙ multiplies them entry
//! by entry, so the gate decides how much of each entry passes. This is SwiGLU, without
//! biases.
//!
//! What must be true of the answer:
//! - a token's result does not depend on any other token;
//! - if every entry of n · W_gate is far below 0, x comes out unchanged;
//! - with an eps above 0, a token of zeros remains zeros.

use std::process::ExitCode;

use exercises::Matrix;
use exercises::gated_feed_forward::{self, FeedForward};

/// `x + (silu(n W_gate) ⊙ (n W_up)) W_down` with `n = gain ⊙ x / √(mean(x²) + eps)`.
///
/// # Shapes
/// `x` is `[n_tokens, d_model]`, `gain` has d_model entries, `ff.w_gate` and `ff.w_up`
/// are `[d_model, d_ff]`, `ff.w_down` is `[d_ff, d_model]`; the result has the shape of
/// `x`.
// ANCHOR: answer
pub fn gated(x: &Matrix, gain: &[f64], eps: f64, ff: &FeedForward) -> Matrix {
    // YOURS: a norm, two products, and one of them through the gate.
    let mut n = x.clone();
    for mut token in n.row_iter_mut() {
        let mean_square = token.norm_squared() / token.len() as f64;
        token /= (mean_square + eps).sqrt();
        for (j, entry) in token.iter_mut().enumerate() {
            *entry *= gain[j];
        }
    }
    let gate = (&n * &ff.w_gate).map(|z| z / (1.0 + (-z).exp())); // [n_tokens, d_ff]
    let up = n * &ff.w_up; // [n_tokens, d_ff]
    x + gate.component_mul(&up) * &ff.w_down
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    gated_feed_forward::check(gated)
}
