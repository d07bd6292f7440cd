//! Queries or keys of several heads, rotated by their positions.
//!
//! `x` has one row per token, and its columns are `n_heads` heads side by side, each of
//! even width d. Row r has position `positions[r]`, which need not be r: a cache may have
//! dropped rows, and a new query may come much later. A position need not be a whole
//! number.
//!
//! Pair entries **by halves**: in each head, entry p goes with entry p + d/2. Pair p is
//! rotated counterclockwise by the angle position · base^(−2p / d). A rotation by an
//! angle φ takes (a, b) to (a cos φ − b sin φ, a sin φ + b cos φ), and `angle.sin_cos()`
//! returns both the sine and the cosine.
//!
//! What must be true of the answer:
//! - a row at position 0 does not change, and every row keeps its length;
//! - the dot product of a rotated query and a rotated key depends only on the difference
//!   between their positions.

use std::process::ExitCode;

use exercises::{Matrix, rotary};

/// Each row rotated, head by head.
///
/// # Shapes
/// `x` is `[n_tokens, n_heads · d]`, `positions` has n_tokens entries, and the result has
/// the shape of `x`.
// ANCHOR: answer
pub fn rotate(x: &Matrix, n_heads: usize, positions: &[f64], base: f64) -> Matrix {
    // YOURS: two entries at a time.
    let d = x.ncols() / n_heads;
    let mut rotated = x.clone();
    for (row, position) in positions.iter().enumerate() {
        for head in 0..n_heads {
            for p in 0..d / 2 {
                let (a, b) = (head * d + p, head * d + p + d / 2);
                let angle = position * base.powf(-2.0 * p as f64 / d as f64);
                let (sin, cos) = angle.sin_cos();
                rotated[(row, a)] = x[(row, a)] * cos - x[(row, b)] * sin;
                rotated[(row, b)] = x[(row, a)] * sin + x[(row, b)] * cos;
            }
        }
    }
    rotated
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    rotary::check(rotate)
}
