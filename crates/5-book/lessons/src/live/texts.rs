//! Numbers as an address writes them: a matrix as `1,0;0,1`.

use anyhow::{Context, Result};
use attention::{Error, Matrix};

/// A number from a range.
///
/// # Errors
/// What is none, or beyond the range.
pub(super) fn number_from(
    what: &str,
    text: &str,
    [least, most]: [f64; 2],
) -> Result<f64> {
    let number = text.trim().parse().ok();
    number.filter(|it| (least..=most).contains(it)).with_context(|| {
        format!("{what} is “{text}”, expected a number from {least} to {most}")
    })
}

/// A matrix with these names of its rows and columns, of entries from a range.
///
/// # Errors
/// Another shape; as [`number_from`], with the name of the entry.
pub(super) fn matrix_from(
    label: &str,
    text: &str,
    [rows, columns]: &[Vec<String>; 2],
    range: [f64; 2],
) -> Result<Matrix> {
    let lines: Vec<Vec<&str>> =
        text.split(';').map(|line| line.split(',').collect()).collect();
    for line in &lines {
        let (expected, found) = ((rows.len(), columns.len()), (lines.len(), line.len()));
        Error::expect_shape(label, expected, found)?;
    }
    let mut entries = Vec::new();
    for (row, line) in rows.iter().zip(&lines) {
        for (column, text) in columns.iter().zip(line) {
            let place =
                [row.as_str(), column].into_iter().filter(|name| !name.is_empty());
            let place = place.collect::<Vec<_>>().join(", ");
            entries.push(number_from(&format!("{label}, {place},"), text, range)?);
        }
    }
    Ok(Matrix::from_row_slice(rows.len(), columns.len(), &entries))
}

/// Rows apart by `;`, entries by `,`.
pub(super) fn matrix_text(matrix: &Matrix) -> String {
    let row =
        |row: Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let rows = matrix.row_iter().map(|it| row(it.iter().copied().collect()));
    rows.collect::<Vec<_>>().join(";")
}
