//! Loss and score as training goes, a line a run.

use plotly::Scatter;
use plotly::common::{DashType, HoverInfo, Line, Mode};
use plotly::layout::Axis;
use serde_json::{Value, to_value};

use attention::{Error as SizeError, median};

use crate::layout::{axis_title, number_axis, rounded, text, with};
use crate::panels::{self, NARROW, Panel, Place, WIDE, axis_name};
use crate::{Error, Figure, Result, Table, palette, sketch};

/// The most groups that can be told apart.
const MOST_GROUPS: usize = 4;

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
    let table = table(curves, &groups);
    Ok(Figure {
        title: title.into(),
        alternative: told(curves, &groups),
        sketch: sketched(curves),
        tables: vec![table],
        traces: traces(curves, &groups),
        wide: layout(curves, WIDE, 2),
        narrow: layout(curves, NARROW, 1),
        notebook: None,
    })
}

fn check(curves: &[Curve]) -> Result<()> {
    SizeError::expect_positive("the number of curves", curves.len())?;
    Error::expect_at_most("curves", curves.len(), 40)?;
    Error::expect_at_most("groups of curves", groups(curves).len(), MOST_GROUPS)?;
    for Curve { group, name, steps, losses, scores } in curves {
        SizeError::expect_positive("the number of steps of a curve", steps.len())?;
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

const DASHES: [DashType; MOST_GROUPS] =
    [DashType::Solid, DashType::Dash, DashType::Dot, DashType::DashDot];

fn traces(curves: &[Curve], groups: &[&str]) -> Vec<Value> {
    let mut traces = Vec::new();
    for (nth, curve) in curves.iter().enumerate() {
        let group = groups.iter().position(|group| *group == curve.group).unwrap_or(0);
        let is_first = curves.iter().position(|other| other.group == curve.group);
        for (panel, (what, numbers)) in
            [("loss", &curve.losses), ("score", &curve.scores)].into_iter().enumerate()
        {
            let told = |(step, number): (&usize, &f64)| {
                let (group, name) = (text(&curve.group), text(&curve.name));
                format!("{group}, {name}<br>after {step} steps: {what} {number:.3}")
            };
            let y = numbers.iter().map(|&number| rounded(number.max(0.0))).collect();
            let trace = Scatter::new(curve.steps.clone(), y)
                .mode(Mode::Lines)
                .name(text(&curve.group))
                .legend_group(curve.group.as_str())
                .show_legend(panel == 0 && is_first == Some(nth))
                .x_axis(axis_name("x", panel))
                .y_axis(axis_name("y", panel))
                .opacity(0.75)
                .line(
                    Line::new()
                        .color(palette::head(group))
                        .width(1.5)
                        .dash(DASHES[group].clone()),
                )
                .hover_text_array(curve.steps.iter().zip(numbers).map(told).collect())
                .hover_info(HoverInfo::Text);
            traces.push(with(to_value(trace), []));
        }
    }
    traces
}

fn layout(curves: &[Curve], width: f64, n_columns: usize) -> Value {
    let last = curves.iter().flat_map(|curve| &curve.steps).copied().max().unwrap_or(1);
    let losses = curves.iter().flat_map(|curve| curve.losses.iter().copied());
    let most = losses.fold(0.1, f64::max);
    let steps = || -> Axis { number_axis(last as f64, "").title(axis_title("steps")) };
    let panel = |title: &str, end: f64| Panel {
        title: title.to_owned(),
        x: steps(),
        y: number_axis(end * 1.04, ""),
        width: None,
        height: 220.0,
    };
    let panels = vec![panel("loss", most), panel("score on the test set", 1.0)];
    let place = Place {
        width,
        n_columns,
        left: 34.0,
        left_once: false,
        below: 38.0,
        above: 34.0,
    };
    panels::layout(panels, &place)
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
