//! # 27 · A softmax in blocks
//!
//! A softmax whose scores arrive in blocks.
//!
//! One query meets its keys block by block, and no block comes twice. Three things are kept
//! of all keys so far, in a `Running`:
//! - `m`, the largest score, an `f64`;
//! - `l`, the sum of `exp(score − m)`, an `f64`;
//! - `o`, the sum of `exp(score − m) · value`, a `Vec<f64>` with d_v entries.
//!
//! Take one block in: `scores` with the values of its keys, a row of `values` each. After
//! every block, m, l and o must be what they would be if all keys so far had come at once.
//! So o / l is the head's output, and a division comes only after the last block.
//!
//! A block may raise the maximum or not. A score of −∞ is a key that a mask blocks: its
//! term is 0. Where every key so far is blocked, m is −∞ and l and o are 0, as before the
//! first block. No score is too large: exponentials of numbers above 0 are not needed.
//!
//! Explained in chapter 13, “A softmax in blocks”.
//! Check it with `cargo learn check 27`; a hint: `cargo learn check 27 --hint`.

use std::process::ExitCode;

use exercises::{
    Matrix,
    bank::online_softmax::{self, Running},
};

/// Takes a block of keys into what is kept.
///
/// # Shapes
/// `scores` has n entries, `values` is `[n, d_v]`, `running.o` has d_v entries.
pub fn take_in(running: &mut Running, scores: &[f64], values: &Matrix) {
    // TODO: m, l and o of all keys so far.
    todo!()
}

fn main() -> ExitCode {
    online_softmax::check(take_in)
}
