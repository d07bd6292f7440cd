//! Loss and score as training goes, a line a run.

use attention::median;

use crate::axis::Axis;
use crate::chart::{Chart, Text};
use crate::layout::rounded;
use crate::panels::Panel;
use crate::trace::{DASHES, Trace};
use crate::{Error, Figure, Result, Table, escaped, palette, sketch};

/// One training: its loss and its score at some of its steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What it has in common with others, which are drawn alike: `3 heads`.
    pub group: String,
    /// What sets it apart within its group: `seed 0`.
    pub name: String,
    /// After how many steps it was looked at, rising.
    pub steps: Vec<usize>,
    /// The loss at each.
    pub losses: Vec<f64>,
    /// The score at each; 1 is perfect.
    pub scores: Vec<f64>,
}

/// The loss and the score of several trainings against their steps, one colour a group.
///
/// Scores below 0 are drawn on the axis.
///
/// # Errors
/// [`Error::Sizes`] for no curves or one without steps; [`Error::TooMany`] above 40, or
/// of more than 4 groups; [`Error::Length`] for as many losses or scores as do not fit;
/// [`Error::Number`] for a loss below 0 or a score above 1.
pub fn training_curves(title: impl Into<String>, curves: &[Curve]) -> Result<Figure> {
    check(curves)?;
    let groups = groups(curves);
    let text = Text {
        alternative: told(curves, &groups),
        sketch: sketched(curves),
        tables: vec![table(curves, &groups)],
    };
    Ok(chart(curves, &groups).figure(title, text))
}

fn check(curves: &[Curve]) -> Result<()> {
    Error::expect_count("the number of curves", curves.len(), 40)?;
    Error::expect_at_most("groups of curves", groups(curves).len(), DASHES.len())?;
    for Curve { group, name, steps, losses, scores } in curves {
        attention::Error::expect_positive("the number of steps of a curve", steps.len())?;
        let of = |what: &str| format!("the list of {what} of {group}, {name}");
        Error::expect_length(of("losses"), losses.len(), steps.len())?;
        Error::expect_length(of("scores"), scores.len(), steps.len())?;
        for &loss in losses {
            let what = format!("a loss of {group}, {name}");
            Error::expect_between(what, loss, [0.0, f64::INFINITY])?;
        }
        for &score in scores {
            let what = format!("a score of {group}, {name}");
            Error::expect_between(what, score, [f64::NEG_INFINITY, 1.0])?;
        }
    }
    Ok(())
}

/// The groups in the order of their first curves.
fn groups(curves: &[Curve]) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for curve in curves {
        if !groups.contains(&curve.group.as_str()) {
            groups.push(&curve.group);
        }
    }
    groups
}

fn traces(curves: &[Curve], groups: &[&str]) -> Vec<Trace> {
    let trace = |nth: usize, panel: usize| {
        let Curve { group, name, steps, losses, scores } = &curves[nth];
        let which = groups.iter().position(|known| known == group).unwrap_or(0);
        let first = curves.iter().position(|other| other.group == *group);
        let (what, numbers) = [("loss", losses), ("score", scores)][panel];
        let told = steps.iter().zip(numbers).map(|(step, number)| {
            let (group, name) = (escaped(group), escaped(name));
            format!("{group}, {name}<br>after {step} steps: {what} {number:.3}")
        });
        let y = numbers.iter().map(|&number| rounded(number.max(0.0)));
        Trace::lines(steps.clone(), y)
            .on(panel)
            .named(group)
            .of_group(group, panel == 0 && first == Some(nth))
            .line(palette::head(which), 1.5)
            .dashed(DASHES[which])
            .with("opacity", 0.75)
            .told(told)
    };
    (0..curves.len()).flat_map(|nth| [trace(nth, 0), trace(nth, 1)]).collect()
}

