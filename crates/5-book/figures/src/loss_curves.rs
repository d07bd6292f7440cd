//! How a loss falls, step by step.

use crate::axis::Axis;
use crate::chart::Chart;
use crate::layout::{ends, significant};
use crate::marks::{DASHES, Mark};
use crate::panels::Panel;
use crate::{Error, Figure, Result, Table, escaped, log_axis, palette};

/// The losses of one training run.
#[derive(Debug, Clone, PartialEq)]
pub struct LossCurve {
    /// Whose: `Adam`.
    pub name: String,
    /// The loss before each step.
    pub losses: Vec<f64>,
}

/// Below it a line ends: a logarithmic axis has no zero, and the digits that are left are
/// not the same on every machine.
const LEAST: f64 = 1e-9;
/// How many steps the table and the text show.
const SHOWN: usize = 8;

/// Losses against steps, on a logarithmic axis. Where a loss is no finite number, or below
/// 10⁻⁹, its line has a gap.
///
/// # Errors
/// [`Error::Sizes`] for no curves, or one without losses; [`Error::TooMany`] above 4
/// curves or 5,000 steps; [`Error::Number`] for a loss below 0.
pub fn loss_curves(title: impl Into<String>, curves: &[LossCurve]) -> Result<Figure> {
    Error::expect_count("the number of curves", curves.len(), 4)?;
    for LossCurve { name, losses } in curves {
        attention::Error::expect_positive("the number of losses", losses.len())?;
        Error::expect_at_most("steps", losses.len(), 5000)?;
        for &loss in losses.iter().filter(|loss| loss.is_finite()) {
            let what = format!("a loss of {name}");
            Error::expect_between(what, loss, [0.0, f64::INFINITY])?;
        }
    }
    let all = curves.iter().flat_map(|c| &c.losses).filter_map(|&loss| drawn(loss));
    let steps = Axis::numbers(n_steps(curves) as f64).titled("step");
    let losses = Axis::decades(ends(all), log_axis::power_of_ten);
    Chart::new(title)
        .panels([Panel::new("loss, on a logarithmic axis", steps, losses, 240.0)])
        .marks(curves.iter().enumerate().map(|(nth, curve)| trace(nth, curve)))
        .left_once(44.0)
        .above([34.0; 2])
        .says(description(curves))
        .tables([table(curves)])
        .figure()
}

/// Of the longest run.
fn n_steps(curves: &[LossCurve]) -> usize {
    curves.iter().map(|curve| curve.losses.len()).max().unwrap_or(1)
}

/// What a line is drawn through.
fn drawn(loss: f64) -> Option<f64> {
    (loss.is_finite() && loss >= LEAST).then(|| significant(loss))
}

fn trace(nth: usize, LossCurve { name, losses }: &LossCurve) -> Mark {
    let description = losses.iter().enumerate().map(|(step, &loss)| {
        format!("{}, step {step}<br>loss {}", escaped(name), written(loss))
    });
    Mark::lines(0..losses.len(), losses.iter().map(|&loss| drawn(loss)))
        .with_gaps()
        .named(name)
        .line(palette::head(nth), 2.5)
        .dashed(DASHES[nth])
        .hover(description)
}

/// Four decimals, and an exponent where they say too little.
fn written(loss: f64) -> String {
    match loss {
        loss if !loss.is_finite() => "not finite".to_owned(),
        loss if loss < LEAST => format!("below {LEAST:.0e}"),
        loss if (1e-3..1e4).contains(&loss) => format!("{loss:.4}"),
        loss => format!("{loss:.1e}"),
    }
}

fn table(curves: &[LossCurve]) -> Table {
    let last = n_steps(curves) - 1;
    let mut steps: Vec<usize> = (0..SHOWN).map(|nth| last * nth / (SHOWN - 1)).collect();
    steps.dedup();
    let cell = |row: usize, at: usize| {
        let loss = curves[at].losses.get(steps[row]);
        loss.map_or("–".to_owned(), |&loss| written(loss))
    };
    let rows: Vec<String> = steps.iter().map(usize::to_string).collect();
    let names: Vec<String> = curves.iter().map(|curve| curve.name.clone()).collect();
    Table::grid("Loss before a step", "step", &rows, &names, cell)
}

fn description(curves: &[LossCurve]) -> String {
    let one = |LossCurve { name, losses }: &LossCurve| {
        let (first, last) = (losses[0], losses[losses.len() - 1]);
        format!(" {name} goes from {} to {}.", written(first), written(last))
    };
    let n = n_steps(curves);
    let each: String = curves.iter().map(one).collect();
    format!("A chart of the loss over {n} steps, on a logarithmic axis.{each}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn curve(name: &str, losses: &[f64]) -> LossCurve {
        LossCurve { name: name.to_owned(), losses: losses.to_vec() }
    }

    #[test]
    fn one_falls_faster_than_the_other_and_one_is_lost() {
        let curves = [
            curve("gradient descent", &[1.25, 0.9, 0.71, 0.6, 0.55]),
            curve("Adam", &[1.25, 0.31, 0.04, 0.00013, 5.0e-11]),
            curve("rate too large", &[1.25, 88.0, 6.1e7, f64::INFINITY, f64::NAN]),
        ];
        assert_figure!(loss_curves("Adam falls faster here", &curves).unwrap());
    }

    #[test]
    fn what_is_no_loss_is_refused() {
        insta::assert_snapshot!(loss_curves("", &[]).unwrap_err(), @"the number of curves is 0, and must be at least 1");
        insta::assert_snapshot!(loss_curves("", &[curve("Adam", &[])]).unwrap_err(), @"the number of losses is 0, and must be at least 1");
        insta::assert_snapshot!(loss_curves("", &[curve("Adam", &[1.0, -0.5])]).unwrap_err(), @"a loss of Adam is -0.5, expected at least 0");
    }

    #[test]
    fn a_run_without_a_finite_loss_is_an_empty_chart() {
        let figure = loss_curves("", &[curve("lost", &[f64::NAN])]).unwrap();
        assert_eq!(figure.tables()[0].rows[0], ["0", "not finite"]);
    }
}
