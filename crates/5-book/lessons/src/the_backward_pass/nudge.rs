//! One weight of the head by hand is nudged, and the loss follows: live.

use anyhow::Result;
use attention::{HeadParameters, Matrix};
use figures::{
    Axis, Chart, Figure, Mark, Panel, Tangent, by_cell, label_width, palette, rounded,
    share_map, significant, tangent_on,
};

use super::by_hand::{QUERY, backward, loss, projection};
use crate::live::{LiveFigure, LiveView, Question, live};
use crate::one_head::{self, FEATURES};

/// Draws the loss over nudges of a weight, and what its gradient predicts.
pub(crate) const LIVE: LiveFigure<Set, Facts> = LiveFigure::new("nudge", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Find a parameter that changes nothing, however far you nudge it.",
        is_answered: |_, it| it.curve.iter().all(|loss| *loss == it.curve[0]),
        answer: |set| set.row = "money",
        found: "Overflowed has no money and is no plural noun, so as a query it never \
                meets these rows: their gradient is 0.",
    },
    Question {
        ask: "Go down the slope, and so far that the loss ends higher than it began.",
        is_answered: |set, it| it.gradient * set.nudge < 0.0 && it.after > it.before,
        answer: |set| (set.matrix, set.row, set.nudge) = ("values", "water", -3.0),
        found: "In a parameter of the values the loss is a parabola: too long a step climbs \
                its other side.",
    },
    Question {
        ask: "With one parameter, bring the loss below 0.001.",
        is_answered: |_, it| it.after < 1e-3,
        answer: |set| (set.matrix, set.row, set.nudge) = ("keys", "money", 3.0),
        found: "No steeper parameter gets there: the gradient says where the loss falls \
                fastest at first, and not how far.",
    },
];

const MATRICES: [&str; 3] = ["queries", "keys", "values"];
/// The matrices, as formulas have them.
const NAMES: [&str; 3] = ["W^Q", "W^K", "W^V"];
const MOST: f64 = 3.0;
/// Of a row of a map, in pixels.
const ROW: f64 = 22.0;
/// From one point of the curve to the next.
const STEP: f64 = 0.05;
/// The key whose share is told: the one that is wished for.
const BANKS: usize = 1;

live! {
    struct Set {
        matrix: &'static str = "Matrix", choice(
            MATRICES.map(|it| (it, format!("of the {it}"), it)),
        );
        // From the verb: its weight of the queries is the chapter's.
        row: &'static str = "Row", choice(FEATURES.into_iter().rev().map(|it| (it, it, it)));
        column: usize = "Column", choice([("1", "first", 0), ("2", "second", 1)]);
        nudge: f64 = "Nudge", number([-MOST, MOST], 0.1, 2.0);
    }

    struct Facts {
        gradient: f64,
        /// The losses before the nudge, as the gradient predicts it, and after it.
        before: f64, predicted: f64, after: f64,
        /// The losses over all nudges.
        curve: Vec<f64>,
    }
}

fn draw(&Set { matrix, row, column, nudge }: &Set) -> Result<LiveView<Facts>> {
    let place = |of: &[&str], chosen| of.iter().position(|it| *it == chosen);
    let which = place(&MATRICES, matrix).unwrap_or(0);
    let row = place(&FEATURES, row).unwrap_or(0);

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

    let matrix = NAMES[which];
    let weight = head.projections()[which].1.weight[(row, column)];
    let (feature, nth) = (FEATURES[row], ["first", "second"][column]);
    let title = format!(
        "{matrix}, row {feature}, {nth} column: what its gradient predicts of a nudge, and \
         what happens"
    );
    let tangent = Tangent {
        axes: [&format!("nudge (the parameter is {weight})"), "loss"],
        curve: &curve,
        at: [0.0, before.loss],
        slope: gradient,
        reached: [nudge, after.loss],
    };
    let figure = figure(title, &before.d_w, (which, row, column), tangent)?;

    let entry = |m: &Matrix, column: usize| m[(QUERY, column)];
    let shares = [&before, &after].map(|it| entry(&it.pass.attn, BANKS));
    let out = [0, 1].map(|at| entry(&after.pass.out, at));
    let [told, from, hoped, came] =
        [gradient, before.loss, predicted, after.loss].map(three);
    let words = format!(
        "The gradient of the {}' parameter in row {feature}, {nth} column, is {told}: after a \
         nudge of {} it predicts a loss of {hoped} in place of {from}, and the loss becomes \
         {came}. “banks” has {} of the row ({} before), and the output is ({}, {}).",
        MATRICES[which],
        three(nudge).trim_end_matches('0').trim_end_matches('.'),
        three(shares[1]),
        three(shares[0]),
        three(out[0]),
        three(out[1]),
    );
    let curve = curve.into_iter().map(|[_, loss]| loss).collect();
    let (before, after) = (before.loss, after.loss);
    Ok(LiveView {
        figure,
        words,
        facts: Facts { gradient, before, predicted, after, curve },
    })
}

