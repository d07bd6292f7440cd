//! Back to the tokens: `d_x = dq · W^Qᵀ`, and what comes by the keys and values.

use attention::{Linear, Matrix};

use super::strips::{OfHeads, WIDTH};
use crate::Instructions;
use crate::packed::forward::merge;
use crate::packed::memory::{Aligned, Scratch};
use crate::packed::panels::{Panels, n_groups, round_up, rows_of};
use crate::packed::units::{Order, Queue, share_out};
use crate::tile::ROWS;

/// The weights of some ways back to the same tokens, turned and one below the other: all
/// ways are one product.
pub(crate) fn turned_ways(ways: &[Vec<&Linear<f32>>]) -> Panels {
    let linears = || ways.iter().flatten();
    let n_rows = linears().map(|linear| round_up(linear.d_out())).sum();
    let mut weight = Matrix::zeros(n_rows, ways[0][0].d_in());
    let mut row = 0;
    for linear in linears() {
        weight.rows_mut(row, linear.d_out()).copy_from(&linear.weight.transpose());
        row += round_up(linear.d_out());
    }
    Panels::new(&Linear { weight, bias: None }, 1.0)
}

/// The sum of some ways back, `[n_rows, d_in]`.
pub(crate) fn d_tokens(
    instructions: Instructions,
    scratches: &mut [Scratch],
    memory: &mut Aligned,
    ways: &[OfHeads<'_>],
    weights: &Panels,
    d_x: &mut Matrix<f32>,
) {
    let n_rows = d_x.nrows();
    let panels = memory.take(n_groups(n_rows) * weights.d_in() * ROWS);
    let queue = &Queue::new(n_groups(n_rows), Order::InTurn, [&mut *panels]);
    share_out(scratches, &|_| {
        while let Some((group, [panel])) = queue.take() {
            pack(ways, group, n_rows, panel);
        }
    });
    merge(instructions, scratches, panels, weights, d_x);
}

/// The gradients of a group's 48 tokens by all ways and heads, `[feature][48]`.
fn pack(ways: &[OfHeads<'_>], group: usize, n_rows: usize, panel: &mut [f32]) {
    let mut rest = panel;
    for way in ways {
        let features = way.strips.features;
        for head in 0..way.n_heads {
            let (of_head, behind) = rest.split_at_mut(round_up(features) * ROWS);
            of_head[features * ROWS..].fill(0.0);
            for (lane, row) in rows_of(group, n_rows).enumerate() {
                let (sequence, token) =
                    (row / way.strips.tokens, row % way.strips.tokens);
                for first in (0..features).step_by(WIDTH) {
                    let from = way.from(head, sequence, token, first);
                    let n = WIDTH.min(features - first);
                    for (i, &x) in from[..n].iter().enumerate() {
                        of_head[(first + i) * ROWS + lane] = x;
                    }
                }
            }
            rest = behind;
        }
    }
}
