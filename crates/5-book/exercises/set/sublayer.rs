//! A layer with its residual and its norm.
//!
//! `f` is a layer and `norm` a norm. Both take tokens (a `&Matrix`) and return tokens of
//! the same shape (a `Matrix`). Call them like functions: `f(x)`. Add the residual, and
//! put the norm where `place` says:
//! - `NormPlace::Before`: the layer reads normalised tokens, and nothing else is
//!   normalised;
//! - `NormPlace::After`: the layer reads the tokens unchanged, and the sum is normalised.
//!
//! What must be true of the answer: if `f` returns zeros, the result is `x` itself with
//! `Before`, and `norm(x)` with `After`.

use std::process::ExitCode;

use exercises::Matrix;
use exercises::sublayer::{self, Layer, NormPlace};

/// The layer `f` with its residual and its norm.
///
/// # Shapes
/// `x` is `[n_tokens, d_model]`, and so is the result.
// ANCHOR: answer
pub fn sublayer(x: &Matrix, f: Layer, norm: Layer, place: NormPlace) -> Matrix {
    // YOURS: one formula for each place.
    match place {
        NormPlace::Before => x + f(&norm(x)),
        NormPlace::After => norm(&(x + f(x))),
    }
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    sublayer::check(sublayer)
}
