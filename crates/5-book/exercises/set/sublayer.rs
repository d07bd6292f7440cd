//! A layer with its residual and its norm.
//!
//! `f` is a layer and `norm` a norm; both take tokens, a `&Matrix`, and return tokens of
//! the same shape, a `Matrix`. You call them as functions: `f(x)`. Add the residual, and
//! put the norm where `place` says:
//! - `NormPlace::Before`: the layer reads normed tokens, and nothing else is normed;
//! - `NormPlace::After`: the layer reads the tokens as they are, and the sum is normed.
//!
//! What must be true of the answer: if `f` gives zeros, the first returns `x` itself, and
//! the second `norm(x)`.

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
