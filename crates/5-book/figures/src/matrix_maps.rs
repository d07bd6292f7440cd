//! Small matrices with names on their rows and columns, entries written into the cells.

use attention::Matrix;

use crate::chart::Chart;
use crate::heads::owned;
use crate::marks::{Mark, by_cell};
use crate::{Error, Figure, Result, Table, palette, sketch};

/// Named matrices of one shape: the larger an entry, the stronger its cell.
///
/// # Shapes
/// Each matrix is `[rows.len(), columns.len()]`.
///
/// # Errors
/// [`Error::Sizes`] for no matrix, no rows or columns, or a matrix of another shape;
/// [`Error::TooMany`] above 8.
pub fn matrix_maps<R: AsRef<str>, C: AsRef<str>>(
    title: impl Into<String>,
    rows: &[R],
    columns: &[C],
    named: &[(&str, &Matrix)],
) -> Result<Figure> {
    Error::expect_count("the number of matrices", named.len(), 8)?;
    attention::Error::expect_positive("the number of rows", rows.len())?;
    attention::Error::expect_positive("the number of columns", columns.len())?;
    let (rows, columns) = (owned(rows), owned(columns));
    for (name, entries) in named {
        let expected = (rows.len(), columns.len());
        attention::Error::expect_shape(
            format!("the matrix {name}"),
            expected,
            entries.shape(),
        )?;
    }
    let most = named.iter().map(|(_, entries)| entries.amax()).fold(0.0, f64::max);
    let names: Vec<String> = named.iter().map(|(name, _)| (*name).to_owned()).collect();
    let maps: Vec<_> =
        named.iter().map(|(name, entries)| (name, entries.map(f64::abs))).collect();
    let maps: Vec<_> =
        maps.iter().map(|(name, map)| ((**name).to_owned(), map)).collect();
    let each = || named.iter();
    let tables: Vec<Table> =
        each().map(|(name, entries)| table(name, entries, &rows, &columns)).collect();
    let description: Vec<String> = each()
        .map(|(name, entries)| description(name, entries, &rows, &columns, most))
        .collect();
    let sketches = [sketch::tables(&tables), sketch::maps(&maps, &rows, most)];
    let traces = each().enumerate();
    Chart::grid(title, &names, &rows, &columns)
        .marks(traces.map(|(nth, (name, entries))| trace(nth, name, entries, most)))
        .says(format!(
            "Matrices, all entries that are not 0. {}.",
            description.join(". ")
        ))
        .sketch(sketches.join("\n\n"))
        .tables(tables)
        .figure()
}

/// Seen on light pages and on dark ones.
const NOTHING: &str = "rgba(118,118,118,0.12)";

/// The `nth` panel: an entry of `most`, or of its negative, has the strongest cell.
pub(crate) fn trace(nth: usize, name: &str, entries: &Matrix, most: f64) -> Mark {
    let shape = entries.shape();
    Mark::cells(by_cell(shape, |i, j| entries[(i, j)].abs()), 1)
        .on(nth)
        .named(name)
        .scaled(
            palette::from_nothing(NOTHING),
            [0.0, if most == 0.0 { 1.0 } else { most }],
        )
        .tells("{row} → {column}: {text}")
        .lettered(by_cell(shape, |i, j| written(entries[(i, j)], most)))
}

/// Beside the largest entry, less is what rounding leaves of 0.
const ROUNDING: f64 = 1e-9;

fn is_nothing(entry: f64, most: f64) -> bool {
    entry.abs() <= most * ROUNDING
}

/// `2`, `0.5`, and nothing for 0.
fn written(entry: f64, most: f64) -> String {
    if is_nothing(entry, most) { String::new() } else { number(entry) }
}

/// To two decimals, without zeros at the end; `2e-16` and `1e6` where that says more; no
/// zero has a sign.
pub fn number(entry: f64) -> String {
    let size = entry.abs();
    if size != 0.0 && !(5e-3..1e4).contains(&size) {
        return format!("{entry:.0e}");
    }
    ((entry * 100.0).round() / 100.0 + 0.0).to_string()
}

pub(crate) fn table(
    name: &str,
    entries: &Matrix,
    rows: &[String],
    columns: &[String],
) -> Table {
    Table::grid(name, "", rows, columns, |i, j| number(entries[(i, j)]))
}

/// Every entry of a matrix that is not 0, in words.
pub(crate) fn description(
    name: &str,
    entries: &Matrix,
    rows: &[String],
    columns: &[String],
    most: f64,
) -> String {
    let cells = (0..rows.len()).flat_map(|i| (0..columns.len()).map(move |j| (i, j)));
    let cells = cells.filter(|&at| !is_nothing(entries[at], most));
    let cells = cells.map(|(i, j)| {
        format!("{} to {} {}", rows[i], columns[j], number(entries[(i, j)]))
    });
    match &cells.collect::<Vec<_>>()[..] {
        [] => format!("{name}: none"),
        cells => format!("{name}: {}", cells.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;
    use serde_json::json;

    #[test]
    fn two_small_matrices() {
        let a = Matrix::from_row_slice(2, 3, &[2.0, 0.0, 0.0, 0.0, 0.0, 4.0]);
        let b = Matrix::from_row_slice(2, 3, &[0.0, -0.5, 0.0, 0.0, 0.0, 0.0]);
        let named = [("looks for", &a), ("writes", &b)];
        let figure =
            matrix_maps("Two", &["wet", "verb"], &["x", "y", "z"], &named).unwrap();
        let alternative = figure.alternative();
        assert!(
            alternative.contains("verb to z 4") && alternative.contains("wet to y -0.5")
        );
        assert_figure!(figure);
    }

    /// Nothing has the colour of nothing, and not that of the largest entry.
    #[test]
    fn a_matrix_of_zeros_is_drawn_as_nothing() {
        let zeros = Matrix::zeros(1, 1);
        let figure = matrix_maps("", &["a"], &["b"], &[("m", &zeros)]).unwrap();
        assert!(figure.alternative().ends_with("m: none."), "{}", figure.alternative());
        let scale = trace(0, "m", &zeros, 0.0).scale.unwrap();
        assert_eq!(json!(scale.ends), json!([0.0, 1.0]));
        assert!(!figure.sketch().contains(['█', 'N']), "{}", figure.sketch());
    }

    #[test]
    fn a_matrix_of_another_shape_is_refused() {
        let entries = Matrix::zeros(2, 3);
        let refused = matrix_maps("", &["a"], &["b"], &[("m", &entries)]).unwrap_err();
        insta::assert_snapshot!(refused, @"the matrix m has shape (2, 3), expected (1, 1)");
    }
}
