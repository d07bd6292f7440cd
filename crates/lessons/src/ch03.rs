//! Chapter 3: one head on three words that are set by hand, and trained head 9.

use anyhow::Result;
use attention::{HeadParameters, Linear, Mask, Matrix};
use figures::{Figure, Heads, head_maps};
use single_head::{HeadPass, attend, attend_in_loops};

use crate::args::{Args, Entry};
use crate::trained;

pub(crate) const FIGURES: [Entry; 2] =
    [("one-head-words", words_map), ("one-head-trained", trained_map)];

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

/// Verbs ask for a plural noun, `verb_asks` times over; water asks for water.
///
/// # Errors
/// None; the sizes fit.
#[rustfmt::skip]
pub fn head(verb_asks: f64) -> Result<HeadParameters> {
    Ok(HeadParameters {
        w_q: by_hand([0.0, 1.0,  0.0, 0.0,  0.0, 0.0,  verb_asks, 0.0])?,
        w_k: by_hand([0.0, 1.0,  0.0, 0.0,  1.0, 0.0,  0.0, 0.0])?,
        w_v: by_hand([1.0, 0.0,  0.0, 1.0,  0.0, 0.0,  0.0, 0.0])?,
    })
}

/// A head's pass over `x`, in loops and in matrices.
///
/// # Errors
/// If the tokens have another width than the head.
pub fn both(head: &HeadParameters, x: &Matrix) -> Result<[HeadPass; 2]> {
    let mask = &Mask::None;
    Ok([attend_in_loops(head, x, x, x, mask)?, attend(head, x, x, x, mask)?])
}

fn words_map(_: &Args) -> Result<Figure> {
    let [_, pass] = both(&head(2.0)?, &words())?;
    let title = format!(
        "“overflowed” looks at “banks” most, with {:.3} of its attention",
        pass.attn[(2, 1)]
    );
    let map = [pass.attn];
    Ok(head_maps(title, &Heads::of_tokens(&map, &WORDS)?))
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
