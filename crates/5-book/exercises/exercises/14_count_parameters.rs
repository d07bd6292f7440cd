//! # 14 · Count the parameters
//!
//! How many parameters does a layer have?
//!
//! Count what training sets: the matrices W_i^Q, W_i^K and W_i^V of each head,
//! the one W^O, and, if `bias` is true, a bias for each of them. Query, key and value
//! tokens are all `d_model` wide. `dims` has the methods `d_model()`, `n_heads()`, `d_k()`,
//! `d_v()`, and `concat_width()` for h · d_v. The heads may be of any width: do not count
//! on h · d_k = d_model.
//!
//! Explained in chapter 6, “Counting parameters”.
//! Check it with `cargo learn check 14`; a hint: `cargo learn check 14 --hint`.

use std::process::ExitCode;

use exercises::{Dims, bank};

/// The number of parameters of a layer of these sizes.
///
/// # Shapes
/// W_i^Q and W_i^K are `[d_model, d_k]`, W_i^V is `[d_model, d_v]`, W^O is
/// `[h · d_v, d_model]`; a bias has as many entries as its matrix has columns.
pub fn count_parameters(dims: Dims, bias: bool) -> usize {
    // TODO: add up the entries of every matrix and every bias of the layer.
    todo!()
}

fn main() -> ExitCode {
    bank::count_parameters::check(count_parameters)
}
