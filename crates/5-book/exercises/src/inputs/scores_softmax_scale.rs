//! Of the chapter on scores, softmax and scale.

use std::process::ExitCode;

use attention::Matrix;

use super::{place, random};
use crate::{Case, Exercise, arrays};

/// One entry for each query and key: `Q Kᵀ`.
pub mod scores {
    use super::*;

    /// Queries and keys.
    pub struct Input {
        q: Matrix,
        k: Matrix,
    }

    arrays!(Input: q, k);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("scores", cases, place::map);

    /// Checks what gives the scores, `[n_q, n_kv]`, of `q`, `[n_q, d_k]`, and `k`,
    /// `[n_kv, d_k]`.
    pub fn check(answer: fn(q: &Matrix, k: &Matrix) -> Matrix) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.q, &input.k))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_q: usize, n_kv: usize, d_k: usize, own: u64| Case {
            sizes: format!("{n_q} queries, {n_kv} keys, d_k {d_k}"),
            square: n_q == n_kv && n_kv == d_k,
            input: Input {
                q: random::matrix(n_q, d_k, seed + own),
                k: random::matrix(n_kv, d_k, seed + own + 1),
            },
        };
        vec![case(3, 3, 3, 1), case(2, 5, 4, 3), case(6, 4, 2, 5)]
    }
}

/// From scores to attention weights, row by row.
pub mod softmax {
    use super::*;

    /// Scores of queries and keys.
    pub struct Input {
        scores: Matrix,
    }

    arrays!(Input: scores);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("softmax", cases, place::map);

    /// Checks what gives the attention weights of `scores`, `[n_q, n_kv]`.
    pub fn check(answer: fn(scores: &Matrix) -> Matrix) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.scores))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_q: usize, n_kv: usize, own: u64| Case {
            sizes: format!("{n_q} queries, {n_kv} keys"),
            square: n_q == n_kv,
            input: Input { scores: random::matrix(n_q, n_kv, seed + own) },
        };
        let mut far_apart = case(2, 3, 4);
        far_apart.sizes += ", scores near 1000 in row 0 and near −1000 in row 1";
        far_apart.input.scores.row_mut(0).add_scalar_mut(1000.0);
        far_apart.input.scores.row_mut(1).add_scalar_mut(-1000.0);
        // All below 0; then far apart within a row, with the largest first, between and last.
        let mut far_below = case(2, 4, 5);
        far_below.sizes += ", all scores near −1000";
        far_below.input.scores.add_scalar_mut(-1000.0);
        // Far apart, a map has one key to a query whatever it was made by. So the last rows
        // are ordinary: what is right here is right.
        let wide = [0.0, -500.0, -1000.0, -999.0, 1.0, -499.0];
        let ordinary = [0.5, -1.0, 1.5, -0.5, 1.0, 0.0];
        let note = "scores up to 1000 apart in rows 0 and 1";
        let wide = rows_of(3, &[wide, ordinary].concat(), note);
        let (low, high) = (-1000.0, 1000.0);
        let each_is_largest = [
            high, low, low, low, low, high, low, low, low, low, high, low, low, low, low,
            high, 0.5, -1.0, 1.5, -0.5,
        ];
        let widest = rows_of(4, &each_is_largest, "scores 2000 apart in rows 0 to 3");
        let plain = [case(3, 3, 1), case(2, 5, 2), case(5, 2, 3)];
        plain.into_iter().chain([far_apart, far_below, wide, widest]).collect()
    }

    fn rows_of(n_kv: usize, scores: &[f64], note: &str) -> Case<Input> {
        let n_q = scores.len() / n_kv;
        Case {
            sizes: format!("{n_q} queries, {n_kv} keys, {note}"),
            square: n_q == n_kv,
            input: Input { scores: Matrix::from_row_slice(n_q, n_kv, scores) },
        }
    }
}

/// The map of one head: `softmax(Q Kᵀ / √d_k)`.
pub mod scale {
    use super::*;

    /// Queries, keys, and the width of the tokens that they were projected from.
    pub struct Input {
        q: Matrix,
        k: Matrix,
        d_model: usize,
    }

    arrays!(Input: q, k, d_model);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("scale", cases, place::map);

    /// Checks what gives the map, `[n_q, n_kv]`, of `q`, `[n_q, d_k]`, and `k`, `[n_kv, d_k]`.
    /// The width of the model is handed over and not needed.
    pub fn check(
        answer: fn(q: &Matrix, k: &Matrix, d_model: usize) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.q, &input.k, input.d_model))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_q: usize, n_kv: usize, d_k: usize, d_model: usize, own: u64| Case {
            sizes: format!("{n_q} queries, {n_kv} keys, d_k {d_k}, d_model {d_model}"),
            square: n_q == n_kv,
            input: Input {
                q: random::matrix(n_q, d_k, seed + own),
                k: random::matrix(n_kv, d_k, seed + own + 1),
                d_model,
            },
        };
        vec![case(5, 5, 8, 24, 1), case(3, 6, 16, 48, 3), case(7, 2, 2, 12, 5)]
    }
}
