//! Of the chapter on why one look is not enough.

use std::process::ExitCode;

use attention::{Mask, Matrix};

use super::{place, random};
use crate::{Case, Exercise, arrays};

/// The output of one query: `Σ_j a_j v_j`.
pub mod weighted_average {
    use super::*;

    /// The attention weights of one query, and the values that it averages.
    pub struct Input {
        weights: Vec<f64>,
        values: Matrix,
    }

    arrays!(Input: weights, values);

    pub(crate) static EXERCISE: Exercise<Input, Vec<f64>> =
        Exercise::new("weighted_average", cases, place::feature);

    /// Checks what gives the output of one query, d_v numbers, from its attention weights,
    /// one a value, and `values`, `[n_kv, d_v]`.
    pub fn check(answer: fn(weights: &[f64], values: &Matrix) -> Vec<f64>) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.weights, &input.values))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_kv: usize, d_v: usize, own: u64| Case {
            sizes: format!("{n_kv} values of {d_v} numbers"),
            square: n_kv == d_v,
            input: Input {
                weights: random::map(1, n_kv, &Mask::None, seed + own)
                    .as_slice()
                    .to_vec(),
                values: random::matrix(n_kv, d_v, seed + own + 1),
            },
        };
        vec![case(3, 3, 1), case(2, 4, 3), case(5, 2, 5)]
    }
}
