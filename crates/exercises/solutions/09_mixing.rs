//! Mix the heads by W^O.
//!
//! `MultiHead = Concat(head_1, …, head_h) W^O + b^O`. You get the outputs of the heads and
//! W^O with its bias; write the output of the layer. `w_o.weight` is stored `[in, out]`, as
//! in the formula. `w_o.bias` is an `Option`, and here it is always there: with
//! `let b = w_o.bias.as_ref().unwrap();` its number c is `b[c]`. d_model need not be h · d_v. Your `concat` of the exercise before is
//! welcome: copy it below the function.

use std::process::ExitCode;

use exercises::{Linear, Matrix, bank::mixing};

/// The output of the layer.
///
/// # Shapes
/// Each head is `[n_tokens, d_v]`, `w_o.weight` is `[h · d_v, d_model]`, its bias
/// `[d_model]`; the result is `[n_tokens, d_model]`.
// ANCHOR: answer
pub fn mix(heads: &[Matrix], w_o: &Linear) -> Matrix {
    // YOURS: side by side, then mixed.
    let (n_tokens, d_v) = heads[0].shape();
    let mut concat = Matrix::zeros(n_tokens, heads.len() * d_v);
    for (i, head) in heads.iter().enumerate() {
        concat.columns_mut(i * d_v, d_v).copy_from(head);
    }
    w_o.forward(&concat).expect("W^O has a row for each column")
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    mixing::check(mix)
}
