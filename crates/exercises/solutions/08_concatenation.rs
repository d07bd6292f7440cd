//! Set the outputs of the heads side by side.
//!
//! `Concat(head_1, …, head_h)`: for every token one row, in which the numbers of all heads
//! stand, those of the first head first. Watch which number of the result belongs to which
//! head: the shape alone does not tell. In the inputs of the check a number says where it
//! comes from: 120 is head 1, token 2, feature 0, each counted from 0.

use std::process::ExitCode;

use exercises::{Matrix, bank::concatenation};

/// The heads side by side.
///
/// # Shapes
/// Each head is `[n_tokens, d_v]`, the result `[n_tokens, h · d_v]`.
// ANCHOR: answer
pub fn concat(heads: &[Matrix]) -> Matrix {
    // YOURS: all heads in one matrix, head 0 in its first columns.
    let (n_tokens, d_v) = heads[0].shape();
    Matrix::from_fn(n_tokens, heads.len() * d_v, |token, column| {
        heads[column / d_v][(token, column % d_v)]
    })
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    concatenation::check(concat)
}
