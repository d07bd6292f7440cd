//! # 41 · Pieces of a softmax
//!
//! What one query has made of several blocks of keys, merged into one output.
//!
//! The keys of a query come from several ranks, in blocks. Of each block there is a `Piece`:
//! - `m`, the largest score of the block, to which the other two are relative;
//! - `l`, the sum of `exp(score − m)`;
//! - `o`, the sum of `exp(score − m) · value`, with d_v entries, not divided by l.
//!
//! Return what the query reads from all of them: the output of one softmax over all keys.
//!
//! What must be true of the answer:
//! - it does not depend on how many pieces there are, nor on their order;
//! - a piece whose keys were all blocked by a mask (m is −∞, l and o are 0) changes nothing, and
//!   a query with no other pieces reads zeros;
//! - no score is too large or too small: exponentials of numbers above 0 are not needed.
//!
//! Explained in chapter 20, “Tokens apart”.
//! Check it with `cargo learn check 41`; a hint: `cargo learn check 41 --hint`.

use std::process::ExitCode;

use exercises::bank::pieces::{self, Piece};

/// The output of a head for one query, d_v entries.
///
/// # Shapes
/// At least one piece; each has an `o` of d_v entries.
pub fn merged(pieces: &[Piece]) -> Vec<f64> {
    // TODO: one reference for all pieces, then l and o relative to it.
    todo!()
}

fn main() -> ExitCode {
    pieces::check(merged)
}
