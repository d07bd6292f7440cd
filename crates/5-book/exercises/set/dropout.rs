//! Dropout: in training, some entries are dropped at random, so that no part of a model
//! can rely on a single one.
//!
//! In training each entry is dropped with the probability p: it becomes 0. So that its
//! mean over many draws is what it would be without dropout, an entry that is kept is
//! divided by 1 − p. In evaluation nothing is dropped and nothing is scaled.
//!
//! The draws are made already: `keep` is true where an entry is kept. Return what comes
//! out, and the gradient of x, from that of what comes out.
//!
//! What must be true of the answer:
//! - in evaluation both are what was given;
//! - an entry that was dropped has a gradient of 0, whatever `d_out` is there;
//! - an entry that is 0 and is kept has a gradient as any other that is kept.

use std::process::ExitCode;

use exercises::{
    Matrix,
    dropout::{self, Dropped},
};

/// What comes out, and the gradient of x.
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
