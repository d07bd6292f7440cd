//! Pack the W^Q of all heads into one.
//!
//! Return one projection that does the work of all: applied to any tokens, it must make
//! the queries of head 0, then those of head 1 next to them, and so on, in one product.
//! Nothing is computed for that. Every entry of every head's weight appears once, and so
//! does every entry of a bias; the question is where.
//!
//! A `Linear` has a `weight`, `[in, out]`, and a `bias`, an `Option` of a row. Heads
//! without biases pack into a projection without one. A `Vec<f64>` becomes such a row by
//! `.into()`.

use std::process::ExitCode;

use exercises::{HeadParameters, Linear, Matrix, packing};

/// One projection that makes the queries of all heads.
///
/// # Shapes
/// Each `w_q.weight` is `[d_model, d_k]` and its bias `[d_k]`, if there is one; the
/// result is `[d_model, h · d_k]` and `[h · d_k]`.
// ANCHOR: answer
pub fn pack_queries(heads: &[HeadParameters]) -> Linear {
    // YOURS: one weight and one bias for all heads, head 0 first.
    let columns = heads.iter().flat_map(|head| head.w_q.weight.column_iter());
    let weight = Matrix::from_columns(&columns.collect::<Vec<_>>());
    let biases = heads.iter().filter_map(|head| head.w_q.bias.as_ref());
    let biases: Vec<f64> = biases.flatten().copied().collect();
    let bias = (!biases.is_empty()).then(|| biases.into());
    Linear { weight, bias }
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    packing::check(pack_queries)
}
