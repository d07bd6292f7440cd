//! # 31 · An induction head
//!
//! The map that a perfect induction head has, as the second layer of a model would.
//!
//! `ids` are the tokens of a sequence by number. Each token looks for the **last earlier**
//! place where the same token stood, and attends with all its share to the token that came
//! **after** that place. A token that has not stood there before attends to nothing: its row
//! is zeros.
//!
//! What must be true of the answer:
//! - a row sums to 1 or to 0;
//! - no token attends to what comes after it (to itself it may: in `a a`, the second a is
//!   what came after the first).
//!
//! Explained in chapter 15, “Why one layer is not enough”.
//! Check it with `cargo learn check 31`; a hint: `cargo learn check 31 --hint`.

use std::process::ExitCode;

use exercises::{Matrix, bank::induction};

/// What each token attends to.
///
/// # Shapes
/// `ids` has n_tokens entries, the result is `[n_tokens, n_tokens]`: a row a query.
pub fn induction_map(ids: &[usize]) -> Matrix {
    // TODO: a map with at most one 1 per row.
    todo!()
}

fn main() -> ExitCode {
    induction::check(induction_map)
}
