//! Small matrices in bands, each over what it becomes: widths may differ, rows do not.

use attention::Matrix;

use crate::axis::Axis;
use crate::chart::Chart;
use crate::heads::owned;
use crate::layout::label_width;
use crate::matrix_maps::{description, table, trace};
use crate::panels::{self, GAP, NARROW, Panel, Place, WIDE};
use crate::spec::Layout;
use crate::{Error, Figure, Result};

/// A matrix with its name and those of its columns.
#[derive(Debug, Clone, Copy)]
pub struct NamedMatrix<'a> {
    /// What stands over it.
    pub name: &'a str,
    /// What its columns are.
    pub columns: &'a [&'a str],
    /// `[rows, columns.len()]`.
    pub entries: &'a Matrix,
}

/// Bands of matrices, one under the other. Matrices that stand under each other are as
/// wide as each other, and have one scale of colours.
///
/// # Shapes
/// Each matrix is `[rows.len(), columns.len()]`.
///
/// # Errors
/// [`Error::Sizes`] for no band, no matrix, no rows or columns, a band of another length,
/// or a matrix of another shape; [`Error::TooMany`] above 3 bands or 12 columns in one.
pub fn matrix_bands(
    title: impl Into<String>,
    rows: &[&str],
    bands: &[&[NamedMatrix]],
) -> Result<Figure> {
    check(rows, bands)?;
    let rows = owned(rows);
    let all = || bands.iter().copied().flatten();
    let most = |at: usize| {
        let under_each_other = bands.iter().map(|band| band[at].entries.amax());
        under_each_other.fold(0.0, f64::max)
    };
    let n = bands[0].len();
    let most: Vec<f64> = (0..n).map(most).collect();
    let tables = all().map(|it| table(it.name, it.entries, &rows, &owned(it.columns)));
    let each = || all().enumerate().map(|(nth, it)| (nth, it, most[nth % n]));
    let description: Vec<String> = each()
        .map(|(_, it, most)| {
            description(it.name, it.entries, &rows, &owned(it.columns), most)
        })
        .collect();
    let description =
        format!("Matrices, all entries that are not 0. {}.", description.join(". "));
    let traces = each().map(|(nth, it, most)| trace(nth, it.name, it.entries, most));
    let layouts = [WIDE, NARROW].map(|width| layout(&rows, bands, width));
    Chart::new(title)
        .laid_out(layouts)
        .marks(traces)
        .says(description)
        .tables(tables)
        .figure()
}

fn check(rows: &[&str], bands: &[&[NamedMatrix]]) -> Result<()> {
    attention::Error::expect_positive("the number of rows", rows.len())?;
    Error::expect_count("the number of bands", bands.len(), 3)?;
    for band in bands {
        attention::Error::expect_positive("the number of matrices", band.len())?;
        Error::expect_length("a band of matrices", band.len(), bands[0].len())?;
        let n_columns = band.iter().map(|it| it.columns.len()).sum();
        Error::expect_at_most("columns", n_columns, 12)?;
        for (it, over) in band.iter().zip(bands[0]) {
            attention::Error::expect_positive("the number of columns", it.columns.len())?;
            let expected = (rows.len(), over.columns.len());
            for found in [it.entries.shape(), (rows.len(), it.columns.len())] {
                let what = format!("the matrix {}", it.name);
                attention::Error::expect_shape(what, expected, found)?;
            }
        }
    }
    Ok(())
}

/// The widest a cell is, and how high each is.
const CELL: [f64; 2] = [56.0, 26.0];
const FONT_SIZE: usize = 11;

fn layout(rows: &[String], bands: &[&[NamedMatrix]], width: f64) -> Layout {
    let columns: Vec<String> = bands[0].iter().flat_map(|it| owned(it.columns)).collect();
    let n = bands[0].len();
    let left = label_width(rows, FONT_SIZE);
    let place = Place {
        width,
        n_columns: n,
        left,
        left_once: true,
        below: label_width(&columns, FONT_SIZE),
        above: 0.0,
    };
    let room = width - left - n as f64 * GAP;
    let cell = (room / columns.len() as f64).min(CELL[0]);
    let panel = |(nth, it): (usize, &NamedMatrix)| {
        let n_columns = it.columns.len() as f64;
        Panel {
            is_whole: false,
            title: it.name.to_owned(),
            x: Axis::across(&owned(it.columns), FONT_SIZE).upright(),
            y: Axis::down(rows, FONT_SIZE).labelled(nth.is_multiple_of(n)),
            width: Some(n_columns * cell),
            height: rows.len() as f64 * CELL[1],
        }
    };
    let all = bands.iter().copied().flatten();
    panels::layout(all.enumerate().map(panel).collect(), &place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    #[test]
    fn a_band_over_what_it_becomes() {
        let narrow = Matrix::from_row_slice(2, 1, &[2.0, 0.0]);
        let wide = Matrix::from_row_slice(2, 2, &[0.0, 0.5, 0.0, 0.0]);
        let moved = Matrix::from_row_slice(2, 2, &[2e-16, 0.5, 0.0, 0.0]);
        let columns = ["x", "y"];
        let named =
            |name, n, entries| NamedMatrix { name, columns: &columns[..n], entries };
        let before = [named("W^Q", 1, &narrow), named("W^Q (W^K)ᵀ", 2, &wide)];
        let larger = &narrow * 1e6;
        let after = [named("W^Q M", 1, &larger), named("after", 2, &moved)];
        let figure = matrix_bands("Two", &["wet", "verb"], &[&before, &after]).unwrap();
        assert!(figure.alternative().ends_with("after: wet to y 0.5."));
        assert_eq!(figure.tables()[3].rows[0], ["wet", "2e-16", "0.5"]);
        assert_figure!(figure);
    }

    #[test]
    fn bands_that_do_not_fit_each_other_are_refused() {
        let entries = Matrix::zeros(2, 1);
        let one = NamedMatrix { name: "m", columns: &["x"], entries: &entries };
        let refused =
            |bands: &[&[NamedMatrix]]| matrix_bands("", &["a", "b"], bands).unwrap_err();
        insta::assert_snapshot!(refused(&[]), @"the number of bands is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&[&[one], &[one, one]]), @"a band of matrices has 2 entries, expected 1");
        let other = NamedMatrix { columns: &["x", "y"], ..one };
        insta::assert_snapshot!(refused(&[&[one], &[other]]), @"the matrix m has shape (2, 2), expected (2, 1)");
    }
}
