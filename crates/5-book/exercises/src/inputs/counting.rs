//! Of the chapter on counting.

use std::process::ExitCode;

use attention::Dims;

use super::{place, random};
use crate::{Array, Arrays, Case, Exercise, arrays};

/// The sizes that an answer may ask for, each by its method's name.
impl Arrays for Dims {
    fn arrays(&self, name: &str) -> Vec<Array> {
        let sizes = [
            ("d_model", self.d_model()),
            ("n_heads", self.n_heads()),
            ("d_k", self.d_k()),
            ("d_v", self.d_v()),
        ];
        let arrays = |(size, n): (&str, usize)| n.arrays(&format!("{name}.{size}"));
        sizes.into_iter().flat_map(arrays).collect()
    }
}

/// The parameters of a layer, from its sizes.
pub mod count_parameters {
    use super::*;

    /// The sizes of a layer, and whether its projections have biases.
    pub struct Input {
        dims: Dims,
        bias: bool,
    }

    arrays!(Input: dims, bias);

    pub(crate) static EXERCISE: Exercise<Input, usize> =
        Exercise::new("count_parameters", cases, place::count);

    /// Checks what gives the number of parameters. Keys and values are projected from tokens of
    /// width d_model.
    pub fn check(answer: fn(dims: Dims, bias: bool) -> usize) -> ExitCode {
        EXERCISE.check(move |input| answer(input.dims, input.bias))
    }

    // Nothing in it is random.
    fn cases(_: u64) -> Vec<Case<Input>> {
        let case = |d_model: usize,
                    n_heads: usize,
                    d_k: usize,
                    d_v: usize,
                    bias: bool| {
            let biases = if bias { "with biases" } else { "no biases" };
            Case {
                sizes: format!(
                    "d_model {d_model}, {n_heads} heads, d_k {d_k}, d_v {d_v}, {biases}"
                ),
                square: d_k == d_v && n_heads * d_k == d_model,
                input: Input { dims: random::dims(d_model, n_heads, d_k, d_v), bias },
            }
        };
        vec![
            case(256, 8, 32, 32, true),
            case(512, 8, 64, 64, false),
            case(10, 4, 3, 7, true),
            case(12, 3, 5, 2, false),
        ]
    }
}

/// The multiply-adds of one pass, from the sizes.
pub mod count_multiply_adds {
    use super::*;

    /// The sizes of a layer, and the lengths that it is used with.
    pub struct Input {
        dims: Dims,
        n_q: usize,
        n_kv: usize,
    }

    arrays!(Input: dims, n_q, n_kv);

    pub(crate) static EXERCISE: Exercise<Input, usize> =
        Exercise::new("count_multiply_adds", cases, place::count);

    /// Checks what gives the multiply-adds of one pass of `n_q` queries over `n_kv` keys and
    /// values.
    pub fn check(answer: fn(dims: Dims, n_q: usize, n_kv: usize) -> usize) -> ExitCode {
        EXERCISE.check(move |input| answer(input.dims, input.n_q, input.n_kv))
    }

    // Nothing in it is random.
    fn cases(_: u64) -> Vec<Case<Input>> {
        let case = |[n_q, n_kv]: [usize; 2], [d_model, n_heads, d_k, d_v]: [usize; 4]| {
            Case {
                sizes: format!(
                    "{n_q} queries, {n_kv} keys, d_model {d_model}, {n_heads} heads, d_k {d_k}, \
                 d_v {d_v}"
                ),
                square: n_q == n_kv && d_k == d_v && n_heads * d_k == d_model,
                input: Input {
                    dims: random::dims(d_model, n_heads, d_k, d_v),
                    n_q,
                    n_kv,
                },
            }
        };
        vec![
            case([100, 100], [512, 8, 64, 64]),
            case([3, 7], [10, 4, 5, 2]),
            case([9, 2], [6, 3, 1, 4]),
        ]
    }
}
