//! Each token on its own scale.
//!
//! For each token, a row of `x`, subtract the mean of its entries and divide by
//! √(variance + eps), where the variance is the mean of the squared distances from the
//! mean. Then multiply feature j by `gain[j]` and add `bias[j]`.
//!
//! What must be true of the answer:
//! - a token's result does not depend on any other token;
//! - with a gain of 1 and a bias of 0, adding a number to all entries of a token changes
//!   nothing, and multiplying them by 10 changes almost nothing;
//! - a token whose entries are all equal becomes the bias, since eps is above 0.
//!
//! `x.row_iter()` iterates over the tokens, `row.mean()` is the mean of a row, and
//! `row.variance()` its variance, with divisor n.

use std::process::ExitCode;

use exercises::{Matrix, layer_norm};

/// `gain ⊙ (x − mean) / √(var + eps) + bias`, token by token.
///
/// # Shapes
/// `x` is `[n_tokens, d_model]`, `gain` and `bias` have d_model entries, the result is
/// `[n_tokens, d_model]`.
// ANCHOR: answer
pub fn layer_norm(x: &Matrix, gain: &[f64], bias: &[f64], eps: f64) -> Matrix {
    // YOURS: each token by itself.
    let mut out = x.clone();
    for mut token in out.row_iter_mut() {
        token.add_scalar_mut(-token.mean());
        let variance = token.norm_squared() / token.len() as f64;
        token /= (variance + eps).sqrt();
        for (j, entry) in token.iter_mut().enumerate() {
            *entry = gain[j] * *entry + bias[j];
        }
    }
    out
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    layer_norm::check(layer_norm)
}
