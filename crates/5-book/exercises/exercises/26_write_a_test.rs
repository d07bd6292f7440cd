//! # 26 · Write a test
//!
//! Write a test.
//!
//! The layers are given, and the test is yours. It is run on layers that are right, one of
//! them in f32, and on wrong layers of exercise 25. It **rejects** a layer by a panic, such
//! as an `assert!` that fails, and **accepts** it by returning normally. Catch every
//! wrong layer, and reject none that is right.
//!
//! `layer(&parameters, &query, &key, &value, &mask)` gives `out` and `attn`, as often as you
//! call it. `random_layer(dims, seed)` makes parameters, biases among them, and
//! `random_tokens(n_tokens, width, seed)` a sequence. `max_abs_diff(&a, &b)` is the largest
//! difference of two matrices, or an error if their shapes differ.
//!
//! Sizes are made by `Dims::with_head_sizes(d_model, n_heads, d_k, d_v).unwrap()`. Masks are
//! `Mask::None`, `Mask::Causal`, `Mask::FirstKeys(2)`, and `Mask::PerHead(vec![…])` gives each
//! head its own.
//!
//! Begin with one property, look at the score, and go on from there.
//!
//! Explained in chapter 12, “The mistake that a square hides”.
//! Check it with `cargo learn check 26`; a hint: `cargo learn check 26 --hint`.

use std::process::ExitCode;

use exercises::bank::write_a_test::{self, Layer, random_layer, random_tokens};
use exercises::{Attended, Dims, Mask, Matrix, max_abs_diff};

/// Panics on a layer that is wrong, and comes to its end on one that is right.
pub fn test(layer: &Layer) {
    // TODO: what is true of every right layer, and for no wrong one.
    todo!()
}

fn main() -> ExitCode {
    write_a_test::check(test)
}
