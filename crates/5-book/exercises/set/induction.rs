//! The attention map of a perfect induction head in a model's second layer.
//!
//! `ids` holds the tokens of a sequence as numbers. Each token looks for the
//! **last earlier** occurrence of the same token, and gives its whole attention, a weight
//! of 1, to the token **after** that occurrence. A token that has not appeared before
//! attends to nothing, so its row is zeros.
//!
//! What must be true of the answer:
//! - a row sums to 1 or to 0;
//! - no token attends to a later one, but it may attend to itself: in `a a`, the second a
//!   is the token after the first.

use std::process::ExitCode;

use exercises::{Matrix, induction};

/// The attention weights of each token.
///
/// # Shapes
/// `ids` has n_tokens entries, the result is `[n_tokens, n_tokens]`, with a row
/// per query.
// ANCHOR: answer
pub fn induction_map(ids: &[usize]) -> Matrix {
    // YOURS: a map with at most one 1 per row.
    let mut attn = Matrix::zeros(ids.len(), ids.len());
    for (t, id) in ids.iter().enumerate() {
        let last_same = ids[..t].iter().rposition(|earlier| earlier == id);
        if let Some(place) = last_same {
            attn[(t, place + 1)] = 1.0;
        }
    }
    attn
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    induction::check(induction_map)
}
