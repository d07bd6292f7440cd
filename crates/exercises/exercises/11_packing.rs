//! # 11 · Packing
//!
//! Pack the W^Q of all heads into one.
//!
//! `W^Q = [W_1^Q | … | W_h^Q]`: one projection whose queries are those of all heads, side
//! by side. Pack the weights, and the biases end to end. A `Linear` holds `weight` and
//! `bias`, an `Option` of a row; heads without biases pack into a projection without one.
//! A `Vec<f64>` becomes such a row by `.into()`.
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
