//! Dropout: in training, some entries are dropped at random, so that no part of a model
//! can rely on any single one.
//!
//! In training, each entry is dropped (set to 0) with probability p. A kept entry is
//! divided by 1 − p, so that its mean over many draws is the same as without dropout. In
//! evaluation, nothing is dropped or scaled.
//!
//! The draws have already been made: `keep` is true where an entry is kept. Return the
//! output, and the gradient of x, given `d_out`, the gradient of the output.
//!
//! What must be true of the answer:
//! - in evaluation, `out` equals `x`, and `d_x` equals `d_out`;
//! - a dropped entry has a gradient of 0, whatever `d_out` is there;
//! - a kept entry that is 0 has a gradient like any other kept entry.

use std::process::ExitCode;

use exercises::{
    Matrix,
    dropout::{self, Dropped},
};

/// The output, and the gradient of x.
///
/// # Shapes
/// `x`, `d_out`, `keep`, `out` and `d_x` are `[n_rows, n_columns]`; p is at least 0 and
/// below 1.
// ANCHOR: answer
pub fn dropout(
    x: &Matrix,
    d_out: &Matrix,
    keep: &Matrix<bool>,
    p: f64,
    is_training: bool,
) -> Dropped {
    // YOURS: Dropped { out, d_x }.
    let factors = keep.map(|is_kept| match (is_training, is_kept) {
        (true, true) => 1.0 / (1.0 - p),
        (true, false) => 0.0,
        (false, _) => 1.0,
    });
    let out = x.component_mul(&factors);
    let d_x = d_out.component_mul(&factors);
    Dropped { out, d_x }
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    dropout::check(dropout)
}
