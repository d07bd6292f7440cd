//! How many parameters does a layer have?
//!
//! Count the numbers that training adjusts: the matrices W_i^Q, W_i^K and W_i^V of each
//! head, the one W^O, and, if `bias` is true, a bias for each of them. Query, key and
//! value tokens are all `d_model` wide. `dims` has the methods `d_model()`, `n_heads()`,
//! `d_k()`, `d_v()`, and `concat_width()` for h · d_v. The heads may be of any width: do
//! not count on h · d_k = d_model.

use std::process::ExitCode;

use exercises::{Dims, count_parameters};

/// The number of parameters of a layer of these sizes.
///
/// # Shapes
/// W_i^Q and W_i^K are `[d_model, d_k]`, W_i^V is `[d_model, d_v]`, W^O is
/// `[h · d_v, d_model]`; a bias has as many entries as its matrix has columns.
// ANCHOR: answer
pub fn count_parameters(dims: Dims, bias: bool) -> usize {
    // YOURS: add up the entries of every matrix and every bias of the layer.
    let linear = |d_in: usize, d_out: usize| d_in * d_out + if bias { d_out } else { 0 };
    let d_model = dims.d_model();
    let one_head = 2 * linear(d_model, dims.d_k()) + linear(d_model, dims.d_v());
    dims.n_heads() * one_head + linear(dims.concat_width(), d_model)
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    count_parameters::check(count_parameters)
}
