//! Tokens and parameters in the order in which the micro-kernel reads them.

use std::ops::Range;

use attention::{Linear, Matrix};

use crate::tile::{COLUMNS, ROWS};

/// The columns of a projection in panels of 8, row after row, with zeros behind the last.
#[derive(Debug, Clone)]
pub(crate) struct Panels {
    d_in: usize,
    /// `[panel][d_in][8]`.
    weight: Vec<f32>,
    /// `[panel][8]`.
    bias: Vec<f32>,
}

/// The least multiple of 8 that is not below `n`.
pub(crate) fn round_up(n: usize) -> usize {
    n.next_multiple_of(COLUMNS)
}

impl Panels {
    /// A projection, each number times `factor`.
    pub(crate) fn new(linear: &Linear<f32>, factor: f32) -> Self {
        let (d_in, d_out) = linear.weight.shape();
        let n_columns = round_up(d_out);
        let mut weight = vec![0.0; n_columns * d_in];
        for (j, column) in linear.weight.column_iter().enumerate() {
            let panel = &mut weight[j / COLUMNS * COLUMNS * d_in..][..COLUMNS * d_in];
            for (row, &w) in panel.chunks_exact_mut(COLUMNS).zip(&column) {
                row[j % COLUMNS] = w * factor;
            }
        }
        let mut bias = vec![0.0; n_columns];
        if let Some(given) = &linear.bias {
            for (to, from) in bias.iter_mut().zip(given.iter()) {
                *to = from * factor;
            }
        }
        Self { d_in, weight, bias }
    }

    /// The number of panels.
    pub(crate) fn n_panels(&self) -> usize {
        self.bias.len() / COLUMNS
    }

    /// Panel `i`: its rows, `[d_in][8]`, and its biases.
    pub(crate) fn panel(&self, i: usize) -> (&[f32], &[f32]) {
        let len = self.d_in * COLUMNS;
        (&self.weight[i * len..][..len], &self.bias[i * COLUMNS..][..COLUMNS])
    }

    /// The width of a token that goes in.
    pub(crate) fn d_in(&self) -> usize {
        self.d_in
    }
}

/// How many groups of 48 so many rows are.
pub(crate) fn n_groups(n_rows: usize) -> usize {
    n_rows.div_ceil(ROWS)
}

/// The rows of group `g` of so many.
pub(crate) fn rows_of(g: usize, n_rows: usize) -> Range<usize> {
    g * ROWS..((g + 1) * ROWS).min(n_rows)
}

/// The tokens of group `g` as a panel, `[width][48]`, zeros behind the last token.
pub(crate) fn pack_tokens(x: &Matrix<f32>, g: usize, panel: &mut [f32]) {
    let (n_rows, rows) = (x.nrows(), rows_of(g, x.nrows()));
    for (feature, lanes) in panel.chunks_exact_mut(ROWS).enumerate() {
        let from = &x.as_slice()[feature * n_rows..][rows.clone()];
        match <&[f32; ROWS]>::try_from(from) {
            Ok(whole) => lanes.copy_from_slice(whole),
            Err(_) => {
                lanes[..from.len()].copy_from_slice(from);
                lanes[from.len()..].fill(0.0);
            }
        }
    }
}
