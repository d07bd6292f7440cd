//! What a new token attends to when its cache forgets.
//!
//! `keys` has the keys of all n tokens of a text so far, the new one last. The cache
//! keeps only two kinds: the first `n_sinks` of the text, and the last `window`,
//! including the new token's. All others are gone. There is at least one token, and
//! `window` is at least 1.
//!
//! The score of a key is q · k / √d minus slope · distance (ALiBi). Distance is counted
//! in the **text**: how many tokens the key is before the new one, whatever has been
//! forgotten between them.
//!
//! What must be true of the answer:
//! - there is one attention weight per token of the text, 0 for forgotten tokens, and all
//!   weights sum to 1;
//! - with a window of n, nothing is forgotten, and n_sinks does not matter;
//! - with n_sinks of n or more, nothing is forgotten either: a short text may have fewer
//!   tokens than the cache has sinks, or than the window is wide;
//! - with a window of 1 and no sinks, the new token attends to itself.
//!
//! You may use `softmax_rows`; a score of −∞ gets an attention weight of 0.

use std::process::ExitCode;

use exercises::{Matrix, softmax_rows, window_cache};

/// The new token's attention weights.
///
/// # Shapes
/// `q` is `[1, d]`, `keys` is `[n, d]`, and the result is `[1, n]`.
// ANCHOR: answer
pub fn weights(
    q: &Matrix,
    keys: &Matrix,
    window: usize,
    n_sinks: usize,
    slope: f64,
) -> Matrix {
    // YOURS: the scores of the keys that are kept, and −∞ for the others.
    let newest = keys.nrows() - 1;
    let d = keys.ncols() as f64;
    let mut scores = q * keys.transpose() / d.sqrt(); // [1, n]
    for j in 0..=newest {
        let distance = newest - j;
        if j < n_sinks || distance < window {
            scores[(0, j)] -= slope * distance as f64;
        } else {
            scores[(0, j)] = f64::NEG_INFINITY;
        }
    }
    softmax_rows(scores)
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    window_cache::check(weights)
}
