//! Of the chapter on one head.

use std::process::ExitCode;

use attention::{HeadParameters, Matrix};

use super::{place, random};
use crate::{Case, Exercise, arrays};

/// One head without its projections: `softmax(Q Kᵀ / √d_k) V`.
pub mod head_in_loops {
    use super::*;

    /// Queries, keys and values.
    pub struct Input {
        q: Matrix,
        k: Matrix,
        v: Matrix,
    }

    arrays!(Input: q, k, v);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("head_in_loops", cases, place::token_feature);

    /// Checks what gives the output of a head, `[n_q, d_v]`, of `q`, `[n_q, d_k]`, `k`,
    /// `[n_kv, d_k]`, and `v`, `[n_kv, d_v]`.
    pub fn check(answer: fn(q: &Matrix, k: &Matrix, v: &Matrix) -> Matrix) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.q, &input.k, &input.v))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_q: usize, n_kv: usize, d_k: usize, d_v: usize, own: u64| Case {
            sizes: format!("{n_q} queries, {n_kv} keys, d_k {d_k}, d_v {d_v}"),
            square: n_q == n_kv && d_k == d_v,
            input: Input {
                q: random::matrix(n_q, d_k, seed + own),
                k: random::matrix(n_kv, d_k, seed + own + 1),
                v: random::matrix(n_kv, d_v, seed + own + 2),
            },
        };
        let mut large = case(3, 4, 4, 2, 10);
        large.sizes += ", scores of hundreds, below −800 for query 1";
        for (j, feature) in [30.0, 40.0, 55.0, 70.0].into_iter().enumerate() {
            large.input.k[(j, 0)] = feature;
        }
        (large.input.q[(0, 0)], large.input.q[(1, 0)]) = (60.0, -60.0);
        let mut low = case(2, 3, 2, 3, 13);
        low.sizes += ", one score of query 0 near −900";
        (low.input.q[(0, 0)], low.input.k[(1, 0)]) = (-30.0, 42.0);
        vec![case(3, 3, 3, 3, 1), case(2, 5, 3, 4, 4), case(5, 3, 4, 2, 7), large, low]
    }
}

/// One whole head, from tokens to its output.
pub mod head_in_matrices {
    use super::*;

    /// A head, and the tokens that it is given in three roles.
    pub struct Input {
        head: HeadParameters,
        query: Matrix,
        key: Matrix,
        value: Matrix,
    }

    arrays!(Input: head, query, key, value);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("head_in_matrices", cases, place::token_feature);

    /// What the reader writes: from `query`, `[n_q, d_model]`, `key`, `[n_kv, key_width]`,
    /// and `value`, `[n_kv, value_width]`, the output of the head, `[n_q, d_v]`.
    pub type Head =
        fn(head: &HeadParameters, query: &Matrix, key: &Matrix, value: &Matrix) -> Matrix;

    /// Checks an answer.
    pub fn check(answer: Head) -> ExitCode {
        EXERCISE.check(move |Input { head, query, key, value }| {
            answer(head, query, key, value)
        })
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        // First one sequence that attends to itself, then three that differ and have one
        // length, then other lengths, then other widths.
        let tokens = random::matrix(4, 4, seed + 1);
        let [query, key, value] = [tokens.clone(), tokens.clone(), tokens];
        let itself = Case {
            sizes: "4 tokens in all three roles, d_model 4, d_k 4, d_v 4".into(),
            square: true,
            input: Input { head: head([4, 4, 4], 4, 4, seed + 2), query, key, value },
        };
        // Sizes above 5: nalgebra multiplies smaller ones in another way, which does not say
        // what does not fit.
        let of_one_width = |n_q: usize, n_kv: usize, d_v: usize| Case {
            sizes: format!("{n_q} queries, {n_kv} keys, d_model 8, d_k 6, d_v {d_v}"),
            square: false,
            input: Input {
                head: head([8, 8, 8], 6, d_v, seed + 3),
                query: random::matrix(n_q, 8, seed + 4),
                key: random::matrix(n_kv, 8, seed + 5),
                value: random::matrix(n_kv, 8, seed + 6),
            },
        };
        let three_widths = Case {
            sizes: "2 queries 4 wide, 6 keys 5 wide, 6 values 7 wide, d_k 2, d_v 3"
                .into(),
            square: false,
            input: Input {
                head: head([4, 5, 7], 2, 3, seed + 7),
                query: random::matrix(2, 4, seed + 8),
                key: random::matrix(6, 5, seed + 9),
                value: random::matrix(6, 7, seed + 10),
            },
        };
        vec![itself, of_one_width(7, 7, 6), of_one_width(9, 7, 10), three_widths]
    }

    /// A head of random parameters for query, key and value tokens of these widths.
    fn head(widths: [usize; 3], d_k: usize, d_v: usize, seed: u64) -> HeadParameters {
        let [d_model, key_width, value_width] = widths;
        let dims = random::dims(d_model, 1, d_k, d_v)
            .with_source_widths(key_width, value_width)
            .expect("no width is 0");
        random::layer(dims, seed).heads()[0].clone()
    }
}
