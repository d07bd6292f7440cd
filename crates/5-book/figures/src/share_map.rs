//! A map of shares as coloured cells.

use attention::Matrix;
use serde_json::{Value, json};

use crate::layout::rounded;
use crate::marks::{Mark, by_cell};
use crate::{escaped, palette};

/// Cells from 0 to 1, each with its row, its column and its share under the pointer.
pub fn trace(map: &Matrix, rows: &[String], columns: &[String]) -> Mark {
    let description = |i: usize, j: usize| {
        escaped(&format!("{} → {}: {:.3}", rows[i], columns[j], map[(i, j)]))
    };
    cells(map, by_cell(map.shape(), description), 1)
}

/// Cells from 0 to 1 in the colours of shares, `gap` pixels apart, each with what is told
/// under the pointer.
pub fn cells(map: &Matrix, description: Value, gap: usize) -> Mark {
    Mark::cells(entries(map), gap)
        .scaled(palette::shares(), [0.0, 1.0])
        .with("zmin", 0)
        .with("zmax", 1)
        .with("hovertext", description)
        .with("hovertemplate", json!("%{hovertext}<extra></extra>"))
}

/// The entries, as plotly takes them.
pub fn entries(map: &Matrix) -> Value {
    by_cell(map.shape(), |i, j| rounded(map[(i, j)]))
}
