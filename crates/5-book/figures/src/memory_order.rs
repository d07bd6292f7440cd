//! In which order memory holds a fused projection, and what a view takes from it.

mod cells;

use crate::axis::Axis;
use crate::chart::Chart;
use crate::panels::Panel;
use crate::{Error, Figure, Result};
use cells::{Cell, Cells, Projection};

/// Larger matrices have cells too small for their numbers.
const MOST: [(&str, usize); 3] = [("tokens", 8), ("heads", 4), ("columns", 12)];

/// The addresses of a projection q, `[n_tokens, n_heads · d_k]`, row-major and
/// column-major, coloured by head; and what a plain row-major `view(h, n, d_k)`, without
/// the transpose, takes for head 0, beside what it should take.
///
/// # Errors
/// [`Error::Sizes`] if a size is 0; [`Error::TooMany`] above 8 tokens, 4 heads or 12
/// columns.
pub fn memory_order(
    title: impl Into<String>,
    n_tokens: usize,
    n_heads: usize,
    d_k: usize,
) -> Result<Figure> {
    attention::Error::expect_positive("n_tokens", n_tokens)?;
    attention::Error::expect_positive("n_heads", n_heads)?;
    attention::Error::expect_positive("d_k", d_k)?;
    let sizes = [n_tokens, n_heads, n_heads * d_k];
    for ((what, most), size) in MOST.into_iter().zip(sizes) {
        Error::expect_at_most(what, size, most)?;
    }
    let q = Projection { n_tokens, n_heads, d_k };
    let panels = q.panels();
    let panel = |cells: &Cells| {
        let y = Axis::down(&cells.row_labels, 11);
        let height = cells.rows.len() as f64 * 30.0;
        Panel::new(cells.heading.clone(), cells.x_axis(), y, height)
    };
    let traces = panels.iter().enumerate();
    Chart::new(title)
        .panels(panels.iter().map(panel))
        .marks(traces.map(|(nth, cells)| cells.trace(nth, n_heads)))
        .columns(2)
        .left(52.0)
        .below(22.0)
        .says(q.description())
        .sketch(sketched(&panels))
        .tables(panels.iter().map(Cells::table))
        .figure()
}

fn sketched(panels: &[Cells; 4]) -> String {
    let panel = |cells: &Cells| {
        let label = |cell: &Cell| {
            let (address, head) = (cell.address, cells.head(cell));
            match cells.by_head {
                true => format!("{address:>4}"),
                false => format!("{address:>4}: t{} h{head}", cell.token),
            }
        };
        let row = |(name, row): (&String, &Vec<Cell>)| {
            let blocks = row.chunks(cells.d_k).map(|block| {
                let cells = block.iter().map(label).collect::<String>();
                format!(" │{cells}")
            });
            format!("  {name}{} │", blocks.collect::<String>())
        };
        let rows: Vec<_> = cells.row_labels.iter().zip(&cells.rows).map(row).collect();
        format!("{}\n{}", cells.heading, rows.join("\n"))
    };
    panels.iter().map(panel).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    #[test]
    fn four_tokens_and_two_heads_of_three() {
        let title = "Column-major, a head is one run of memory; row-major, one a token";
        assert_figure!(memory_order(title, 4, 2, 3).unwrap());
    }

    #[test]
    fn orders_are_those_of_nalgebra_and_of_a_view() {
        let q = Projection { n_tokens: 3, n_heads: 2, d_k: 2 };
        let [row_major, column_major, viewed, _] = q.panels();
        let matrix = attention::Matrix::from_fn(3, 4, |i, j| (10 * i + j) as f64);
        for cell in column_major.rows.iter().flatten() {
            let entry = (10 * cell.token + cell.column) as f64;
            assert_eq!(matrix.as_slice()[cell.address], entry);
        }
        let turned = matrix.transpose(); // its columns are rows: row-major memory
        for cell in row_major.rows.iter().chain(&viewed.rows).flatten() {
            let entry = (10 * cell.token + cell.column) as f64;
            assert_eq!(turned.as_slice()[cell.address], entry);
        }
        let taken: Vec<_> = viewed.rows.iter().flatten().map(|c| c.address).collect();
        assert_eq!(taken, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn sizes_that_cannot_be_read_are_refused() {
        insta::assert_snapshot!(memory_order("", 4, 0, 3).unwrap_err(), @"n_heads is 0, and must be at least 1");
        insta::assert_snapshot!(memory_order("", 4, 2, 7).unwrap_err(), @"14 columns are too many for one figure: draw at most 12");
    }
}
