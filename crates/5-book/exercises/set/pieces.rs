//! What one query has made of several blocks of keys, merged into one output.
//!
//! The keys of a query come from several ranks, in blocks. Each block gives a `Piece`:
//! - `m`, the largest score of the block, to which the other two are relative;
//! - `l`, the sum of `exp(score − m)`;
//! - `o`, the sum of `exp(score − m) · value`, with d_v entries, not divided by l.
//!
//! Return what the query reads from all of them: the output of one softmax over all keys.
//!
//! What must be true of the answer:
//! - it does not depend on how many pieces there are, nor on their order;
//! - a piece whose keys were all blocked by a mask (m is −∞, l and o are 0) changes
//!   nothing, and a query with no other pieces reads zeros;
//! - no score is too large or too small: exponentials of numbers above 0 are not needed.

use std::process::ExitCode;

use exercises::pieces::{self, Piece};

/// The output of a head for one query, d_v entries.
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
