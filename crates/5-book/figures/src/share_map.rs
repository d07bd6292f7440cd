//! A map of shares as coloured cells.

use crate::layout::rounded;
use crate::marks::{Mark, by_cell};
use crate::{escaped, palette};
use attention::Matrix;

/// Cells from 0 to 1, each with its row, its column and its share under the pointer.
pub fn trace(map: &Matrix, rows: &[String], columns: &[String]) -> Mark {
    let description = |i: usize, j: usize| {
        escaped(&format!("{} → {}: {:.3}", rows[i], columns[j], map[(i, j)]))
    };
    cells(map, by_cell(map.shape(), description), 1)
}

/// Cells from 0 to 1 in the colours of shares, `gap` pixels apart, each with what is told
/// under the pointer.
pub fn cells(map: &Matrix, description: Vec<Vec<String>>, gap: usize) -> Mark {
    Mark::cells(entries(map), gap)
        .scaled(palette::shares(), [0, 1])
        .hover(description)
        .tells("{told}")
}

/// The entries, rounded.
pub fn entries(map: &Matrix) -> Vec<Vec<f64>> {
    by_cell(map.shape(), |i, j| rounded(map[(i, j)]))
}

/// A frame around cells of a map, from one column to another and from one row to another.
pub fn frame([left, right]: [usize; 2], [top, bottom]: [usize; 2]) -> Mark {
    let [x0, x1] = [left as f64 - 0.5, right as f64 + 0.5];
    let [y0, y1] = [top as f64 - 0.5, bottom as f64 + 0.5];
    let line = Mark::lines([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0]);
    line.line("currentColor", 2.0).in_legend(false).silent().unclipped()
}
