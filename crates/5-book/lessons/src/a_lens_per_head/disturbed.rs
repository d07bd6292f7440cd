//! One head's values are scaled: what moves before W^O, and after it: live.

mod drawn;

use std::sync::OnceLock;

use anyhow::Result;
use attention::{Mask, Matrix};
use per_head::concat;
use single_head::attend;

use crate::kept::kept;
use crate::live::{LiveFigure, LiveView, Question, Weights, live};
use crate::numbers::{brief, ends};
use crate::trained::{self, N_HEADS, passes};

/// Draws how far every column moves.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("lens-disturbed", draw, QUESTIONS).drawn_from(Weights::Layer);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Set the factor to 0: the head writes nothing. Without which head does an entry \
              of the output move by more than 0.79, the dotted line?",
        is_answered: |set, it| set.factor == 0.0 && set.mix && largest(&it.out) > FAR,
        answer: |set| (set.head, set.factor) = (5, 0.0),
        found: "Head 5. Heads write more or less: without head 4 no entry moves by even \
                a fifth of that.",
    },
    Question {
        ask: "Which other factor moves the output just as far as 0 does?",
        is_answered: |set, it| {
            let is_as_far = (largest(&it.out) - it.without).abs() <= 1e-9 * it.without;
            set.factor != 0.0 && is_as_far
        },
        answer: |set| set.factor = 2.0,
        found: "2: the layer is linear in a head's values, so it moves by as much as the \
                factor is away from 1, on either side.",
    },
    Question {
        ask: "Disturb a head, and leave more than half of the output's columns as they \
              are.",
        is_answered: |_, it| (1..it.out.len() / 2).contains(&moved(&it.out)),
        answer: |set| set.mix = false,
        found: "Without W^O a head reaches its own columns alone; W^O mixes what all \
                heads found into every column.",
    },
];

/// The trained head that is disturbed first.
pub const HEAD: usize = 9;
/// What its W_i^V is multiplied by first.
pub const FACTOR: f64 = -1.0;

fn largest(change: &[f64]) -> f64 {
    change.iter().copied().fold(0.0, f64::max)
}

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

/// How far a column of the concatenation moves at most without each head, and one of the
/// output.
fn largest_without() -> Result<&'static Vec<[f64; 2]>> {
    static KEPT: OnceLock<Vec<[f64; 2]>> = OnceLock::new();
    kept(&KEPT, || {
        let of_head = |head| {
            let Disturbed { concat, out } = Disturbed::new(head, 0.0)?;
            Ok([&concat, &out].map(|both| largest(&Disturbed::change(both))))
        };
        (0..N_HEADS).map(of_head).collect()
    })
}

/// How far an entry of the output moves without one of the heads alone.
const FAR: f64 = 0.79;

/// How many columns move at all.
pub fn moved(change: &[f64]) -> usize {
    change.iter().filter(|&&moved| moved > 0.0).count()
}

live! {
    struct Set {
        head: usize = "Head", count([0, N_HEADS - 1], HEAD);
        factor: f64 = "Its W_i^V times", number([-2.0, 2.0], 0.1, FACTOR);
        mix: bool = "W^O mixes the heads", switch(true);
    }

    /// How far each column moves.
    struct Facts {
        concat: Vec<f64>, out: Vec<f64>,
        /// How far the output moves at most at a factor of 0.
        without: f64,
    }
}

fn draw(&Set { head, factor, mix: is_mixed }: &Set) -> Result<LiveView<Facts>> {
    let changes = |factor| -> Result<[Vec<f64>; 2]> {
        let Disturbed { concat, out } = Disturbed::new(head, factor)?;
        let concat = Disturbed::change(&concat);
        let out = if is_mixed { Disturbed::change(&out) } else { concat.clone() };
        Ok([concat, out])
    };
    let [concat, out] = changes(factor)?;
    let [_, without] = changes(0.0)?;
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
    let begun = format!("Values of head {head} times {factor}: ").replace('-', "−");
    let words = match (n_before, is_mixed) {
        (0, _) => format!("{begun}nothing moves."),
        (_, true) => format!(
            "{begun}{n_before} of {n} columns move before the mixing, by at most {most}. \
             After it {n_after} do, by {least_after} to {most_after}."
        ),
        (_, false) => format!(
            "{begun}{n_before} of {n} columns move, by at most {most}. The output is the \
             concatenation itself: its other {} columns learn nothing of it.",
            n - n_before
        ),
    };
    let scale = if is_mixed { 1 } else { 0 };
    let reach = largest_without()?.iter().map(|it| it[scale]).collect();
    let figure = drawn::figure(
        title,
        &drawn::Change { head, factor, is_mixed, concat: &concat, out: &out, reach },
    )?;
    let facts = Facts { concat, out, without: largest(&without) };
    Ok(LiveView { figure, words, facts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{LayerParameters, MultiHeadAttention};
    use per_head::PerHeadAttention;

    #[test]
    fn one_block_moves_before_w_o_and_everything_after() {
        for (pairs, expected) in [
            ([("head", "9"), ("factor", "-1"), ("mix", "on")], [32, 384]),
            ([("head", "9"), ("factor", "-1"), ("mix", "off")], [32, 32]),
            ([("head", "0"), ("factor", "-2"), ("mix", "on")], [32, 384]),
            ([("head", "11"), ("factor", "2"), ("mix", "off")], [32, 32]),
            ([("head", "5"), ("factor", "1"), ("mix", "on")], [0, 0]),
            ([("head", "5"), ("factor", "1"), ("mix", "off")], [0, 0]),
        ] {
            let LiveView { figure, words, facts } = LIVE.at(pairs).unwrap();
            assert_eq!([moved(&facts.concat), moved(&facts.out)], expected, "{pairs:?}");
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
            for (found, expected) in shown.facts.out.iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-12, "{found} {expected}");
            }
        }
    }

    #[test]
    fn words_say_how_many_and_how_far() {
        let words = |pairs: &[_]| LIVE.at(pairs.iter().copied()).unwrap().words;
        insta::assert_snapshot!(words(&[]), @"Values of head 9 times −1: 32 of 384 columns move before the mixing, by at most 3.307. After it 384 do, by 0.01 to 1.125.");
        insta::assert_snapshot!(words(&[("mix", "off")]), @"Values of head 9 times −1: 32 of 384 columns move, by at most 3.307. The output is the concatenation itself: its other 352 columns learn nothing of it.");
    }
}
