//! What one rank adds to a layer whose heads are on several.
//!
//! The output of a layer is `Σ_i head_i W_i^O + b^O`. The heads are divided among
//! `n_ranks` ranks, counted from 0. Rank 0 has the first heads, rank 1 the next, and so
//! on, as many each; where h is not divisible, each of the first h mod n_ranks ranks has
//! one more. Seven heads on three ranks are 0 to 2, 3 and 4, 5 and 6.
//!
//! Return the part of this rank. An all-reduce will add up the parts of all ranks, and
//! the sum is the layer's output.
//!
//! What must be true of the answer:
//! - the sum of all parts has b^O once. Which rank adds it is up to you;
//! - apart from b^O, a part is what this rank's heads write, and nothing else;
//! - with more ranks than heads, the last ranks have no head. They take part in the sum,
//!   so theirs must have the shape of any other.
//!
//! `w_o.bias` is an `Option`, and here it is always there: with
//! `let b = w_o.bias.as_ref().unwrap();` its number c is `b[c]`.

use std::process::ExitCode;

use exercises::{Linear, Matrix, part_of_sum};

/// The part of one rank. You are given the outputs of all heads, and use the rank's own.
///
/// # Shapes
/// Each head is `[n_tokens, d_v]`, `w_o.weight` is `[h · d_v, d_model]`, its bias
/// `[d_model]`; the result is `[n_tokens, d_model]`.
// ANCHOR: answer
pub fn part(heads: &[Matrix], w_o: &Linear, n_ranks: usize, rank: usize) -> Matrix {
    // YOURS: the rank's heads, each times its own rows of W^O, and b^O on one rank.
    let (n_tokens, d_v) = heads[0].shape();
    let (n_each, n_more) = (heads.len() / n_ranks, heads.len() % n_ranks);
    let start = |rank: usize| rank * n_each + rank.min(n_more);
    let own = start(rank)..start(rank + 1);
    let mut out = Matrix::zeros(n_tokens, w_o.d_out());
    for (i, head) in own.clone().zip(&heads[own]) {
        out += head * w_o.weight.rows(i * d_v, d_v); // [n_tokens, d_model]
    }
    if let (0, Some(b_o)) = (rank, &w_o.bias) {
        for mut token in out.row_iter_mut() {
            token += b_o;
        }
    }
    out
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    part_of_sum::check(part)
}
