//! A map of shares as coloured cells.

use attention::Matrix;
use plotly::HeatMap;
use serde_json::{Value, json, to_value};

use crate::layout::{rounded, text, with};
use crate::palette;

/// Cells from 0 to 1, each with its row, its column and its share under the pointer.
pub(crate) fn trace(map: &Matrix, rows: &[String], columns: &[String]) -> Value {
    let z: Vec<Vec<f64>> = map
        .row_iter()
        .map(|row| row.iter().map(|&entry| rounded(entry)).collect())
        .collect();
    let told: Vec<Vec<String>> = rows
        .iter()
        .zip(map.row_iter())
        .map(|(name, row)| {
            let cells = columns.iter().zip(row.iter());
            let cell = |(column, entry): (&String, &f64)| {
                text(&format!("{name} → {column}: {entry:.3}"))
            };
            cells.map(cell).collect()
        })
        .collect();
    cells(z, &told, 1)
}

/// Cells from 0 to 1 in the colours of shares, `gap` pixels apart, each with what is told
/// under the pointer.
pub(crate) fn cells(z: Vec<Vec<f64>>, told: &[Vec<String>], gap: usize) -> Value {
    let trace = HeatMap::new_z(z).show_scale(false).color_scale(palette::shares());
    with(
        to_value(trace),
        [
            ("zmin", json!(0)),
            ("zmax", json!(1)),
            ("xgap", json!(gap)),
            ("ygap", json!(gap)),
            ("hovertext", json!(told)),
            ("hovertemplate", json!("%{hovertext}<extra></extra>")),
        ],
    )
}
