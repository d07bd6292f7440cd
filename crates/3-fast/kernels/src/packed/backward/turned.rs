//! Parameters and tokens turned round, so that a tile's 48 rows are features.

use attention::{HeadParameters, LayerParameters, Linear, Matrix};
use pulp::{Simd, WithSimd};
use tiles::memory::Aligned;
use tiles::panels::{Panels, n_groups, rows_of, rows_per_head};
use tiles::queue::{Order, Queue};
use tiles::tile::{ROWS, WIDTH, square, turn_8};

use crate::packed::forward::Extent;

/// The parameters as the backward pass reads them.
#[derive(Debug)]
pub(crate) struct Turned {
    /// `W_i^Oᵀ` of each head, for the gradient of its output.
    pub(crate) w_o: Vec<Panels>,
    /// `W^Qᵀ`, `W^Kᵀ` and `W^Vᵀ`, for the gradients of query, key and value. Where those are
    /// the same tokens, the three are stacked, and are one.
    pub(crate) ways: Vec<Panels>,
}

impl Turned {
    pub(crate) fn new(
        parameters: &LayerParameters<f32>,
        is_self_attention: bool,
    ) -> Self {
        let (heads, d_v) = (parameters.heads(), parameters.dims().d_v());
        let of_heads = |of: fn(&HeadParameters<f32>) -> &Linear<f32>| {
            let weights = heads.iter().map(|head| &of(head).weight);
            weights.map(|weight| (weight, 0..weight.nrows())).collect::<Vec<_>>()
        };
        let ways = [
            of_heads(|head| &head.w_q),
            of_heads(|head| &head.w_k),
            of_heads(|head| &head.w_v),
        ];
        let ways = if is_self_attention { vec![ways.concat()] } else { ways.to_vec() };
        let w_o =
            |i| Panels::turned(&[(&parameters.w_o().weight, i * d_v..(i + 1) * d_v)]);
        Self {
            w_o: (0..heads.len()).map(w_o).collect(),
            ways: ways.iter().map(|way| Panels::turned(way)).collect(),
        }
    }

    /// Whether these are for tokens that are query, key and value.
    pub(crate) fn is_self_attention(&self) -> bool {
        self.ways.len() == 1
    }
}

/// Columns that become rows of W: `[columns / W][row][W]`, zeros behind the last column.
pub(crate) struct Turning<'a, const W: usize> {
    columns: Columns<'a>,
    queue: Queue<'a, 1>,
}

impl<'a, const W: usize> Turning<'a, W> {
    pub(crate) fn new(columns: Columns<'a>, memory: &'a mut Aligned) -> Self {
        let n_panels = columns.shape().1.div_ceil(W);
        let to = memory.take(turned_len::<W>(columns.shape()));
        Self { columns, queue: Queue::new(n_panels, Order::InTurn, [to]) }
    }

    /// Turns what no other thread has turned.
    #[inline(always)]
    pub(crate) fn run<S: Simd>(&self, simd: S) {
        let (n_rows, n_columns) = self.columns.shape();
        while let Some((panel, [to])) = self.queue.take() {
            let columns = panel * W..((panel + 1) * W).min(n_columns);
            for group in 0..n_groups(n_rows) {
                let rows = rows_of(group, n_rows);
                let to = &mut to[rows.start * W..rows.end * W];
                let column = |j| self.columns.part(columns.start + j, group);
                turn::<S, W>(simd, columns.len(), column, to.as_chunks_mut().0);
            }
        }
    }
}

/// Some columns for rows of 48, and some for strips.
pub(crate) struct TurnAll<'a> {
    pub(crate) rows: &'a [Turning<'a, ROWS>],
    pub(crate) strips: &'a Turning<'a, WIDTH>,
}

impl WithSimd for TurnAll<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for rows in self.rows {
            rows.run(simd);
        }
        self.strips.run(simd);
    }
}

/// How many numbers these are when they are turned.
pub(crate) fn turned_len<const W: usize>((n_rows, n_columns): (usize, usize)) -> usize {
    n_rows * n_columns.next_multiple_of(W)
}

/// What there is to turn.
#[derive(Clone, Copy)]
pub(crate) enum Columns<'a> {
    Matrix(&'a Matrix<f32>),
    /// The heads' outputs side by side, `[group][head][rows of a head][48]`.
    Concat(&'a [f32], Extent),
}

impl<'a> Columns<'a> {
    fn shape(&self) -> (usize, usize) {
        match self {
            Self::Matrix(x) => x.shape(),
            Self::Concat(_, extent) => {
                (extent.n_queries(), extent.dims.n_heads() * extent.dims.d_v())
            }
        }
    }

    /// The rows of column j that are a group's.
    fn part(&self, j: usize, group: usize) -> &'a [f32] {
        let rows = rows_of(group, self.shape().0);
        match self {
            Self::Matrix(x) => &x.as_slice()[j * x.nrows()..][rows],
            Self::Concat(concat, Extent { dims, .. }) => {
                let (head, feature) = (j / dims.d_v(), j % dims.d_v());
                let panel = (group * dims.n_heads() + head) * rows_per_head(*dims);
                &concat[(panel + feature) * ROWS..][..rows.len()]
            }
        }
    }
}

/// Up to W columns as rows of W, zeros behind the last.
#[inline(always)]
pub(crate) fn turn<'a, S: Simd, const W: usize>(
    simd: S,
    n_columns: usize,
    column: impl Fn(usize) -> &'a [f32],
    rows: &mut [[f32; W]],
) {
    let n_rows = rows.len();
    for first in (0..W).step_by(WIDTH) {
        let mut columns: [&[f32]; WIDTH] = [&[0.0; ROWS][..n_rows]; WIDTH];
        for (j, from) in columns.iter_mut().enumerate().take(n_columns.max(first) - first)
        {
            *from = column(first + j);
        }
        let (squares, rest) = rows.as_chunks_mut::<WIDTH>();
        for (n, rows) in squares.iter_mut().enumerate() {
            let turned = turn_8(simd, &square(&columns, n * WIDTH));
            for i in 0..WIDTH {
                rows[i][first..first + WIDTH].copy_from_slice(&turned[i]);
            }
        }
        let first_row = n_rows - rest.len();
        for (i, row) in rest.iter_mut().enumerate() {
            for j in 0..WIDTH {
                row[first + j] = columns[j][first_row + i];
            }
        }
    }
}
