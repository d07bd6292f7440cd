//! “Bad numbers”: what fills a blocked score, and what a row without a key becomes.

mod fills;
pub mod head;
pub mod how_far;
mod number_maps;
pub mod outputs;

use attention::{Matrix, Real, softmax_rows};

use crate::args::Entry;
use crate::masks::SCORES;

pub(crate) const FIGURES: &[Entry] = &[
    ("mask-fills", fills::fills),
    ("masked-row", fills::masked_row),
    ("nan-outputs", outputs::figure),
];

/// −1e9 added as it stands to all but the first keys, in the precision of the scores.
pub fn softmax_with_fill_added<T: Real>(allowed: usize) -> Matrix {
    let fill = |j: usize| T::of(if j < allowed { 0.0 } else { -1e9 });
    let filled = Matrix::from_fn(1, 4, |_, j| T::of(SCORES[j]) + fill(j));
    softmax_rows(filled).map(|share: T| share.to_f64())
}

/// All but the first keys replaced by −1e9.
pub fn softmax_with_fill(allowed: usize) -> Matrix {
    let fill = |j: usize, score| if j < allowed { score } else { -1e9 };
    softmax_rows(Matrix::from_fn(1, 4, |_, j| fill(j, SCORES[j])))
}
