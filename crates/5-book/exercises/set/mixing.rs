//! Mix the heads by W^O.
//!
//! You get the outputs of the heads and `w_o`, W^O with its bias b^O; write the output of
//! the layer.
//!
//! - Every entry of the output is a weighted sum over all heads of its token, plus one
//!   entry of the bias. So if one head changes at one token, that token's row changes, in
//!   every column.
//! - If all heads are 0, every row of the output is b^O.
//! - The output is as wide as W^O makes it, and d_model need not be h · d_v.
//!
//! `w_o.weight` is stored `[in, out]`. `w_o.bias` is an `Option`, and here it is always
//! there: with `let b = w_o.bias.as_ref().unwrap();` its entry c is `b[c]`. Your `concat`
//! of the exercise before is welcome: copy it below the function.

use std::process::ExitCode;

use exercises::{Linear, Matrix, mixing};

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
