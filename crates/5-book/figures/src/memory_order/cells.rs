//! Which entry lies at which address, as panels of cells.

use crate::Table;
use crate::axis::Axis;
use crate::layout::rounded;
use crate::marks::{Mark, by_cell};
use crate::palette::{self, Stops};

/// Entry `[token, column]` of q and the address that it lies at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) token: usize,
    pub(super) column: usize,
    pub(super) address: usize,
}

pub(super) struct Projection {
    pub(super) n_tokens: usize,
    pub(super) n_heads: usize,
    pub(super) d_k: usize,
}

/// A matrix of cells, as a panel shows it.
pub(super) struct Cells {
    pub(super) heading: String,
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) row_labels: Vec<String>,
    pub(super) d_k: usize,
    /// Whether columns are heads' columns; where they are not, cells say what they hold.
    pub(super) by_head: bool,
}

impl Projection {
    pub(super) fn width(&self) -> usize {
        self.n_heads * self.d_k
    }

    pub(super) fn panels(&self) -> [Cells; 4] {
        let (n, width) = (self.n_tokens, self.width());
        let row_major = |token: usize, column: usize| Cell {
            token,
            column,
            address: token * width + column,
        };
        let column_major = |token: usize, column: usize| Cell {
            token,
            column,
            address: column * n + token,
        };
        // Element [0, row, column] of view(h, n, d_k) is at row · d_k + column.
        let viewed = |row: usize, column: usize| {
            let address = row * self.d_k + column;
            row_major(address / width, address % width)
        };
        let tokens = || (0..n).map(|token| format!("token {token}")).collect();
        let rows = || (0..n).map(|row| format!("row {row}")).collect();
        let cells = |heading: &str,
                     n_columns,
                     by_head,
                     labels,
                     at: &dyn Fn(usize, usize) -> Cell| {
            Cells {
                heading: heading.to_owned(),
                rows: (0..n)
                    .map(|row| (0..n_columns).map(|column| at(row, column)).collect())
                    .collect(),
                row_labels: labels,
                d_k: self.d_k,
                by_head,
            }
        };
        [
            cells("q, row-major (PyTorch)", width, true, tokens(), &row_major),
            cells("q, column-major (nalgebra)", width, true, tokens(), &column_major),
            cells("view without transpose: “head 0”", self.d_k, false, rows(), &viewed),
            cells(
                "columns of head 0, as it should be",
                self.d_k,
                false,
                rows(),
                &row_major,
            ),
        ]
    }

    pub(super) fn description(&self) -> String {
        let (n, h, d_k) = (self.n_tokens, self.n_heads, self.d_k);
        let [.., viewed, _] = self.panels();
        let foreign =
            viewed.rows.iter().flatten().filter(|cell| cell.column >= d_k).count();
        let tokens = viewed.rows.iter().flatten().map(|cell| cell.token).max();
        format!(
            "The addresses of a projection of {n} tokens and {h} heads of {d_k} columns. \
             Row-major, head 0 is {n} runs of {d_k} addresses, one a token; column-major it \
             is one run, from 0 to {}. A row-major view as ({h}, {n}, {d_k}) without the \
             transpose takes the first {} addresses for head 0: {foreign} of them belong to \
             other heads, and they reach only token {}.",
            n * d_k - 1,
            n * d_k,
            tokens.unwrap_or(0),
        )
    }
}

impl Cells {
    pub(super) fn head(&self, cell: &Cell) -> usize {
        cell.column / self.d_k
    }

    /// `7`, or `7: t1 h0`, which is token 1 of head 0.
    pub(super) fn label(&self, cell: &Cell) -> String {
        if self.by_head {
            return cell.address.to_string();
        }
        format!("{}: t{} h{}", cell.address, cell.token, self.head(cell))
    }

    pub(super) fn trace(&self, nth: usize, n_heads: usize) -> Mark {
        let description = |cell: &Cell| {
            let Cell { token, column, address } = cell;
            let head = self.head(cell);
            format!("address {address}<br>token {token}, column {column}<br>head {head}")
        };
        let shape = (self.rows.len(), self.rows[0].len());
        let at = |i: usize, j: usize| &self.rows[i][j];
        Mark::cells(by_cell(shape, |i, j| self.head(at(i, j))), 2)
            .on(nth)
            .scaled(steps(n_heads), [-0.5, n_heads as f64 - 0.5])
            .lettered(by_cell(shape, |i, j| self.label(at(i, j))))
            .text_size(12)
            .text_colour("#fff")
            .hover(by_cell(shape, |i, j| description(at(i, j))))
    }

    pub(super) fn x_axis(&self) -> Axis {
        let n_columns = self.rows[0].len();
        let n_blocks = if self.by_head { n_columns / self.d_k } else { 0 };
        let middle = |head: usize| rounded((head as f64 + 0.5) * self.d_k as f64 - 0.5);
        let names = (0..n_blocks).map(|head| format!("head {head}"));
        Axis::names(&[], 11)
            .range([-0.5, n_columns as f64 - 0.5])
            .at((0..n_blocks).map(middle), names)
    }

    pub(super) fn table(&self) -> Table {
        let cell = |i: usize, j: usize| {
            let cell = &self.rows[i][j];
            format!("{}: token {}, head {}", cell.address, cell.token, self.head(cell))
        };
        let n_columns = self.rows[0].len();
        let columns: Vec<String> =
            (0..n_columns).map(|column| format!("column {column}")).collect();
        let caption = format!("{}: addresses", self.heading);
        Table::grid(caption, "row", &self.row_labels, &columns, cell)
    }
}

/// One colour a head, without a transition.
fn steps(n_heads: usize) -> Stops {
    let step = |head: usize| {
        [head, head + 1]
            .map(|end| (rounded(end as f64 / n_heads as f64), palette::head(head)))
    };
    (0..n_heads).flat_map(step).collect()
}
