//! How a map forms: one heat map a look, and a slider through them.

use attention::Matrix;

use crate::chart::Chart;
use crate::grid::Grid;
use crate::heads::{check_entries, share};
use crate::spec::{Layout, Slider};
use crate::{Error, Figure, Result, Table, share_map, sketch};

/// The most looks that one figure takes.
const MOST_LOOKS: usize = 24;

/// Room for the slider, in pixels.
const SLIDER: f64 = 70.0;

/// A map that was looked at as training went.
#[derive(Debug, Clone, Copy)]
pub struct MapOverSteps<'a> {
    /// After how many steps, rising, and the map, `[rows, columns]`.
    pub looks: &'a [(usize, Matrix)],
    /// What the rows are: heads, or queries.
    pub rows: &'a [String],
    /// What the columns are: the tokens.
    pub columns: &'a [String],
}

/// A heat map of shares from 0 to 1, with a slider through the steps of a training. The
/// last look is shown first.
///
/// # Errors
/// [`Error::Sizes`] for no looks, rows or columns, or a map of another shape;
/// [`Error::TooMany`] above 24 looks; [`Error::Entry`] for an entry outside 0 to 1.
pub fn map_over_steps(title: impl Into<String>, map: MapOverSteps) -> Result<Figure> {
    check(map)?;
    let tables = map.looks.iter().map(|(step, look)| table(map, *step, look));
    let looks = map.looks.iter().enumerate().map(|(nth, (step, look))| {
        share_map::trace(look, map.rows, map.columns)
            .named(&after(*step))
            .shown(nth + 1 == map.looks.len())
    });
    let layouts = Grid::single(map.rows, map.columns).map(|layout| slid(layout, map));
    Chart::new(title)
        .laid_out(layouts)
        .marks(looks)
        .says(description(map))
        .sketch(sketched(map))
        .tables(tables)
        .figure()
}

fn check(MapOverSteps { looks, rows, columns }: MapOverSteps) -> Result<()> {
    Error::expect_count("the number of looks", looks.len(), MOST_LOOKS)?;
    attention::Error::expect_positive("the number of rows", rows.len())?;
    attention::Error::expect_positive("the number of columns", columns.len())?;
    for (step, look) in looks {
        let what = format!("the map after {step} steps");
        attention::Error::expect_shape(what, (rows.len(), columns.len()), look.shape())?;
        check_entries(0, look)?;
    }
    Ok(())
}

fn after(step: usize) -> String {
    match step {
        0 => "before".to_owned(),
        step => format!("after {step}"),
    }
}

/// The layout with a slider under the map.
fn slid(layout: Layout, MapOverSteps { looks, .. }: MapOverSteps) -> Layout {
    let slider = Slider {
        prefix: "steps: ",
        labels: looks.iter().map(|(step, _)| step.to_string()).collect(),
        active: looks.len() - 1,
        marks_each: 1,
        above: (layout.margin.below as f64).into(),
    };
    layout.slid(slider, SLIDER)
}

/// At most six of the maps, the first and the last among them.
fn sketched(MapOverSteps { looks, rows, columns }: MapOverSteps) -> String {
    let n = looks.len().min(6);
    let nth = |at: usize| at * (looks.len() - 1) / (n - 1).max(1);
    let named: Vec<(String, &Matrix)> = (0..n)
        .map(|at| &looks[nth(at)])
        .map(|(step, look)| (after(*step), look))
        .collect();
    format!(
        "{}\n\nAcross: {}. Full block: 1.",
        sketch::maps(&named, rows, 1.0),
        columns.join(", ")
    )
}

fn table(
    MapOverSteps { rows, columns, .. }: MapOverSteps,
    step: usize,
    look: &Matrix,
) -> Table {
    let cell = |i: usize, j: usize| share(look[(i, j)]);
    Table::grid(format!("Shares {}", after(step)), "", rows, columns, cell)
}

fn description(MapOverSteps { looks, rows, columns }: MapOverSteps) -> String {
    let strongest = |row: usize, look: &Matrix| {
        let (column, entry) = look.row(row).transpose().argmax();
        format!("{} {}", columns[column], share(entry))
    };
    let ((_, first), (_, last)) = (&looks[0], &looks[looks.len() - 1]);
    let one = |(row, name): (usize, &String)| {
        format!("{name}, {} and then {}", strongest(row, first), strongest(row, last))
    };
    let each: Vec<String> = rows.iter().enumerate().map(one).collect();
    format!(
        "A heat map at {} steps of a training, with a slider. The largest share of each \
         row, at first and at last: {}.",
        looks.len(),
        each.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn two_heads_at_three_steps() {
        let map = |numbers: &[f64]| Matrix::from_row_slice(2, 3, numbers);
        let looks = [
            (0, map(&[0.3, 0.4, 0.3, 0.2, 0.3, 0.5])),
            (50, map(&[0.7, 0.2, 0.1, 0.1, 0.2, 0.7])),
            (100, map(&[1.0, 0.0, 0.0, 0.0, 0.01, 0.99])),
        ];
        let (rows, columns) =
            (names(&["head 0", "head 1"]), names(&["agent", "verb", "<place>"]));
        let map = MapOverSteps { looks: &looks, rows: &rows, columns: &columns };
        assert_figure!(map_over_steps("Two heads part ways", map).unwrap());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (rows, columns) = (names(&["a"]), names(&["b", "c"]));
        let refused = |looks: &[(usize, Matrix)]| {
            let map = MapOverSteps { looks, rows: &rows, columns: &columns };
            map_over_steps("", map).unwrap_err()
        };
        insta::assert_snapshot!(refused(&[]), @"the number of looks is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&[(5, Matrix::zeros(2, 2))]), @"the map after 5 steps has shape (2, 2), expected (1, 2)");
        let many: Vec<_> = (0..25).map(|step| (step, Matrix::zeros(1, 2))).collect();
        insta::assert_snapshot!(refused(&many), @"25 looks are too many for one figure: draw at most 24");
    }
}
