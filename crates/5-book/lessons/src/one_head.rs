//! “One head”: one head on three words that are set by hand, and trained head 9.

mod steps;
pub mod words_head;

use anyhow::Result;
use attention::{HeadParameters, Linear, Mask, Matrix};
use figures::{Figure, Heads, head_maps};
use single_head::{HeadPass, attend, attend_in_loops};

use crate::args::{Args, Entry};
use crate::trained;

pub(crate) const FIGURES: &[Entry] = &[
    ("one-head-projections", steps::projections),
    ("one-head-query", steps::query),
    ("one-head-matrices", steps::matrices),
    ("one-head-trained", trained_map),
];

/// The words.
pub const WORDS: [&str; 3] = ["river", "banks", "overflowed"];
/// What each word has more or less of.
pub const FEATURES: [&str; 4] = ["water", "money", "plural noun", "verb"];

/// The words by [`FEATURES`], set by hand, `[3, 4]`.
#[rustfmt::skip]
pub fn words() -> Matrix {
    Matrix::from_row_slice(3, 4, &[
        2.0, 0.0, 0.0, 0.0,
        1.0, 1.0, 1.0, 0.0,
        1.0, 0.0, 0.0, 1.0,
    ])
}

/// A projection set by hand, `[4, 2]`, without a bias.
///
/// # Errors
/// None; the sizes fit.
pub fn by_hand(rows: [f64; 8]) -> Result<Linear> {
    Ok(Linear::new(Matrix::from_row_slice(4, 2, &rows), None)?)
}

/// Verbs ask for a plural noun, `verb_asks` times over; water asks for water: `W^Q`,
/// `W^K` and `W^V`, each `[4, 2]`.
#[rustfmt::skip]
pub fn weights(verb_asks: f64) -> [Matrix; 3] {
    [
        [0.0, 1.0,  0.0, 0.0,  0.0, 0.0,  verb_asks, 0.0],
        [0.0, 1.0,  0.0, 0.0,  1.0, 0.0,  0.0, 0.0],
        [1.0, 0.0,  0.0, 1.0,  0.0, 0.0,  0.0, 0.0],
    ]
    .map(|rows| Matrix::from_row_slice(4, 2, &rows))
}

/// The head of these three weights, without biases.
///
/// # Errors
/// Weights that do not fit one another.
pub fn head_of([w_q, w_k, w_v]: [Matrix; 3]) -> Result<HeadParameters> {
    Ok(HeadParameters {
        w_q: Linear::new(w_q, None)?,
        w_k: Linear::new(w_k, None)?,
        w_v: Linear::new(w_v, None)?,
    })
}

/// The head of [`weights`].
///
/// # Errors
/// None; the sizes fit.
pub fn head(verb_asks: f64) -> Result<HeadParameters> {
    head_of(weights(verb_asks))
}

/// A head's pass over `x`, in loops and in matrices.
///
/// # Errors
/// If the tokens have another width than the head.
pub fn both(head: &HeadParameters, x: &Matrix) -> Result<[HeadPass; 2]> {
    let mask = &Mask::None;
    Ok([attend_in_loops(head, x, x, x, mask)?, attend(head, x, x, x, mask)?])
}

/// Head 9 on "The river banks overflowed.", with its word pieces.
///
/// # Errors
/// None; the layer and the sentence are parts of the program.
pub fn trained() -> Result<(HeadPass, Vec<String>)> {
    let layer = trained::layer()?;
    let sentence = layer.sentence("river_banks")?;
    let x = &sentence.input;
    let pass = attend(&layer.parameters.heads()[9], x, x, x, &Mask::None)?;
    Ok((pass, sentence.tokens.clone()))
}

fn trained_map(_: &Args) -> Result<Figure> {
    let (pass, tokens) = trained()?;
    let map = [pass.attn];
    let heads = Heads::of_tokens(&map, &tokens)?.numbered(&[9])?;
    Ok(head_maps("In trained head 9, almost every token looks at “over”", &heads))
}
