//! Parameters and tokens turned round, so that a tile's 48 rows are features.

use attention::{LayerParameters, Linear, Matrix};

use crate::packed::memory::{Aligned, Scratch};
use crate::packed::panels::Panels;
use crate::packed::units::{Order, Queue, share_out};
use crate::tile::ROWS;

/// The parameters as the way back reads them.
#[derive(Debug)]
pub(crate) struct Turned {
    /// `W_i^Oᵀ` of each head, for the gradient of its output.
    pub(crate) w_o: Vec<Panels>,
    pub(crate) w_q: TurnedHeads,
    pub(crate) w_k: TurnedHeads,
    pub(crate) w_v: TurnedHeads,
}

/// A weight of every head, `[head][d_in / 48][feature][48]`.
#[derive(Debug)]
pub(crate) struct TurnedHeads {
    data: Vec<f32>,
    d_in: usize,
    features: usize,
}

impl Turned {
    pub(crate) fn new(parameters: &LayerParameters<f32>) -> Self {
        let heads = parameters.heads();
        let w_o = |i| {
            let weight = parameters.w_o_of_head(i).transpose();
            Panels::new(&Linear { weight, bias: None }, 1.0)
        };
        Self {
            w_o: (0..heads.len()).map(w_o).collect(),
            w_q: TurnedHeads::new(heads.iter().map(|head| &head.w_q)),
            w_k: TurnedHeads::new(heads.iter().map(|head| &head.w_k)),
            w_v: TurnedHeads::new(heads.iter().map(|head| &head.w_v)),
        }
    }
}

impl TurnedHeads {
    fn new<'a>(heads: impl Iterator<Item = &'a Linear<f32>> + Clone) -> Self {
        let first = heads.clone().next().expect("a layer has heads");
        let (d_in, features) = first.weight.shape();
        let mut data = Vec::new();
        for head in heads {
            for panel in 0..d_in.div_ceil(ROWS) {
                for feature in head.weight.column_iter() {
                    let rows = panel * ROWS..((panel + 1) * ROWS).min(d_in);
                    data.extend(feature.rows(rows.start, rows.len()).iter());
                    data.extend(std::iter::repeat_n(0.0, ROWS - rows.len()));
                }
            }
        }
        Self { data, d_in, features }
    }

    /// From a feature on, `[features …][48]`.
    pub(crate) fn from(&self, head: usize, panel: usize, feature: usize) -> &[f32] {
        let panel = head * self.d_in.div_ceil(ROWS) + panel;
        &self.data[(panel * self.features + feature) * ROWS..]
    }

    pub(crate) fn features(&self) -> usize {
        self.features
    }
}

/// Tokens with their features side by side, `[features / 48][row][48]`.
pub(crate) fn turn_tokens<'a>(
    scratches: &mut [Scratch],
    x: &Matrix<f32>,
    memory: &'a mut Aligned,
) -> &'a [f32] {
    let (n_rows, width) = x.shape();
    let n_panels = width.div_ceil(ROWS);
    let len = n_panels * n_rows * ROWS;
    let queue = &Queue::new(n_panels, Order::InTurn, [memory.take(len)]);
    share_out(scratches, &|_| {
        while let Some((panel, [rows])) = queue.take() {
            let features = panel * ROWS..((panel + 1) * ROWS).min(width);
            let columns = &x.as_slice()[features.start * n_rows..features.end * n_rows];
            turn(columns, n_rows, rows);
        }
    });
    memory.get(len)
}

/// Up to 48 columns of a matrix as rows of 48, zeros behind the last.
pub(crate) fn turn(columns: &[f32], n_rows: usize, rows: &mut [f32]) {
    let n_columns = columns.len() / n_rows;
    for (i, row) in rows.chunks_exact_mut(ROWS).enumerate() {
        for (j, x) in row[..n_columns].iter_mut().enumerate() {
            *x = columns[j * n_rows + i];
        }
        row[n_columns..].fill(0.0);
    }
}
