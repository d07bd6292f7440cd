//! Why the paper multiplies tokens by √d_model: how loud positions are next to them.

use crate::numbers::mean;
use anyhow::Result;
use attention::{Matrix, Rng, SeedableRng, random_matrix};
use block::{Embedding, Positions, sinusoidal};

/// The width of a token.
pub const D_MODEL: usize = 256;
const N_TOKENS: usize = 32;
const N_VOCABULARY: usize = 32;

/// What is alike in the sum of a token and its position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loudness {
    /// The mean length of a token's vector, as it is added.
    pub token: f64,
    /// The length of a position's.
    pub position: f64,
    /// The mean cosine of the same token in two places.
    pub same_token: f64,
    /// The mean cosine of two tokens in the same place.
    pub same_place: f64,
}

/// Tokens whose entries have a spread of 1/√d_model, as the paper's have, multiplied by
/// `scale`, with its table of positions.
///
/// # Errors
/// None; the sizes fit.
pub fn measure(scale: f64) -> Result<Loudness> {
    let rng = &mut Rng::seed_from_u64(1);
    let spread = (D_MODEL as f64).sqrt().recip();
    let tokens = random_matrix(N_VOCABULARY, D_MODEL, spread, rng);
    let table = sinusoidal(N_TOKENS, D_MODEL);
    let position = table.row(0).norm();
    let token = mean(tokens.row_iter().map(|row| row.norm() * scale));
    let embedding = Embedding { tokens, scale, positions: Positions::Fixed(table) };
    // Row t: token a in every place, and every token in one.
    let a: Vec<usize> = vec![0; N_TOKENS];
    let in_places = embedding.forward(&a, N_TOKENS)?;
    let in_one = Matrix::from_fn(N_VOCABULARY, D_MODEL, |id, column| {
        scale * embedding.tokens[(id, column)]
            + embedding.positions.table().map_or(0.0, |table| table[(0, column)])
    });
    Ok(Loudness {
        token,
        position,
        same_token: mean_cosine(&in_places),
        same_place: mean_cosine(&in_one),
    })
}

/// The mean cosine of two different rows.
pub fn mean_cosine(rows: &Matrix) -> f64 {
    let n = rows.nrows();
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    mean(pairs.map(|(i, j)| {
        let (a, b) = (rows.row(i), rows.row(j));
        a.dot(&b) / (a.norm() * b.norm())
    }))
}
