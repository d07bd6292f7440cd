//! The map that a perfect induction head has, as the second layer of a model would.
//!
//! `ids` are the tokens of a sequence by number. Each token looks for the
//! **last earlier** place where the same token appeared, and gives its whole attention
//! weight, 1, to the token that came **after** that place. A token that has not
//! appeared before attends to nothing: its row is zeros.
//!
//! What must be true of the answer:
//! - a row sums to 1 or to 0;
//! - no token attends to what comes after it (to itself it may: in `a a`, the second a is
//!   what came after the first).

use std::process::ExitCode;

use exercises::{Matrix, induction};

/// What each token attends to.
///
/// # Shapes
/// `ids` has n_tokens entries, the result is `[n_tokens, n_tokens]`: a row for each
/// query.
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
