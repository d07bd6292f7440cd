//! One head's values are scaled: what moves before W^O, and after it: live.

use anyhow::Result;
use attention::{Mask, Matrix};
use figures::{ConcatChange, concat_change};
use per_head::concat;
use single_head::attend;

use crate::live::{Control, Kind, Live, LiveView, Settings, Weights};
use crate::numbers::{brief, ends};
use crate::trained::{self, N_HEADS, passes};

/// Draws how far every column moves.
pub const LIVE: Live = Live {
    name: "lens-disturbed",
    ask: "Which head moves the output most at a factor of 0? Which other factor moves it \
          just as far? And without W^O, how many columns learn what happened?",
    questions: &[],
    weights: Some(Weights::Layer),
    controls,
    draw,
    training: None,
};

/// The trained head that is disturbed first.
pub const HEAD: usize = 9;
/// What its W_i^V is multiplied by first.
pub const FACTOR: f64 = -1.0;

/// The trained layer before and after one head's W_i^V is multiplied.
pub struct Disturbed {
    /// The heads side by side, before and after, `[n_tokens, h · d_v]` each.
    pub concat: [Matrix; 2],
    /// The output, before and after, `[n_tokens, d_model]` each.
    pub out: [Matrix; 2],
}

impl Disturbed {
    /// One head's W_i^V times `factor`, on "The river banks overflowed.".
    ///
    /// # Errors
    /// None but for a layer that is not there; the sentence is a part of it.
    pub fn new(head: usize, factor: f64) -> Result<Self> {
        let layer = trained::layer()?;
        let (parameters, x) = (&layer.parameters, &layer.sentence("river_banks")?.input);
        let mut heads: Vec<Matrix> =
            passes(parameters, x)?.into_iter().map(|pass| pass.out).collect();
        let before = concat(&heads)?;
        let mut scaled = parameters.heads()[head].clone();
        scaled.w_v.weight *= factor;
        heads[head] = attend(&scaled, x, x, x, &Mask::None)?.out;
        let concat = [before, concat(&heads)?];
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

fn controls() -> Vec<Control> {
    let head = Kind::Count { range: [0, N_HEADS - 1], first: HEAD };
    let factor = Kind::Number { range: [-2.0, 2.0], step: 0.1, first: FACTOR };
    vec![
        Control::new("head", "Head", head),
        Control::new("factor", "Its W_i^V times", factor),
        Control::new("mix", "W^O mixes the heads", Kind::Switch { first: true }),
    ]
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let (head, factor) = (settings.count("head")?, settings.number("factor")?);
    let is_mixed = settings.is_on("mix")?;
    let Disturbed { concat, out } = Disturbed::new(head, factor)?;
    let concat = Disturbed::change(&concat);
    let out = if is_mixed { Disturbed::change(&out) } else { concat.clone() };
    let (n, n_before, n_after) = (concat.len(), moved(&concat), moved(&out));
    let title = if is_mixed {
        format!(
            "Head {head} moves {n_before} of {n} columns before W^O, and {n_after} after \
             it"
        )
    } else {
        format!("Without W^O, head {head} moves {n_after} of {n} columns of the output")
    };
    let [_, _, most] = ends(concat.iter().copied()).map(brief);
    let [least_after, _, most_after] = ends(out.iter().copied()).map(brief);
    let begun =
        format!("W^V of head {head} times {factor}: {n_before} of {n} columns move");
    let words = match (n_before, is_mixed) {
        (0, _) => format!("W^V of head {head} times {factor}: nothing moves."),
        (_, true) => format!(
            "{begun} before W^O, by at most {most}. After it {n_after} do, by \
             {least_after} to {most_after}."
        ),
        (_, false) => format!(
            "{begun}, by at most {most}. The output is the concatenation itself: its \
             other {} columns learn nothing of it.",
            n - n_before
        ),
    };
    let numbers = [concat.as_slice(), &out].concat();
    let change = ConcatChange {
        concat: &concat,
        out: &out,
        is_mixed,
        n_heads: N_HEADS,
        disturbed: head,
    };
    Ok(LiveView { figure: concat_change(title, change)?, words, numbers })
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{LayerParameters, MultiHeadAttention};
    use per_head::PerHeadAttention;

    #[test]
    fn one_block_moves_before_w_o_and_everything_after() {
        let layer = trained::layer().unwrap();
        assert_eq!(layer.parameters.heads().len(), N_HEADS);
        for (pairs, expected) in [
            ([("head", "9"), ("factor", "-1"), ("mix", "on")], [32, 384]),
            ([("head", "9"), ("factor", "-1"), ("mix", "off")], [32, 32]),
            ([("head", "0"), ("factor", "-2"), ("mix", "on")], [32, 384]),
            ([("head", "11"), ("factor", "2"), ("mix", "off")], [32, 32]),
            ([("head", "5"), ("factor", "1"), ("mix", "on")], [0, 0]),
            ([("head", "5"), ("factor", "1"), ("mix", "off")], [0, 0]),
        ] {
            let LiveView { figure, words, numbers } = LIVE.at(pairs).unwrap();
            let (before, after) = numbers.split_at(384);
            assert_eq!([moved(before), moved(after)], expected, "{pairs:?}");
            let title = figure.title();
            for n in expected {
                assert!(title.contains(&format!(" {n} ")), "{pairs:?}: {title}");
            }
            assert_eq!(words.contains("nothing moves"), expected[0] == 0, "{words}");
        }
    }

    /// Against a whole layer with other parameters; and 0 moves as far as 2.
    #[test]
    fn the_columns_move_as_those_of_another_layer() {
        let layer = trained::layer().unwrap();
        let x = &layer.sentence("river_banks").unwrap().input;
        let mut heads = layer.parameters.heads().to_vec();
        heads[4].w_v.weight *= 0.0;
        let w_o = layer.parameters.w_o().clone();
        let other = LayerParameters::new(heads, w_o).unwrap();
        let [before, after] = [layer.parameters.clone(), other].map(|parameters| {
            let layer = PerHeadAttention::new(parameters);
            layer.self_attend(x, &Mask::None).unwrap().out
        });
        let expected = Disturbed::change(&[before, after]);
        for factor in ["0", "2"] {
            let shown = LIVE.at([("head", "4"), ("factor", factor)]).unwrap();
            for (found, expected) in shown.numbers[384..].iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-12, "{found} {expected}");
            }
        }
    }

    #[test]
    fn words_say_how_many_and_how_far() {
        let words = |pairs: &[_]| LIVE.at(pairs.iter().copied()).unwrap().words;
        insta::assert_snapshot!(words(&[]), @"W^V of head 9 times -1: 32 of 384 columns move before W^O, by at most 3.307. After it 384 do, by 0.01 to 1.125.");
        insta::assert_snapshot!(words(&[("mix", "off")]), @"W^V of head 9 times -1: 32 of 384 columns move, by at most 3.307. The output is the concatenation itself: its other 352 columns learn nothing of it.");
    }
}
