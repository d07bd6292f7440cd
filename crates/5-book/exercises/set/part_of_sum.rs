//! What one rank adds to a layer whose heads are spread over several ranks.
//!
//! The output of a layer is `Σ_i head_i W_i^O + b^O`. The heads are divided among
//! `n_ranks` ranks, numbered from 0. Rank 0 has the first heads, rank 1 the next, and so
//! on. All have equally many, but if n_ranks does not divide h, each of the first h mod
//! n_ranks ranks has one more. With seven heads on three ranks, rank 0 has heads 0 to
//! 2, rank 1 has 3 and 4, and rank 2 has 5 and 6.
//!
//! Return this rank's part. An all-reduce will add up the parts of all ranks, and the
//! sum is the layer's output.
//!
//! What must be true of the answer:
//! - the sum of all parts contains b^O once; which rank adds it is up to you;
//! - apart from b^O, a part is what this rank's heads contribute, and nothing else;
//! - with more ranks than heads, the last ranks have no head. They still take part in
//!   the sum, so their parts must have the usual shape.
//!
//! `w_o.bias` is an `Option`, but here there is always a bias. After
//! `let b = w_o.bias.as_ref().unwrap();`, its entry c is `b[c]`.

use std::process::ExitCode;

use exercises::{Linear, Matrix, part_of_sum};

/// The part of one rank. You are given the outputs of all heads; use only the rank's own.
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
