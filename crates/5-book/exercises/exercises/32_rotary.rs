//! # 32 · Rotated by position
//!
//! Queries or keys of several heads, rotated by their positions.
//!
//! `x` has one row per token, and its columns are `n_heads` heads side by side, each of even
//! width d. Row r stands at `positions[r]`, which need not be r: a cache may have forgotten
//! rows, and a new query may stand far behind.
//!
//! Pair **by halves**: in each head, entry p goes with entry p + d/2. Pair p is rotated
//! counterclockwise by the angle position · base^(−2p / d).
//!
//! What must be true of the answer:
//! - a row at position 0 stays as it is, and every row keeps its length;
//! - the dot product of a rotated query and a rotated key depends on the difference of
//!   their positions alone.
//!
//! Explained in chapter 17, “Rotary positions”.
//! Check it with `cargo learn check 32`; a hint: `cargo learn check 32 --hint`.

use std::process::ExitCode;

use exercises::{Matrix, bank::rotary};

/// Each row rotated, head by head.
///
/// # Shapes
/// `x` is `[n_tokens, n_heads · d]`, `positions` has n_tokens entries, the result is of the
/// shape of `x`.
pub fn rotate(x: &Matrix, n_heads: usize, positions: &[f64], base: f64) -> Matrix {
    // TODO: two entries at a time.
    todo!()
}

fn main() -> ExitCode {
    rotary::check(rotate)
}
