//! One logit, split into the paths behind it.
//!
//! A model has no norms and no feed-forward layers, only a residual and attention heads
//! in two layers. A head reads x, `[n_tokens, d_model]`, and adds `attn · x · w_ov` to
//! the residual, where `attn` is its map and `w_ov`, `[d_model, d_model]`, is its W^V
//! times its W^O. Layer 1 has at least one head, and all its heads read the tokens x. The
//! only head of layer 2 reads the residual after layer 1: x plus everything that those
//! heads added. In the end, the dot product of a token's residual with `direction`, the
//! unembedding's column for one word, is the word's logit.
//!
//! With the maps fixed, everything is linear, so the logit is a sum over paths. Return a
//! row per token, with a column per path:
//! - column 0: x straight to the logit;
//! - columns 1 to h: through head 0, head 1, … of layer 1 and then straight to the logit;
//! - column h + 1: x through the head of layer 2 alone;
//! - columns h + 2 to 2h + 1: through head 0, head 1, … of layer 1 and then through the
//!   head of layer 2.
//!
//! What must be true of the answer: each row sums to the token's logit.

use std::process::ExitCode;

use exercises::Matrix;
use exercises::logit_paths::{self, Head};

/// What each path adds to the logit of each token.
///
/// # Shapes
/// `x` is `[n_tokens, d_model]`, `first` has h heads, `direction` has d_model entries;
/// the result is `[n_tokens, 2h + 2]`.
// ANCHOR: answer
pub fn logit_paths(
    x: &Matrix,
    first: &[Head],
    second: &Head,
    direction: &[f64],
) -> Matrix {
    // YOURS: what reaches layer 2 in parts, each part with and without its head.
    let through = |head: &Head, x: &Matrix| &head.attn * x * &head.w_ov;
    let direction = Matrix::from_column_slice(direction.len(), 1, direction);
    let mut parts = vec![x.clone()];
    parts.extend(first.iter().map(|head| through(head, x)));

    let mut paths = Matrix::zeros(x.nrows(), 2 * parts.len());
    for (i, part) in parts.iter().enumerate() {
        let straight = part * &direction; // [n_tokens, 1]
        let by_second = through(second, part) * &direction;
        paths.columns_mut(i, 1).copy_from(&straight);
        paths.columns_mut(parts.len() + i, 1).copy_from(&by_second);
    }
    paths
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    logit_paths::check(logit_paths)
}
