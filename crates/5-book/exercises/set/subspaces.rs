//! Project the tokens into the subspace of each head.
//!
//! Every head has a W^Q and a b^Q of its own: `Q_i = X W_i^Q + b_i^Q`. Write the queries
//! of all heads. A `HeadParameters` holds `w_q`, `w_k` and `w_v`; each is a `Linear` with a
//! `weight`, `[d_in, d_out]`, and a `bias`, which is there in every input of the check.
//! Watch how much of a token one head reads. d_k need not be d_model / h.

use std::process::ExitCode;

use exercises::{HeadParameters, Matrix, subspaces};

/// The queries of each head, head 0 first.
///
/// # Shapes
/// `x` is `[n_tokens, d_model]`, each `w_q.weight` is `[d_model, d_k]`; the result is one
/// `[n_tokens, d_k]` per head.
// ANCHOR: answer
pub fn queries(heads: &[HeadParameters], x: &Matrix) -> Vec<Matrix> {
    // YOURS: what each head asks about each token.
    heads.iter().map(|head| head.w_q.forward(x).expect("x is d_model wide")).collect()
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    subspaces::check(queries)
}
