//! The way round for numbers that are not finite.
//!
//! A share of exactly 0 leaves its value out, so that a NaN in a token that nobody may
//! attend to stays there. A product of tiles cannot leave anything out. So where an output
//! is not finite it is computed again here, by the definition.

use attention::{Matrix, softmax_rows, weighted_values};

use crate::blocks::{Keys, Part};
use crate::tile::ROWS;

#[cfg(test)]
thread_local! {
    /// How often this thread went this way.
    pub(crate) static TIMES_TAKEN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The outputs of one sequence's lanes, `out[feature][lane]`, from their queries.
#[cold]
pub(crate) fn outputs(q: &[f32], part: &Part, keys: &Keys<'_>, out: &mut [f32]) {
    #[cfg(test)]
    TIMES_TAKEN.set(TIMES_TAKEN.get() + 1);
    let attn = softmax_rows(scores(q, part, keys)); // [queries, n_kv]
    let heads = weighted_values(&attn, values(part, keys).as_view()); // [queries, d_v]
    // W^O has zeros for the features that fill up a tile, and 0 · NaN is NaN.
    out.fill(0.0);
    for (feature, column) in heads.column_iter().enumerate() {
        for (lane, &x) in part.lanes.clone().zip(&column) {
            out[feature * ROWS + lane] = x;
        }
    }
}

/// The masked scores of these queries, `[queries, n_kv]`.
pub(crate) fn scores(q: &[f32], part: &Part, keys: &Keys<'_>) -> Matrix<f32> {
    let n_kv = keys.lengths.n_kv;
    let rows: Vec<_> = part.tokens.clone().map(|i| keys.added(i)).collect();
    Matrix::from_fn(part.lanes.len(), n_kv, |i, j| {
        let Some(added) = rows[i][j] else { return f32::NEG_INFINITY };
        let row = part.sequence * n_kv + j;
        let k = keys.k_panel(row / ROWS);
        let products = (0..keys.dims.d_k()).map(|feature| {
            q[feature * ROWS + part.lanes.start + i] * k[feature * ROWS + row % ROWS]
        });
        products.sum::<f32>() * std::f32::consts::LN_2 + added as f32
    })
}

/// The values of a sequence, `[n_kv, d_v]`.
fn values(part: &Part, keys: &Keys<'_>) -> Matrix<f32> {
    let n_kv = keys.lengths.n_kv;
    Matrix::from_fn(n_kv, keys.dims.d_v(), |j, feature| {
        let row = part.sequence * n_kv + j;
        keys.v_panel(row / ROWS)[feature * ROWS + row % ROWS]
    })
}
