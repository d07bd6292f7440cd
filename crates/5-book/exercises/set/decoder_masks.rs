//! The masks of an encoder–decoder.
//!
//! A source is padded to `n_source` positions. The first `source_length` of them (at
//! least one) are real; the rest is padding. The target has `n_target` tokens, all real.
//! Three attentions need a mask, and an entry is **true where the query may attend to the
//! key**:
//! - the encoder's: every source position reads every real one;
//! - the decoder's own: a target token reads itself and those before it;
//! - the cross-attention's: every target token reads every real source position.
//!
//! What must be true of the answer:
//! - each row of each mask has a key: padding positions ask too, and get an answer,
//!   though nothing reads it;
//! - adding a token at the end of the target changes no other row;
//! - with no padding, two of the three masks are true everywhere.
//!
//! `Matrix::from_fn(n_rows, n_columns, |i, j| …)` makes a matrix of `bool` if the rule
//! returns a `bool`.

use std::process::ExitCode;

use exercises::Matrix;
use exercises::decoder_masks::{self, ThreeMasks};

/// Which query may attend to which key, in each of the three maps.
///
/// # Shapes
/// `encoder` is `[n_source, n_source]`, `own` is `[n_target, n_target]`, and `cross` is
/// `[n_target, n_source]`.
// ANCHOR: answer
pub fn masks(n_source: usize, source_length: usize, n_target: usize) -> ThreeMasks {
    // YOURS: a rule per map, for query i and key j.
    ThreeMasks {
        encoder: Matrix::from_fn(n_source, n_source, |_, j| j < source_length),
        own: Matrix::from_fn(n_target, n_target, |i, j| j <= i),
        cross: Matrix::from_fn(n_target, n_source, |_, j| j < source_length),
    }
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    decoder_masks::check(masks)
}
