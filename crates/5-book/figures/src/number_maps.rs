//! Matrices in which an entry may be NaN or infinite, with such cells marked.

use attention::Matrix;
use serde_json::{Value, json};

use crate::chart::{self, Text};
use crate::grid::Grid;
use crate::heads::owned;
use crate::layout::significant;
use crate::matrix_maps;
use crate::trace::{Trace, by_cell};
use crate::{Error, Figure, Result, Table, palette, sketch};

/// Named matrices of one shape whose entries are written into the cells. In each, the
/// larger an entry beside the others, the stronger its cell; an entry below −5,000 fills a
/// blocked score, and has an empty one. NaN and +∞ are marked in another colour.
///
/// # Shapes
/// Each matrix is `[rows.len(), columns.len()]`.
///
/// # Errors
/// [`Error::Sizes`] for no matrix, no rows or columns, or a matrix of another shape;
/// [`Error::TooMany`] above 8.
pub fn number_maps<R: AsRef<str>, C: AsRef<str>>(
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
    let names = named.iter().map(|(name, _)| (*name).to_owned()).collect();
    let grid = Grid { names, rows: &rows, columns: &columns, above: 0.0 };
    let table = |(name, entries): &(&str, &Matrix)| {
        Table::grid(*name, "", &rows, &columns, |i, j| written(entries[(i, j)]))
    };
    let tables: Vec<Table> = named.iter().map(table).collect();
    let counts: Vec<String> =
        named.iter().map(|(name, entries)| counted(name, entries)).collect();
    let text = Text {
        alternative: format!("Maps of numbers. {}.", counts.join(". ")),
        sketch: sketch::captioned(&tables),
        tables,
    };
    let traces = named.iter().enumerate();
    let traces = traces.flat_map(|(nth, (name, entries))| traces_of(nth, name, entries));
    Ok(chart::figure(title, text, traces.collect(), grid.layouts()))
}

/// What fills a blocked score lies below it.
const FILL: f64 = -5e3;
/// Seen on light pages and on dark ones.
const NOTHING: &str = "rgba(118,118,118,0.12)";
/// Of the marked cells.
const MARK: usize = 1;

/// Whether an entry is what nobody wants.
fn is_bad(entry: f64) -> bool {
    entry.is_nan() || entry == f64::INFINITY
}

/// What makes a cell strong; nothing for what is not finite or fills.
fn strength(entry: f64) -> f64 {
    if entry.is_finite() && entry > FILL { entry.abs() } else { 0.0 }
}

/// The entries and, over them, the marks of the `nth` panel.
fn traces_of(nth: usize, name: &str, entries: &Matrix) -> [Trace; 2] {
    let shape = entries.shape();
    let most = entries.iter().map(|&entry| strength(entry)).fold(0.0, f64::max);
    let most = if most == 0.0 { 1.0 } else { significant(most) };
    let cell = |i, j| {
        let entry: f64 = entries[(i, j)];
        if is_bad(entry) { Value::Null } else { json!(significant(strength(entry))) }
    };
    let mark = |i, j| if is_bad(entries[(i, j)]) { json!(1.0) } else { Value::Null };
    let text = |bad: bool| {
        by_cell(shape, move |i, j| {
            let entry = entries[(i, j)];
            if is_bad(entry) == bad { written(entry) } else { String::new() }
        })
    };
    let drawn = |cells, scale, most, text| {
        Trace::cells(cells, 1)
            .on(nth)
            .with("name", name)
            .scaled(scale, [0.0, most])
            .with("hoverongaps", false)
            .with("hovertemplate", "%{y} → %{x}: %{text}<extra></extra>")
            .with("text", text)
            .with("texttemplate", "%{text}")
    };
    let marked = json!([[0.0, palette::head(MARK)], [1.0, palette::head(MARK)]]);
    [
        drawn(by_cell(shape, cell), palette::from_nothing(NOTHING), most, text(false)),
        drawn(by_cell(shape, mark), marked, 1.0, text(true)),
    ]
}

/// `0.25`, `−1e9`, `NaN`, `−∞`.
fn written(entry: f64) -> String {
    match entry {
        _ if entry.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "−∞".to_owned(),
        _ => matrix_maps::number(entry).replacen('-', "−", 1),
    }
}

/// How many entries are no numbers, by kind.
fn counted(name: &str, entries: &Matrix) -> String {
    let n = entries.len();
    let counts = ["NaN", "∞", "−∞"].map(|kind| {
        (kind, entries.iter().filter(|entry| written(**entry) == kind).count())
    });
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> =
        counts.map(|(kind, count)| format!("{kind} in {count} of {n} cells")).collect();
    let counts = if counts.is_empty() { "all finite".into() } else { counts.join(", ") };
    format!("{name}: {counts}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    #[test]
    fn cells_that_are_no_numbers_are_marked_and_counted() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let scores = Matrix::from_row_slice(2, 3, &[1.0, -0.5, -inf, inf, -1e9, 2.0]);
        let output = Matrix::from_row_slice(2, 3, &[nan, nan, 0.0, 0.25, 3.0, 1.0]);
        let named = [("scores", &scores), ("output", &output)];
        let figure = number_maps("Two", &["a", "b"], &["0", "1", "2"], &named).unwrap();
        let drawn = figure.to_json();
        // The scores' NaN-free map has its one ∞ marked; the fill does not pale the rest.
        assert_eq!(drawn["data"][1]["z"], json!([[null, null, null], [1.0, null, null]]));
        assert_eq!(drawn["data"][0]["zmax"], json!(2.0));
        assert_eq!(drawn["data"][3]["text"][0], json!(["NaN", "NaN", ""]));
        assert_figure!(figure);
    }

    #[test]
    fn a_matrix_of_another_shape_is_refused() {
        let entries = Matrix::zeros(2, 3);
        let refused = number_maps("", &["a"], &["b"], &[("m", &entries)]).unwrap_err();
        insta::assert_snapshot!(refused, @"the matrix m has shape (2, 3), expected (1, 1)");
    }
}
