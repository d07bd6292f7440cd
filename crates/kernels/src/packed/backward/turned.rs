//! Parameters and tokens turned round, so that a tile's 48 rows are features.

use attention::{HeadParameters, LayerParameters, Linear, Matrix};

use super::tokens::turned_ways;
use crate::packed::memory::{Aligned, Scratch};
use crate::packed::panels::Panels;
use crate::packed::units::{Order, Queue, share_out};
use crate::tile::ROWS;

/// The parameters as the way back reads them.
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
