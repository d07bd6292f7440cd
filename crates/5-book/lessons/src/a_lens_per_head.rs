//! “A lens per head”: two lenses on the three words, and the twelve trained heads one by one.

pub mod circuits;
pub mod disturbed;
pub mod free;
pub mod line;

use anyhow::Result;
use attention::{HeadParameters, LayerParameters, Linear, Matrix};
use figures::{Figure, Heads, head_maps, head_view};

use crate::args::{Args, Entry};
use crate::one_head::{WORDS, by_hand, words};
use crate::trained::{self, maps};

pub(crate) const FIGURES: &[Entry] = &[
    ("lens-words", lens_words),
    ("circuits", circuits::figure),
    ("lens-all", all_heads),
    ("line-strip", line::strip),
];

/// Two lenses on the three words: one for verbs and plural nouns, one for water.
///
/// # Errors
/// None; the sizes fit.
#[rustfmt::skip]
pub fn two_lenses() -> Result<LayerParameters> {
    let grammar = HeadParameters {
        w_q: by_hand([0.0, 0.0,  0.0, 0.0,  0.0, 2.0,  2.0, 0.0])?,
        w_k: by_hand([0.0, 0.0,  0.0, 0.0,  1.0, 0.0,  0.0, 1.0])?,
        w_v: by_hand([0.0, 0.0,  0.0, 0.0,  1.0, 0.0,  0.0, 1.0])?,
    };
    let water = HeadParameters {
        w_q: by_hand([2.0, 0.0,  0.0, 0.0,  0.0, 0.0,  0.0, 0.0])?,
        w_k: by_hand([1.0, 0.0,  0.0, 1.0,  0.0, 0.0,  0.0, 0.0])?,
        w_v: by_hand([1.0, 0.0,  0.0, 1.0,  0.0, 0.0,  0.0, 0.0])?,
    };
    let w_o = Matrix::from_row_slice(4, 4, &[
        0.0, 1.0, 0.0, 0.0,
        1.0, 0.0, 0.0, 0.0,
        1.0, 0.0, 1.0, 0.0,
        0.0, 0.0, 0.0, 1.0,
    ]);
    Ok(LayerParameters::new(vec![grammar, water], Linear::new(w_o, None)?)?)
}

fn lens_words(_: &Args) -> Result<Figure> {
    let maps = maps(&two_lenses()?, &words())?;
    let title = "“overflowed” finds “banks” through one lens, “river” through the other";
    Ok(head_maps(title, &Heads::of_tokens(&maps, &WORDS)?))
}

/// The trained layer's maps of "The river banks overflowed.", and its word pieces.
fn river_banks() -> Result<(Vec<Matrix>, Vec<String>)> {
    let layer = trained::layer()?;
    let sentence = layer.sentence("river_banks")?;
    Ok((maps(&layer.parameters, &sentence.input)?, sentence.tokens.clone()))
}

fn all_heads(_: &Args) -> Result<Figure> {
    let (maps, tokens) = river_banks()?;
    let heads = Heads::of_tokens(&maps, &tokens)?.showing(6)?;
    let share = maps[6][(3, 2)];
    let title =
        format!("In head 6, “banks” gives {share:.3} of its attention to “river”");
    Ok(head_view(title, &heads))
}
