//! # 11 · Packing
//!
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
//!
//! Explained in chapter 5, “Pack and unpack”.
//! Check it with `cargo learn check 11`; a hint: `cargo learn check 11 --hint`.

use std::process::ExitCode;

use exercises::{HeadParameters, Linear, Matrix, bank::packing};

/// One projection that makes the queries of all heads.
///
/// # Shapes
/// Each `w_q.weight` is `[d_model, d_k]` and its bias `[d_k]`, if there is one; the result
/// is `[d_model, h · d_k]` and `[h · d_k]`.
pub fn pack_queries(heads: &[HeadParameters]) -> Linear {
    // TODO: one weight and one bias for all heads, head 0 first.
    todo!()
}

fn main() -> ExitCode {
    packing::check(pack_queries)
}
