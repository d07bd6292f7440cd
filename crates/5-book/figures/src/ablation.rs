//! What each target loses with each head: a matrix.

use attention::{Error as SizeError, Matrix};
use serde_json::{Value, json};

use crate::grid::Grid;
use crate::layout::{rounded, set, text};
use crate::{Error, Figure, Result, Table, share_map, sketch};

/// What targets lose when heads are removed, one at a time.
#[derive(Debug, Clone, Copy)]
pub struct Removals<'a> {
    /// The names of the targets.
    pub targets: &'a [&'a str],
    /// What target r loses without head i, `[n_heads, n_targets]`: 1 is all of a perfect
    /// score; below 0 the target is better off.
    pub lost: &'a Matrix,
    /// What each target loses with the control: random directions, as many as a head has.
    pub control: &'a [f64],
}

/// A heat map of losses: heads down and the control last, targets across. The scale goes
/// from 0 to 1; what lies outside has its number in the cell.
///
/// # Errors
/// [`Error::Sizes`] for no heads or targets; [`Error::TooMany`] above 16 heads or 8
/// targets; [`Error::Length`] for other numbers of targets; [`Error::Number`] for a loss
/// that is none.
pub fn ablation(title: impl Into<String>, removals: Removals) -> Result<Figure> {
    check(removals)?;
    let rows = rows(removals);
    let names: Vec<String> = rows.iter().map(|(name, _)| name.clone()).collect();
    let targets: Vec<String> = removals.targets.iter().map(|t| (*t).to_owned()).collect();
    let grid =
        Grid { names: vec![String::new()], rows: &names, columns: &targets, above: 0.0 };
    let table = table(removals, &rows);
    Ok(Figure {
        title: title.into(),
        alternative: told(removals),
        sketch: format!("{}\n\nPoints of a hundred.", sketch::table(&table)),
        tables: vec![table],
        traces: vec![trace(&rows, &targets)],
        wide: quiet(grid.wide()),
        narrow: quiet(grid.narrow()),
        notebook: None,
    })
}

fn check(Removals { targets, lost, control }: Removals) -> Result<()> {
    SizeError::expect_positive("the number of heads", lost.nrows())?;
    SizeError::expect_positive("the number of targets", targets.len())?;
    Error::expect_at_most("heads", lost.nrows(), 16)?;
    Error::expect_at_most("targets", targets.len(), 8)?;
    Error::expect_length("a row of losses", lost.ncols(), targets.len())?;
    Error::expect_length("the control's list", control.len(), targets.len())?;
    for &lost in lost.iter().chain(control) {
        Error::expect_between("a loss", lost, [f64::NEG_INFINITY, f64::INFINITY])?;
    }
    Ok(())
}

fn rows(Removals { lost, control, .. }: Removals) -> Vec<(String, Vec<f64>)> {
    let head = |i: usize| (format!("head {i}"), lost.row(i).iter().copied().collect());
    let control = ("random".to_owned(), control.to_vec());
    (0..lost.nrows()).map(head).chain([control]).collect()
}

/// In points of a hundred; no −0.
fn points(lost: f64) -> String {
    format!("{:.0}", (100.0 * lost).round() + 0.0)
}

fn trace(rows: &[(String, Vec<f64>)], targets: &[String]) -> Value {
    let z: Vec<Vec<f64>> =
        rows.iter().map(|(_, lost)| lost.iter().map(|&x| rounded(x)).collect()).collect();
    let written: Vec<Vec<String>> =
        rows.iter().map(|(_, lost)| lost.iter().map(|&x| points(x)).collect()).collect();
    let told: Vec<Vec<String>> = rows
        .iter()
        .map(|(name, lost)| {
            let cells = targets.iter().zip(lost);
            let cell = |(target, &lost): (&String, &f64)| {
                format!(
                    "without {name}:<br>{} loses {} points",
                    text(target),
                    points(lost)
                )
            };
            cells.map(cell).collect()
        })
        .collect();
    let mut trace = share_map::cells(z, &told, 2);
    set(&mut trace, "text", json!(written));
    set(&mut trace, "texttemplate", json!("%{text}"));
    trace
}

/// One map needs no name above it.
fn quiet(mut layout: Value) -> Value {
    layout["annotations"] = json!([]);
    layout["showlegend"] = json!(false);
    layout
}

fn table(removals: Removals, rows: &[(String, Vec<f64>)]) -> Table {
    let heads = removals.targets.iter().map(|target| (*target).to_owned());
    Table {
        caption: "Points that a target loses when a head is removed".to_owned(),
        columns: std::iter::once("removed".to_owned()).chain(heads).collect(),
        rows: rows
            .iter()
            .map(|(name, lost)| {
                let cells = lost.iter().map(|&lost| points(lost));
                std::iter::once(name.clone()).chain(cells).collect()
            })
            .collect(),
    }
}

fn told(Removals { targets, lost, control }: Removals) -> String {
    let one = |(r, target): (usize, &&str)| {
        let (head, most) = lost.column(r).argmax();
        let control = points(control[r]);
        let most = points(most);
        format!(
            "{target} loses most, {most} points, without head {head}, and {control} without random directions"
        )
    };
    let each: Vec<String> = targets.iter().enumerate().map(one).collect();
    format!("A matrix of what each target loses without each head: {}.", each.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    #[test]
    fn three_heads_three_targets_and_the_control() {
        let lost = Matrix::from_row_slice(
            3,
            3,
            &[0.988, 0.0, 0.001, 0.0, 0.982, -0.004, 0.0, 0.0, 0.982],
        );
        let removals = Removals {
            targets: &["agent", "object", "place"],
            lost: &lost,
            control: &[0.294, 0.031, -0.01],
        };
        assert_figure!(ablation("Each word hangs on one head", removals).unwrap());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let lost = Matrix::from_element(2, 2, 0.5);
        let refused = |targets: &[&str], control: &[f64]| {
            ablation("", Removals { targets, lost: &lost, control }).unwrap_err()
        };
        insta::assert_snapshot!(refused(&["a"], &[0.0]), @"a row of losses has 2 entries, expected 1");
        insta::assert_snapshot!(refused(&["a", "b"], &[0.0]), @"the control's list has 1 entries, expected 2");
        insta::assert_snapshot!(refused(&["a", "b"], &[0.0, f64::NAN]), @"a loss is NaN, expected a number");
    }
}
