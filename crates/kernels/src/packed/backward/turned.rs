//! Parameters and tokens turned round, so that a tile's 48 rows are features.

use attention::{HeadParameters, LayerParameters, Linear, Matrix};

use super::strips::WIDTH;
use super::tokens::turned_ways;
use crate::packed::forward::Extent;
use crate::packed::memory::{Aligned, Scratch};
use crate::packed::panels::{Panels, n_groups, rows_of};
use crate::packed::units::{Order, Queue, share_out};
use crate::packed::weights::rows_per_head;
use crate::tile::ROWS;

/// The parameters as the backward pass reads them.
#[derive(Debug)]
pub(crate) struct Turned {
    /// `W_i^Oᵀ` of each head, for the gradient of its output.
    pub(crate) w_o: Vec<Panels>,
    /// `W^Qᵀ`, `W^Kᵀ` and `W^Vᵀ`, for the gradients of query, key and value.
    pub(crate) each: [Panels; 3],
    /// All three, one below the other, for that of tokens which are all three.
    pub(crate) all: Panels,
}

impl Turned {
    pub(crate) fn new(parameters: &LayerParameters<f32>) -> Self {
        let heads = parameters.heads();
        let w_o = |i| {
            let weight = parameters.w_o_of_head(i).transpose();
            Panels::new(&Linear { weight, bias: None }, 1.0)
        };
        let of_heads = |of: fn(&HeadParameters<f32>) -> &Linear<f32>| {
            heads.iter().map(of).collect::<Vec<_>>()
        };
        let ways = [
            of_heads(|head| &head.w_q),
            of_heads(|head| &head.w_k),
            of_heads(|head| &head.w_v),
        ];
        let one_width = ways.iter().all(|way| way[0].d_in() == ways[0][0].d_in());
        Self {
            w_o: (0..heads.len()).map(w_o).collect(),
            all: turned_ways(if one_width { &ways } else { &ways[..1] }),
            each: ways.map(|way| turned_ways(&[way])),
        }
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
    fn run(&self) {
        let (n_rows, n_columns) = self.columns.shape();
        while let Some((panel, [to])) = self.queue.take() {
            let columns = panel * W..((panel + 1) * W).min(n_columns);
            for group in 0..n_groups(n_rows) {
                let rows = rows_of(group, n_rows);
                let columns = columns.clone().map(|j| self.columns.part(j, group));
                let to = &mut to[rows.start * W..rows.end * W];
                turn::<W>(columns, to.as_chunks_mut().0);
            }
        }
    }
}

/// How many numbers these are when they are turned.
pub(crate) fn turned_len<const W: usize>((n_rows, n_columns): (usize, usize)) -> usize {
    n_rows * n_columns.next_multiple_of(W)
}

/// Turns all of these at once.
pub(crate) fn turn_all(
    scratches: &mut [Scratch],
    rows: &[Turning<'_, ROWS>],
    strips: &Turning<'_, WIDTH>,
) {
    share_out(scratches, &|_| {
        rows.iter().for_each(Turning::run);
        strips.run();
    });
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
pub(crate) fn turn<'a, const W: usize>(
    columns: impl Iterator<Item = &'a [f32]>,
    rows: &mut [[f32; W]],
) {
    let mut n_columns = 0;
    for column in columns {
        for (row, &x) in rows.iter_mut().zip(column) {
            row[n_columns] = x;
        }
        n_columns += 1;
    }
    for row in rows {
        row[n_columns..].fill(0.0);
    }
}
