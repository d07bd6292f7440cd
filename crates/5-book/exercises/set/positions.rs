//! From ids to the vectors that enter the first block.
//!
//! `ids` holds sequences of `n_tokens` ids each, one after another. Row t of each is
//!
//!     √d_model · table[id] + P[t]
//!
//! where t counts from 0 in each sequence. Compute P with the paper's formula: columns 2i
//! and 2i + 1 share the angle t / 10000^(2i / d_model); `P[t][2i]` is its sine, and
//! `P[t][2i + 1]` its cosine. d_model is even.
//!
//! What must be true of the answer: at the same position of two sequences, the same token
//! has the same vector, but at two positions, it has two different ones.

use std::process::ExitCode;

use exercises::{Matrix, positions};

/// The tokens of all sequences, each with its position.
///
/// # Shapes
/// `ids` has n_sequences · n_tokens entries, `table` is `[n_vocabulary, d_model]`, the
/// result is `[n_sequences · n_tokens, d_model]`.
// ANCHOR: answer
pub fn embed(ids: &[usize], n_tokens: usize, table: &Matrix) -> Matrix {
    // YOURS: one row per id.
    let d_model = table.ncols();
    let scale = (d_model as f64).sqrt();
    Matrix::from_fn(ids.len(), d_model, |row, column| {
        let t = (row % n_tokens) as f64;
        let pair = (column / 2) as f64;
        let angle = t / 10_000_f64.powf(2.0 * pair / d_model as f64);
        let position = if column % 2 == 0 { angle.sin() } else { angle.cos() };
        scale * table[(ids[row], column)] + position
    })
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    positions::check(embed)
}
