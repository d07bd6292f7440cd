//! What one query has from several blocks of keys, merged into one output.
//!
//! The keys of a query come from several ranks, in blocks. Each block gives a `Piece`:
//! - `m`, the largest score of the block, to which `l` and `o` are relative;
//! - `l`, the sum of `exp(score − m)`;
//! - `o`, the sum of `exp(score − m) · value`, with d_v entries, not divided by l.
//!
//! Return the query's output: that of one softmax over all keys.
//!
//! What must be true of the answer:
//! - it does not depend on how many pieces there are, nor on their order;
//! - a piece whose keys are all blocked by a mask (m is −∞, and l and o are 0) changes
//!   nothing, and a query that has only such pieces gets zeros;
//! - no score is too large or too small: you never need the exponential of a number
//!   above 0.

use std::process::ExitCode;

use exercises::pieces::{self, Piece};

/// The output of a head for one query, with d_v entries.
///
/// # Shapes
/// At least one piece; each has an `o` of d_v entries.
// ANCHOR: answer
pub fn merged(pieces: &[Piece]) -> Vec<f64> {
    // YOURS: one reference for all pieces, then l and o relative to it.
    let m = pieces.iter().map(|piece| piece.m).fold(f64::NEG_INFINITY, f64::max);
    let (mut l, mut o) = (0.0, vec![0.0; pieces[0].o.len()]);
    for piece in pieces.iter().filter(|piece| piece.l > 0.0) {
        let factor = (piece.m - m).exp();
        l += factor * piece.l;
        o.iter_mut().zip(&piece.o).for_each(|(sum, o)| *sum += factor * o);
    }
    if l > 0.0 {
        o.iter_mut().for_each(|o| *o /= l);
    }
    o
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    pieces::check(merged)
}
