//! Of the chapter on masks.

use std::process::ExitCode;

use attention::{HeadParameters, Matrix};

use super::{place, random};
use crate::{Case, Exercise, arrays};

/// A map under two masks at once: causal, and padding at the end.
pub mod masks {
    use super::*;

    /// Scaled scores, and how many of the keys are real.
    pub struct Input {
        scores: Matrix,
        n_valid: usize,
    }

    arrays!(Input: scores, n_valid);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("masks", cases, place::map);

    /// Checks what gives, from scaled `scores`, `[n_q, n_kv]`, the map `[n_q, n_kv]` under a
    /// causal mask and a padding mask that leaves the first `n_valid` keys.
    pub fn check(answer: fn(scores: &Matrix, n_valid: usize) -> Matrix) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.scores, input.n_valid))
    }

    /// Never more queries than keys: every query sees key 0, if that is real.
    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_q: usize, n_kv: usize, n_valid: usize, own: u64| Case {
            sizes: format!(
                "{n_q} queries, {n_kv} keys, the first {n_valid} of them real"
            ),
            square: n_q == n_kv,
            input: Input { scores: random::matrix(n_q, n_kv, seed + own), n_valid },
        };
        vec![
            case(4, 4, 2, 1),
            case(3, 6, 4, 2),
            case(5, 8, 6, 3),
            case(9, 9, 9, 4), // longer than a window, and the last query sees every key
            case(2, 5, 0, 5),
        ]
    }
}

/// A head whose queries come from one sequence, and keys and values from another.
pub mod cross_attention {
    use super::*;

    /// A head, the tokens that ask, and the tokens that are asked.
    pub struct Input {
        w: HeadParameters,
        x: Matrix,
        source: Matrix,
    }

    arrays!(Input: w, x, source);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("cross_attention", cases, place::token_feature);

    /// Checks what gives, from `x`, `[n_q, d_model]`, and `source`, `[n_kv, d_model]`, the
    /// head's output `[n_q, d_v]`.
    pub fn check(
        answer: fn(w: &HeadParameters, x: &Matrix, source: &Matrix) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.w, &input.x, &input.source))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_q: usize,
                    n_kv: usize,
                    [d_model, d_k, d_v]: [usize; 3],
                    own: u64| {
            let dims = random::dims(d_model, 1, d_k, d_v);
            Case {
                sizes: format!(
                    "{n_q} tokens of x, {n_kv} of source, d_model {d_model}, d_k {d_k}, \
                     d_v {d_v}"
                ),
                square: n_q == n_kv && d_k == d_v,
                input: Input {
                    w: random::layer(dims, seed + own).heads()[0].clone(),
                    x: random::matrix(n_q, d_model, seed + own + 1),
                    source: random::matrix(n_kv, d_model, seed + own + 2),
                },
            }
        };
        vec![case(4, 4, [6, 3, 3], 1), case(3, 5, [6, 4, 2], 4), case(6, 2, [8, 3, 5], 7)]
    }
}
