//! Tokens and parameters in the order in which the micro-kernel reads them.

use std::ops::Range;

use attention::{Dims, Linear, Matrix};
use rayon::prelude::*;

use crate::tile::{COLUMNS, ROWS};

/// The columns of a projection in panels of 8, row after row, with zeros behind the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Panels {
    d_in: usize,
    /// `[panel][d_in][8]`.
    weight: Vec<f32>,
    /// `[panel][8]`.
    bias: Vec<f32>,
}

/// The least multiple of 8 that is not below `n`.
#[inline]
pub fn round_up(n: usize) -> usize {
    n.next_multiple_of(COLUMNS)
}

impl Panels {
    /// A projection, each number times `factor`.
    pub fn new(linear: &Linear<f32>, factor: f32) -> Self {
        let (d_in, d_out) = linear.weight.shape();
        let mut weight = vec![0f32; round_up(d_out) * d_in];
        weight.par_chunks_mut((COLUMNS * d_in).max(1)).enumerate().for_each(
            |(i, panel)| {
                let first = i * COLUMNS;
                let columns = linear.weight.columns(first, COLUMNS.min(d_out - first));
                for (j, column) in columns.column_iter().enumerate() {
                    for (row, &w) in panel.chunks_exact_mut(COLUMNS).zip(&column) {
                        row[j] = w * factor;
                    }
                }
            },
        );
        let mut bias = vec![0.0; round_up(d_out)];
        if let Some(given) = &linear.bias {
            for (to, from) in bias.iter_mut().zip(given.iter()) {
                *to = from * factor;
            }
        }
        Self { d_in, weight, bias }
    }

    /// A weight that is stored as `[d_out, d_in]`: `read` writes row `j` of it.
    pub fn from_rows(
        d_in: usize,
        d_out: usize,
        read: impl Fn(usize, &mut [f32]) + Sync,
    ) -> Self {
        let mut weight = vec![0f32; round_up(d_out) * d_in];
        weight.par_chunks_mut((COLUMNS * d_in).max(1)).enumerate().for_each_init(
            || vec![0f32; d_in],
            |numbers, (i, panel)| {
                let first = i * COLUMNS;
                for j in 0..COLUMNS.min(d_out - first) {
                    read(first + j, numbers);
                    for (row, &w) in panel.chunks_exact_mut(COLUMNS).zip(&*numbers) {
                        row[j] = w;
                    }
                }
            },
        );
        Self { d_in, weight, bias: vec![0.0; round_up(d_out)] }
    }

    /// Some rows of each of these matrices, transposed and stacked: a way
    /// back, from the gradients of what came out to that of what went in. There are as many
    /// rows of each.
    ///
    /// # Panics
    /// If a matrix does not have these rows.
    pub fn turned(matrices: &[(&Matrix<f32>, Range<usize>)]) -> Self {
        let d_out = matrices.first().map_or(0, |(_, rows)| rows.len());
        let d_in: usize =
            matrices.iter().map(|(matrix, _)| round_up(matrix.ncols())).sum();
        let mut weight = vec![0f32; round_up(d_out) * d_in];
        weight.par_chunks_mut((COLUMNS * d_in).max(1)).enumerate().for_each(
            |(i, panel)| {
                let columns = i * COLUMNS..d_out.min((i + 1) * COLUMNS);
                let mut to = panel.chunks_exact_mut(COLUMNS);
                for (matrix, rows) in matrices {
                    let here = rows.start + columns.start..rows.start + columns.end;
                    for column in matrix.as_slice().chunks_exact(matrix.nrows()) {
                        let row = to.next().expect("a panel has room for each");
                        row[..columns.len()].copy_from_slice(&column[here.clone()]);
                    }
                    let n_more = round_up(matrix.ncols()) - matrix.ncols();
                    to.by_ref().take(n_more).for_each(drop);
                }
            },
        );
        Self { d_in, weight, bias: vec![0.0; round_up(d_out)] }
    }

    /// The number of panels.
    #[inline]
    pub fn n_panels(&self) -> usize {
        self.bias.len() / COLUMNS
    }

    /// Panel `i`: its rows, `[d_in][8]`, and its biases.
    #[inline]
    pub fn panel(&self, i: usize) -> (&[f32], &[f32]) {
        let len = self.d_in * COLUMNS;
        (&self.weight[i * len..][..len], &self.bias[i * COLUMNS..][..COLUMNS])
    }

    /// The bytes of all weights and biases.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.weight) + size_of_val(&*self.bias)
    }

    /// The width of a token that goes in.
    #[inline]
    pub fn d_in(&self) -> usize {
        self.d_in
    }
}

/// The rows of one head in a group's panel. A head's queries stand there first, `d_k`
/// rows, and then its output, `d_v` rows: it is as high as the higher of the two.
#[inline]
pub fn rows_per_head(dims: Dims) -> usize {
    round_up(dims.d_k()).max(round_up(dims.d_v()))
}

/// The panels of one head, `[features][48]` each, as many rows as [`round_up`] says.
#[derive(Clone, Copy)]
pub struct HeadPanels<'a> {
    numbers: &'a [f32],
    len: usize,
    /// From one panel of this head to the next.
    stride: usize,
}

impl<'a> HeadPanels<'a> {
    /// The keys and the values of head `head`, of `[group][head][features][48]` each.
    #[inline]
    pub fn of_layer(dims: Dims, head: usize, k_and_v: [&'a [f32]; 2]) -> [Self; 2] {
        let [k, v] = k_and_v;
        [(k, dims.d_k()), (v, dims.d_v())].map(|(all, features)| {
            let len = round_up(features) * ROWS;
            Self { numbers: &all[head * len..], len, stride: dims.n_heads() * len }
        })
    }

    /// A head that has its panels for itself, `[group][features][48]`.
    #[inline]
    pub fn alone(numbers: &'a [f32], features: usize) -> Self {
        let len = round_up(features) * ROWS;
        Self { numbers, len, stride: len }
    }

    /// That of group `p`.
    #[inline]
    pub(crate) fn panel(self, p: usize) -> &'a [f32] {
        &self.numbers[p * self.stride..][..self.len]
    }
}

/// How many groups of 48 so many rows are.
#[inline]
pub fn n_groups(n_rows: usize) -> usize {
    n_rows.div_ceil(ROWS)
}

/// The groups that sequence `s` has tokens of.
#[inline]
pub fn groups_of(s: usize, n_tokens: usize) -> Range<usize> {
    s * n_tokens / ROWS..n_groups((s + 1) * n_tokens)
}

/// The rows of group `g` of so many.
#[inline]
pub fn rows_of(g: usize, n_rows: usize) -> Range<usize> {
    g * ROWS..((g + 1) * ROWS).min(n_rows)
}

/// The tokens of group `g` as a panel, `[width][48]`, zeros behind the last token.
#[inline]
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
