//! What each target loses with each head: a matrix.

use attention::Matrix;

use crate::chart::Chart;
use crate::grid::Grid;
use crate::heads::owned;
use crate::marks::{Mark, by_cell};
use crate::{Error, Figure, Result, Table, escaped, share_map, sketch};

/// What targets lose when heads are removed, one at a time.
#[derive(Debug, Clone, Copy)]
pub struct Ablations<'a> {
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
pub fn ablation(title: impl Into<String>, ablations: Ablations) -> Result<Figure> {
    check(ablations)?;
    let Ablations { lost, control, .. } = ablations;
    let heads = (0..lost.nrows()).map(|head| format!("head {head}"));
    let names: Vec<String> = heads.chain(["random".to_owned()]).collect();
    let targets = owned(ablations.targets);
    let all = lost.clone().insert_row(lost.nrows(), 0.0);
    let all =
        all.map_with_location(|i, j, x| if i == lost.nrows() { control[j] } else { x });
    let points = |i, j| points(all[(i, j)]);
    let caption = "Points that a target loses when a head is removed";
    let table = Table::grid(caption, "removed", &names, &targets, points);
    Chart::new(title)
        .laid_out(Grid::single(&names, &targets))
        .marks([trace(&all, &names, &targets)])
        .says(description(ablations))
        .sketch(format!("{}\n\nPoints of a hundred.", sketch::table(&table)))
        .tables([table])
        .figure()
}

fn check(Ablations { targets, lost, control }: Ablations) -> Result<()> {
    Error::expect_count("the number of heads", lost.nrows(), 16)?;
    Error::expect_count("the number of targets", targets.len(), 8)?;
    Error::expect_length("a row of losses", lost.ncols(), targets.len())?;
    Error::expect_length("the control's list", control.len(), targets.len())?;
    for &lost in lost.iter().chain(control) {
        Error::expect_finite("a loss", lost)?;
    }
    Ok(())
}

/// In points of a hundred; no −0.
fn points(lost: f64) -> String {
    format!("{:.0}", (100.0 * lost).round() + 0.0)
}

fn trace(lost: &Matrix, names: &[String], targets: &[String]) -> Mark {
    let description = |i: usize, j: usize| {
        let (target, points) = (escaped(&targets[j]), points(lost[(i, j)]));
        format!("without {}:<br>{target} loses {points} points", names[i])
    };
    share_map::cells(lost, by_cell(lost.shape(), description), 2)
        .lettered(by_cell(lost.shape(), |i, j| points(lost[(i, j)])))
}

fn description(Ablations { targets, lost, control }: Ablations) -> String {
    let one = |(r, target): (usize, &&str)| {
        let (head, most) = lost.column(r).argmax();
        let (most, control) = (points(most), points(control[r]));
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
        let ablations = Ablations {
            targets: &["agent", "object", "place"],
            lost: &lost,
            control: &[0.294, 0.031, -0.01],
        };
        assert_figure!(ablation("Each word hangs on one head", ablations).unwrap());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let lost = Matrix::from_element(2, 2, 0.5);
        let refused = |targets: &[&str], control: &[f64]| {
            ablation("", Ablations { targets, lost: &lost, control }).unwrap_err()
        };
        insta::assert_snapshot!(refused(&["a"], &[0.0]), @"a row of losses has 2 entries, expected 1");
        insta::assert_snapshot!(refused(&["a", "b"], &[0.0]), @"the control's list has 1 entries, expected 2");
        insta::assert_snapshot!(refused(&["a", "b"], &[0.0, f64::NAN]), @"a loss is NaN, expected a number");
    }
}
