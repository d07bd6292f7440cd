//! A softmax whose scores arrive in blocks.
//!
//! One query meets its keys block by block, and each key only once. For all keys so
//! far, a `Running` keeps three things:
//! - `m`, the largest score, an `f64`;
//! - `l`, the sum of `exp(score − m)`, an `f64`;
//! - `o`, the sum of `exp(score − m) · value`, a `Vec<f64>` with d_v entries.
//!
//! Take in one block: its `scores`, and its `values`, with one row per key. After every
//! block, m, l and o must be what they would be if all keys so far had come at once.
//! The head's output is o / l, but that division comes only after the last block.
//!
//! A block may or may not raise the maximum; one without keys changes nothing. A score
//! of −∞ means that a mask blocks the key: its term is 0. While every key so far is
//! blocked, m is −∞, and l and o are 0, as before the first block. A score may be 1000
//! or −1000: you never need the exponential of a number above 0.

use std::process::ExitCode;

use exercises::{
    Matrix,
    online_softmax::{self, Running},
};

/// Updates `running` with a block of keys.
///
/// # Shapes
/// `scores` has n entries, `values` is `[n, d_v]`, `running.o` has d_v entries.
// ANCHOR: answer
pub fn take_in(running: &mut Running, scores: &[f64], values: &Matrix) {
    // YOURS: m, l and o of all keys so far.
    let m = scores.iter().copied().fold(running.m, f64::max);
    if m == f64::NEG_INFINITY {
        return; // every key so far is blocked
    }
    let correction = (running.m - m).exp();
    running.l *= correction;
    running.o.iter_mut().for_each(|o| *o *= correction);
    for (score, value) in scores.iter().zip(values.row_iter()) {
        let exp = (score - m).exp();
        running.l += exp;
        running.o.iter_mut().zip(value.iter()).for_each(|(o, v)| *o += exp * v);
    }
    running.m = m;
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    online_softmax::check(take_in)
}
