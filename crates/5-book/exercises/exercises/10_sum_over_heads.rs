//! # 10 · Sum over heads
//!
//! The same layer, as a sum over heads.
//!
//! `Σ_i head_i W_i^O + b^O`, without concatenating. W_i^O is the part of W^O that head i
//! meets when the heads lie side by side. Watch which part that is, and how often b^O is
//! added. `w_o.bias` is an `Option`, and here it is always there: with
//! `let b = w_o.bias.as_ref().unwrap();` its number c is `b[c]`. The check compares your sum with the concatenation, mixed. Close chapter 4 meanwhile: its code is near.
//!
//! Explained in chapter 4, “The same layer, as a sum”.
//! Check it with `cargo learn check 10`; a hint: `cargo learn check 10 --hint`.

use std::process::ExitCode;

use exercises::{Linear, Matrix, bank::sum_over_heads};

/// The output of the layer, each head writing into it by itself.
///
/// # Shapes
/// Each head is `[n_tokens, d_v]`, `w_o.weight` is `[h · d_v, d_model]`, its bias
/// `[d_model]`; the result is `[n_tokens, d_model]`.
pub fn sum_of_heads(heads: &[Matrix], w_o: &Linear) -> Matrix {
    // TODO: add up what each head writes, and the bias.
    todo!()
}

fn main() -> ExitCode {
    sum_over_heads::check(sum_of_heads)
}
