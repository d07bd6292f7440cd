//! Chapter 4: two lenses on the three words, and the twelve trained heads one by one.

pub mod circuits;

use anyhow::Result;
use attention::{HeadParameters, LayerParameters, Linear, Matrix};
use figures::{ConcatChange, Figure, Heads, concat_change, head_maps, head_view};
use per_head::concat;

use crate::args::{Args, Entry};
use crate::ch03::{WORDS, by_hand, words};
use crate::trained::{self, maps, passes};

pub(crate) const FIGURES: [Entry; 4] = [
    ("lens-words", lens_words),
    ("circuits", circuits::figure),
    ("lens-disturbed", disturbed),
    ("lens-all", all_heads),
];

/// The trained head that is disturbed.
pub const DISTURBED: usize = 9;

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

/// The trained layer before and after one head's values change their sign.
pub struct Disturbed {
    /// The heads side by side, before and after, `[n_tokens, h · d_v]` each.
    pub concat: [Matrix; 2],
    /// The output, before and after, `[n_tokens, d_model]` each.
    pub out: [Matrix; 2],
}

impl Disturbed {
    /// One head's W_i^V negated, on "The river banks overflowed.".
    ///
    /// # Errors
    /// None; the layer and the sentence are parts of the program.
    pub fn new(head: usize) -> Result<Self> {
        let layer = trained::layer()?;
        let (parameters, x) = (&layer.parameters, &layer.sentence("river_banks")?.input);
        let mut heads = parameters.heads().to_vec();
        heads[head].w_v.weight *= -1.0;
        let changed = LayerParameters::new(heads, parameters.w_o().clone())?;
        let side_by_side = |parameters: &LayerParameters| -> Result<Matrix> {
            let passes = passes(parameters, x)?;
            Ok(concat(passes.iter().map(|pass| &pass.out))?)
        };
        let concat = [side_by_side(parameters)?, side_by_side(&changed)?];
        let w_o = parameters.w_o();
        let out = [w_o.forward(&concat[0])?, w_o.forward(&concat[1])?];
        Ok(Self { concat, out })
    }

    /// How far each column of two matrices moves.
    pub fn change([before, after]: &[Matrix; 2]) -> Vec<f64> {
        (before - after).column_iter().map(|column| column.amax()).collect()
    }
}

/// How many columns move at all.
pub fn moved(change: &[f64]) -> usize {
    change.iter().filter(|&&moved| moved > 0.0).count()
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

fn disturbed(_: &Args) -> Result<Figure> {
    let disturbed = Disturbed::new(DISTURBED)?;
    let [before, after] = [&disturbed.concat, &disturbed.out].map(Disturbed::change);
    let title = format!(
        "Head {DISTURBED} moves {} of {} columns before W^O, and {} after it",
        moved(&before),
        before.len(),
        moved(&after),
    );
    let n_heads = trained::layer()?.parameters.heads().len();
    let change =
        ConcatChange { concat: &before, out: &after, n_heads, disturbed: DISTURBED };
    Ok(concat_change(title, change)?)
}

fn all_heads(_: &Args) -> Result<Figure> {
    let (maps, tokens) = river_banks()?;
    let heads = Heads::of_tokens(&maps, &tokens)?.showing(6)?;
    let share = maps[6][(3, 2)];
    let title =
        format!("In head 6, “banks” gives {share:.3} of its attention to “river”");
    Ok(head_view(title, &heads))
}
