//! The same layer, as a sum over heads.
//!
//! `Σ_i head_i W_i^O + b^O`, without concatenating. W_i^O is the part of W^O that head i
//! meets when the heads lie side by side. Watch which part that is, and how often b^O is
//! added. `w_o.bias` is an `Option`, and here it is always there: with
//! `let b = w_o.bias.as_ref().unwrap();` its number c is `b[c]`.
//!
//! The check compares your sum with the concatenation times W^O. Close “A lens per head”
//! while you write, since its code is close to the answer.

use std::process::ExitCode;

use exercises::{Linear, Matrix, sum_over_heads};

/// The output of the layer, each head writing into it by itself.
///
/// # Shapes
/// Each head is `[n_tokens, d_v]`, `w_o.weight` is `[h · d_v, d_model]`, its bias
/// `[d_model]`; the result is `[n_tokens, d_model]`.
// ANCHOR: answer
pub fn sum_of_heads(heads: &[Matrix], w_o: &Linear) -> Matrix {
    // YOURS: add up what each head writes, and the bias.
    let (n_tokens, d_v) = heads[0].shape();
    let mut out = Matrix::zeros(n_tokens, w_o.d_out());
    for (i, head) in heads.iter().enumerate() {
        out += head * w_o.weight.rows(i * d_v, d_v); // [n_tokens, d_model]
    }
    if let Some(b_o) = &w_o.bias {
        for mut token in out.row_iter_mut() {
            token += b_o;
        }
    }
    out
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    sum_over_heads::check(sum_of_heads)
}
