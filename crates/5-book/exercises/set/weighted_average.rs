//! The output of one query.
//!
//! A query has split its attention: each value has an attention weight, and together the
//! weights are 1. The output is the weighted average of the values:
//! `out = Σ_j a_j v_j`.
//!
//! A row of `values` is one value, v_j. `values.nrows()` and `values.ncols()` are the
//! sizes, `values[(j, c)]` is number c of value j, `values.row(j)` all of value j. With
//! weights of 0.8 and 0.2, the values (1, 0, 0) and (0, 0, 1) give (0.8, 0, 0.2).

use std::process::ExitCode;

use exercises::{Matrix, weighted_average};

/// The weighted average of the values.
///
/// # Shapes
/// `weights` has n_kv entries, `values` is `[n_kv, d_v]`, the result has d_v entries.
// ANCHOR: answer
pub fn weighted_average(weights: &[f64], values: &Matrix) -> Vec<f64> {
    // YOURS: one average for each of the d_v numbers of a value.
    let mut out = vec![0.0; values.ncols()];
    for (weight, value) in weights.iter().zip(values.row_iter()) {
        for (sum, x) in out.iter_mut().zip(&value) {
            *sum += weight * x;
        }
    }
    out
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    weighted_average::check(weighted_average)
}