fn chart(curves: &[Curve], groups: &[&str]) -> Chart {
    let last = curves.iter().flat_map(|curve| &curve.steps).copied().max().unwrap_or(1);
    let losses = curves.iter().flat_map(|curve| curve.losses.iter().copied());
    let most = losses.fold(0.1, f64::max);
    let panel = |title: &str, end: f64| {
        let steps = Axis::numbers(last as f64).titled("steps");
        Panel::new(title, steps, Axis::numbers(end * 1.04), 220.0)
    };
    Chart {
        panels: vec![panel("loss", most), panel("score on the test set", 1.0)],
        traces: traces(curves, groups),
        n_columns: 2,
        above: [34.0; 2],
        ..Chart::default()
    }
}

/// The last score of each curve, sorted, by group.
fn last_scores(curves: &[Curve], group: &str) -> Vec<f64> {
    let of_group = curves.iter().filter(|curve| curve.group == group);
    let mut scores: Vec<f64> =
        of_group.filter_map(|curve| curve.scores.last().copied()).collect();
    scores.sort_by(f64::total_cmp);
    scores
}

fn table(curves: &[Curve], groups: &[&str]) -> Table {
    let row = |group: &&str| {
        let scores = last_scores(curves, group);
        let three = |x: f64| format!("{x:.3}");
        [
            (*group).to_owned(),
            scores.len().to_string(),
            three(scores[0]),
            three(median(scores.iter().copied())),
            three(scores[scores.len() - 1]),
        ]
    };
    let columns = ["", "trainings", "least", "median", "most"];
    Table::new("Scores at the end", columns, groups.iter().map(row))
}

fn sketched(curves: &[Curve]) -> String {
    let names: Vec<String> =
        curves.iter().map(|curve| format!("{}, {}", curve.group, curve.name)).collect();
    let width = sketch::longest(&names);
    let line = |(curve, name): (&Curve, &String)| {
        let last = curve.scores[curve.scores.len() - 1];
        let drawn = sketch::columns(&curve.scores, 1.0);
        format!("{name:<width$}  {last:6.3}  {drawn}")
    };
    let lines: Vec<String> = curves.iter().zip(&names).map(line).collect();
    format!(
        "{}\n\nThe score at the end, and along the way. Full column: 1.",
        lines.join("\n")
    )
}

fn told(curves: &[Curve], groups: &[&str]) -> String {
    let one = |group: &&str| {
        let scores = last_scores(curves, group);
        let (least, most) = (scores[0], scores[scores.len() - 1]);
        format!("{group}, {} trainings, from {least:.3} to {most:.3}", scores.len())
    };
    let each: Vec<String> = groups.iter().map(one).collect();
    format!(
        "Two charts against steps: loss and score. Scores at the end: {}.",
        each.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn curve(group: &str, name: &str, scores: [f64; 3]) -> Curve {
        Curve {
            group: group.to_owned(),
            name: name.to_owned(),
            steps: vec![0, 500, 1000],
            losses: scores.iter().map(|score| 4.2 * (1.0 - score)).collect(),
            scores: scores.to_vec(),
        }
    }

    #[test]
    fn two_groups_of_two() {
        let curves = [
            curve("1 head", "seed 0", [0.01, 0.67, 0.76]),
            curve("1 head", "seed 1", [0.02, 0.33, 0.34]),
            curve("3 heads", "seed 0", [0.01, 0.99, 1.0]),
            curve("3 heads", "seed 1", [0.01, 0.98, 1.0]),
        ];
        assert_figure!(training_curves("One head is never right", &curves).unwrap());
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let refused =
            |scores| training_curves("", &[curve("a", "b", scores)]).unwrap_err();
        insta::assert_snapshot!(refused([0.0, f64::NAN, 0.5]), @"a loss of a, b is NaN, expected at least 0");
        insta::assert_snapshot!(refused([0.0, 0.5, 1.5]), @"a loss of a, b is -2.1, expected at least 0");
        insta::assert_snapshot!(training_curves("", &[]).unwrap_err(), @"the number of curves is 0, and must be at least 1");
        let mut short = curve("a", "b", [0.0, 0.5, 0.5]);
        short.scores[1] = 1.5;
        insta::assert_snapshot!(training_curves("", &[short.clone()]).unwrap_err(), @"a score of a, b is 1.5, expected at most 1");
        short.scores.pop();
        insta::assert_snapshot!(training_curves("", &[short]).unwrap_err(), @"the list of scores of a, b has 2 entries, expected 3");
    }
}