/// The gradients of all parameters, the chosen one in a frame, over the loss.
fn figure(
    title: String,
    gradients: &[Matrix; 3],
    (which, row, column): (usize, usize, usize),
    tangent: Tangent,
) -> Result<Figure> {
    let (rows, columns) =
        (FEATURES.map(String::from), ["first", "second"].map(String::from));
    // The strongest colour stays one on which a text is read.
    let most = 1.6 * gradients.iter().map(Matrix::amax).fold(0.0, f64::max);
    let [x, y] = tangent.reached;
    let mut chart = Chart::new(title)
        .columns(3)
        .narrow_columns(2)
        .left(label_width(&rows, 12))
        .below(34.0);
    for (nth, gradients) in gradients.iter().enumerate() {
        let panel = Panel::new(
            format!("gradients of {}", NAMES[nth]),
            Axis::across(&columns, 12),
            Axis::down(&rows, 12),
            ROW * rows.len() as f64,
        );
        let all = by_cell(gradients.shape(), |i, j| significant(gradients[(i, j)]));
        let written = by_cell(gradients.shape(), |i, j| three(gradients[(i, j)]));
        let cells =
            Mark::cells(all, 1).scaled(palette::signs(), [-most, most]).lettered(written);
        let cells = cells
            .text_size(13)
            .text_colour("currentColor")
            .tells("row {row}, {column} column: {text}");
        let cells = cells.sets(by_cell(gradients.shape(), |i, j| {
            format!("matrix={}&row={}&column={}", MATRICES[nth], FEATURES[i], j + 1)
        }));
        let chosen = (nth == which).then(|| share_map::frame([column; 2], [row; 2]));
        chart = chart.panel(panel, std::iter::once(cells).chain(chosen));
    }
    let handle = Mark::points([x], [rounded(y)]).sized(18).coloured(palette::head(0));
    let handle = handle.outlined("var(--bg)", 3.0).dragged_along_x("nudge").silent();
    let handle = handle.in_legend(false).unclipped().on(3);
    let marks = numbers(&tangent).into_iter().chain([handle]);
    Ok(tangent_on(chart, tangent)?.marks(marks).figure()?)
}

/// The loss and what is predicted of it, the larger over its dot and the smaller below, and
/// towards the middle of the panel.
fn numbers(tangent: &Tangent) -> [Mark; 2] {
    let [x, loss] = tangent.reached;
    let predicted = tangent.at[1] + tangent.slope * x;
    let side = if x > 0.0 { "left" } else { "right" };
    let all = [
        (loss, three(loss), loss >= predicted),
        (predicted, format!("{} predicted", three(predicted)), loss < predicted),
    ];
    all.map(|(at, text, is_above)| {
        let height = if is_above { "top" } else { "bottom" };
        let unseen = Mark::points([x], [rounded(at)]).sized(18).mark_opacity(0.0);
        let mark = unseen.written([text], &format!("{height} {side}")).text_size(13);
        mark.silent().in_legend(false).unclipped().on(3)
    })
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
    use crate::gallery::tests::are_finite;
    use crate::plain::{self, Row};

    fn each(mut check: impl FnMut([usize; 3], &dyn Fn(f64) -> Facts)) {
        for (which, matrix) in MATRICES.into_iter().enumerate() {
            for (nth, row) in FEATURES.into_iter().enumerate() {
                for column in [0, 1] {
                    let at =
                        |nudge| draw(&Set { matrix, row, column, nudge }).unwrap().facts;
                    check([which, nth, column], &at);
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
            for by in [-3.0, -0.4, 0.0, 3.0] {
                let facts = shown(by);
                assert!((facts.gradient - slope).abs() < 1e-9, "{at:?}: {slope}");
                let predicted = in_loops(at, 0.0) + by * slope;
                assert!(
                    (facts.predicted - predicted).abs() < 1e-8,
                    "{at:?}: {predicted}"
                );
                assert!((facts.after - in_loops(at, by)).abs() < 1e-12, "{at:?}, {by}");
                assert!(are_finite(&facts), "{at:?}, {by}");
            }
        });
    }

    /// *overflowed* has no money and is no plural noun, so these rows never meet it.
    #[test]
    fn four_weights_of_the_queries_change_nothing() {
        let mut n_flat = 0;
        each(|[which, row, column], shown| {
            let facts = shown(3.0);
            let flat = facts.curve.iter().all(|loss| *loss == facts.before);
            assert_eq!(
                flat,
                which == 0 && [1, 2].contains(&row),
                "{which} {row} {column}"
            );
            assert_eq!(flat, facts.gradient == 0.0);
            n_flat += usize::from(flat);
        });
        assert_eq!(n_flat, 4);
    }

    #[test]
    fn what_is_said_at_first_and_of_a_step_too_far() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"The gradient of the queries' parameter in row verb, first column, is −0.106: after a nudge of 2 it predicts a loss of −0.082 in place of 0.130, and the loss becomes 0.017. “banks” has 0.848 of the row (0.576 before), and the output is (1.102, 0.848).");
        let far = [("matrix", "values"), ("row", "water"), ("nudge", "-3")];
        insta::assert_snapshot!(LIVE.at(far).unwrap().words, @"The gradient of the values' parameter in row water, first column, is 0.365: after a nudge of −3 it predicts a loss of −0.964 in place of 0.130, and the loss becomes 6.455. “banks” has 0.576 of the row (0.576 before), and the output is (−2.568, 0.576).");
        let flat = [("row", "money"), ("nudge", "-0.04")];
        insta::assert_snapshot!(LIVE.at(flat).unwrap().words, @"The gradient of the queries' parameter in row money, first column, is 0.000: after a nudge of −0.04 it predicts a loss of 0.130 in place of 0.130, and the loss becomes 0.130. “banks” has 0.576 of the row (0.576 before), and the output is (1.284, 0.576).");
    }
}
