//! “A lens per head”: two lenses on the three words, and the twelve trained heads one by one.

pub mod circuits;
pub mod disturbed;
pub mod free;
pub mod line;
pub mod slices;

use anyhow::Result;
use attention::{HeadParameters, LayerParameters, Linear, Matrix};
use figures::{
    Cells, Equation, Figure, Heads, equations, head_maps, head_view, matrix_maps,
};

use crate::args::{Args, Entry};
use crate::one_head::{FEATURES, WORDS, by_hand, words};
use crate::trained::{self, maps};

pub(crate) const FIGURES: &[Entry] = &[
    ("lens-weights", lens_weights),
    ("lens-words", lens_words),
    ("slices-read", slices::figure),
    ("circuits", circuits::figure),
    ("lens-mixed", lens_mixed),
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

/// The three projections of each lens, side by side.
fn lens_weights(_: &Args) -> Result<Figure> {
    let layer = two_lenses()?;
    let [grammar, water] = [0, 1].map(|head: usize| {
        let projections = layer.heads()[head].projections();
        let columns = projections.map(|(_, linear)| linear.weight.clone());
        Matrix::from_fn(4, 6, |feature, at| columns[at / 2][(feature, at % 2)])
    });
    let columns = ["query 1", "query 2", "key 1", "key 2", "value 1", "value 2"];
    let title = "The grammar lens reads only “plural noun” and “verb”, the water lens \
                 only “water” and “money”";
    let named = [("grammar lens", &grammar), ("water lens", &water)];
    Ok(matrix_maps(title, &FEATURES, &columns, &named)?)
}

fn lens_words(_: &Args) -> Result<Figure> {
    let maps = maps(&two_lenses()?, &words())?;
    let title = "“overflowed” finds “banks” through one lens, “river” through the other";
    Ok(head_maps(title, &Heads::of_tokens(&maps, &WORDS)?))
}

/// Concatenation and mix on the three words.
fn lens_mixed(_: &Args) -> Result<Figure> {
    let (layer, x) = (two_lenses()?, words());
    let heads = trained::passes(&layer, &x)?;
    let concat = per_head::concat(heads.iter().map(|head| &head.out))?;
    let w_o = &layer.w_o().weight;
    let written = ["noun", "verb", "water", "money"];
    let line = Equation::of(Cells::new("concat", &concat).rows(&WORDS).of_heads(2))
        .times(Cells::new("W^O", w_o).rows(&written))
        .equals(Cells::new("output", &(&concat * w_o)).lit(1));
    let title = format!(
        "W^O adds what two heads wrote: of “banks”, {:.3} for a verb and {:.3} for water",
        concat[(1, 1)],
        concat[(1, 2)]
    );
    Ok(equations(title, &[line])?)
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
