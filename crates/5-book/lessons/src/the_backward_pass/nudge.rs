//! One weight of the head by hand is nudged, and the loss follows: live.

use anyhow::Result;
use attention::{HeadParameters, Matrix};
use figures::{Tangent, tangent};

use super::by_hand::{QUERY, backward, loss, projection};
use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::one_head::{self, FEATURES};

/// Draws the loss over nudges of a weight, and what its gradient predicts.
pub const LIVE: Live = Live {
    name: "nudge",
    questions: &[
        Question {
            ask: "Find a weight that changes nothing, however far you nudge it.",
            is_answered: |_, view| {
                let n_losses = (2.0 * MOST / STEP).round() as usize + 1;
                let losses = view.slice(CURVE..CURVE + n_losses)?;
                Ok(losses.iter().all(|loss| *loss == losses[0]))
            },
            answer: &[("row", "money")],
            found: "Overflowed has no money and is no plural noun, so as a query it never \
                    meets these rows: their gradient is 0.",
        },
        Question {
            ask: "Go down the slope, and so far that the loss ends higher than it began.",
            is_answered: |settings, view| {
                let is_down = view.number(GRADIENT)? * settings.number("nudge")? < 0.0;
                Ok(is_down && view.number(AFTER)? > view.number(BEFORE)?)
            },
            answer: &[("matrix", "values"), ("row", "water"), ("nudge", "-3")],
            found: "In a weight of the values the loss is a parabola: too long a step \
                   climbs its other side.",
        },
        Question {
            ask: "With one weight, bring the loss below 0.001.",
            is_answered: |_, view| Ok(view.number(AFTER)? < 1e-3),
            answer: &[("matrix", "keys"), ("row", "money"), ("nudge", "3")],
            found: "No steeper weight gets there: the gradient says where the loss falls \
                   fastest at first, and not how far.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

const MATRICES: [&str; 3] = ["queries", "keys", "values"];
const MOST: f64 = 3.0;
/// From one point of the curve to the next.
const STEP: f64 = 0.05;
/// Where the numbers hold the gradient, the losses before and after the nudge, and those of
/// the curve.
const GRADIENT: usize = 0;
const BEFORE: usize = 1;
const AFTER: usize = 3;
const CURVE: usize = 8;
/// The key whose share is told: the one that is wished for.
const BANKS: usize = 1;

fn controls() -> Vec<Control> {
    let matrices = MATRICES.map(|it| (it, format!("of the {it}")));
    // From the verb: its weight of the queries is the chapter's.
    let rows = FEATURES.into_iter().rev().map(|it| (it, it));
    let columns = [("1", "first"), ("2", "second")];
    let nudge = Kind::Number { range: [-MOST, MOST], step: 0.1, first: 2.0 };
    vec![
        Control::new("matrix", "Matrix", Kind::choice(matrices)),
        Control::new("row", "Row", Kind::choice(rows)),
        Control::new("column", "Column", Kind::choice(columns)),
        Control::new("nudge", "Nudge", nudge),
    ]
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let place = |of: &[&str], chosen| of.iter().position(|it| *it == chosen);
    let which = place(&MATRICES, settings.choice("matrix")?).unwrap_or(0);
    let row = place(&FEATURES, settings.choice("row")?).unwrap_or(0);
    let column = place(&["1", "2"], settings.choice("column")?).unwrap_or(0);
    let nudge = settings.number("nudge")?;

    let head = one_head::head(2.0)?;
    let nudged = |by: f64| -> HeadParameters {
        let mut head = head.clone();
        projection(&mut head, which).weight[(row, column)] += by;
        head
    };
    let (before, after) = (backward(&head)?, backward(&nudged(nudge))?);
    let gradient = before.d_w[which][(row, column)];
    let predicted = before.loss + gradient * nudge;
    let curve = curve(|by| loss(&nudged(by)))?;

    let matrix = ["W^Q", "W^K", "W^V"][which];
    let weight = head.projections()[which].1.weight[(row, column)];
    let (feature, nth) = (FEATURES[row], ["first", "second"][column]);
    let figure = tangent(
        format!(
            "{matrix}, row {feature}, {nth} column: what its gradient predicts of a \
                 nudge, and what happens"
        ),
        Tangent {
            axes: [&format!("nudge of the weight, which is {weight}"), "loss"],
            curve: &curve,
            at: [0.0, before.loss],
            slope: gradient,
            reached: [nudge, after.loss],
        },
    )?;

    let entry = |m: &Matrix, column: usize| m[(QUERY, column)];
    let shares = [&before, &after].map(|it| entry(&it.pass.attn, BANKS));
    let out = [0, 1].map(|at| entry(&after.pass.out, at));
    let [told, from, hoped, came] =
        [gradient, before.loss, predicted, after.loss].map(three);
    let words = format!(
        "The gradient of the {}' weight in row {feature}, {nth} column, is {told}: after a \
         nudge of {} it predicts a loss of {hoped} in place of {from}, and the loss becomes \
         {came}. “banks” has {} of the row ({} before), and the output is ({}, {}).",
        MATRICES[which],
        three(nudge).trim_end_matches('0').trim_end_matches('.'),
        three(shares[1]),
        three(shares[0]),
        three(out[0]),
        three(out[1]),
    );
    let numbers = [gradient, before.loss, predicted, after.loss].into_iter();
    let numbers = numbers.chain(shares).chain(out);
    let numbers = numbers.chain(curve.into_iter().map(|[_, loss]| loss)).collect();
    Ok(LiveView { figure, words, numbers })
}

/// The loss by the nudge, from the smallest to the largest.
fn curve(loss: impl Fn(f64) -> Result<f64>) -> Result<Vec<[f64; 2]>> {
    let n_steps = (MOST / STEP).round() as i32;
    let nudges = (-n_steps..=n_steps).map(|step| f64::from(step) * STEP);
    nudges.map(|by| Ok([by, loss(by)?])).collect()
}

/// Three decimals, and no −0.
fn three(number: f64) -> String {
    let number = format!("{:.3}", (number * 1e3).round() / 1e3 + 0.0);
    number.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::{self, Row};

    fn each(mut check: impl FnMut([usize; 3], &dyn Fn(&str) -> LiveView)) {
        for (which, matrix) in MATRICES.into_iter().enumerate() {
            for (row, feature) in FEATURES.into_iter().enumerate() {
                for (column, name) in ["1", "2"].into_iter().enumerate() {
                    let chosen = [("matrix", matrix), ("row", feature), ("column", name)];
                    let at = |nudge: &str| {
                        let pairs = chosen.into_iter().chain([("nudge", nudge)]);
                        LIVE.at(pairs.collect::<Vec<_>>()).unwrap()
                    };
                    check([which, row, column], &at);
                }
            }
        }
    }

    /// The loss of “One head”'s head in plain loops, one weight of it nudged.
    fn in_loops([which, row, column]: [usize; 3], by: f64) -> f64 {
        let head = one_head::head(2.0).unwrap();
        let rows = |m: &Matrix| -> Vec<Row> {
            m.row_iter().map(|row| row.iter().copied().collect()).collect()
        };
        let mut w = head.projections().map(|(_, linear)| rows(&linear.weight));
        w[which][row][column] += by;
        let out = &plain::head(&rows(&one_head::words()), &w[0], &w[1], &w[2])[2];
        ((out[0] - 1.0).powi(2) + (out[1] - 1.0).powi(2)) / 2.0
    }

    #[test]
    fn the_tangent_is_a_central_difference_of_plain_loops() {
        each(|at, shown| {
            let h = 1e-5;
            let slope = (in_loops(at, h) - in_loops(at, -h)) / (2.0 * h);
            for nudge in ["-3", "-0.4", "0", "3"] {
                let by: f64 = nudge.parse().unwrap();
                let numbers = shown(nudge).numbers;
                assert!((numbers[0] - slope).abs() < 1e-9, "{at:?}: {slope}");
                let predicted = in_loops(at, 0.0) + by * slope;
                assert!((numbers[2] - predicted).abs() < 1e-8, "{at:?}: {predicted}");
                assert!((numbers[3] - in_loops(at, by)).abs() < 1e-12, "{at:?}, {by}");
                assert!(numbers.iter().all(|it| it.is_finite()), "{at:?}, {by}");
            }
        });
    }

    /// *overflowed* has no money and is no plural noun, so these rows never meet it.
    #[test]
    fn four_weights_of_the_queries_change_nothing() {
        let mut n_flat = 0;
        each(|[which, row, column], shown| {
            let numbers = shown("3").numbers;
            let flat = numbers[8..].iter().all(|loss| *loss == numbers[1]);
            assert_eq!(
                flat,
                which == 0 && [1, 2].contains(&row),
                "{which} {row} {column}"
            );
            assert_eq!(flat, numbers[0] == 0.0);
            n_flat += usize::from(flat);
        });
        assert_eq!(n_flat, 4);
    }

    #[test]
    fn what_is_said_at_first_and_of_a_step_too_far() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"The gradient of the queries' weight in row verb, first column, is −0.106: after a nudge of 2 it predicts a loss of −0.082 in place of 0.130, and the loss becomes 0.017. “banks” has 0.848 of the row (0.576 before), and the output is (1.102, 0.848).");
        let far = [("matrix", "values"), ("row", "water"), ("nudge", "-3")];
        insta::assert_snapshot!(LIVE.at(far).unwrap().words, @"The gradient of the values' weight in row water, first column, is 0.365: after a nudge of −3 it predicts a loss of −0.964 in place of 0.130, and the loss becomes 6.455. “banks” has 0.576 of the row (0.576 before), and the output is (−2.568, 0.576).");
        let flat = [("row", "money"), ("nudge", "-0.04")];
        insta::assert_snapshot!(LIVE.at(flat).unwrap().words, @"The gradient of the queries' weight in row money, first column, is 0.000: after a nudge of −0.04 it predicts a loss of 0.130 in place of 0.130, and the loss becomes 0.130. “banks” has 0.576 of the row (0.576 before), and the output is (1.284, 0.576).");
    }
}
