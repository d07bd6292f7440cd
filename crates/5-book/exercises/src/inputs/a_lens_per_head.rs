//! Of the chapter on a lens per head.

use std::process::ExitCode;

use attention::{HeadParameters, Linear, Matrix};

use super::{place, random};
use crate::{Case, Exercise, Place, arrays};

/// The queries of every head, each in a subspace of its own.
pub mod subspaces {
    use super::*;

    /// Heads, and the tokens that they project.
    pub struct Input {
        heads: Vec<HeadParameters>,
        x: Matrix,
    }

    arrays!(Input: heads, x);

    pub(crate) static EXERCISE: Exercise<Input, Vec<Matrix>> =
        Exercise::new("subspaces", cases, place::head_token_feature);

    /// Checks what gives one `[n_tokens, d_k]` a head of `x`, `[n_tokens, d_model]`, and
    /// heads whose W^Q is `[d_model, d_k]`.
    pub fn check(
        answer: fn(heads: &[HeadParameters], x: &Matrix) -> Vec<Matrix>,
    ) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.heads, &input.x))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_tokens: usize, d_model: usize, n_heads: usize, d_k: usize, own| {
            let dims = random::dims(d_model, n_heads, d_k, d_k);
            Case {
                sizes: format!(
                    "{n_tokens} tokens, d_model {d_model}, {n_heads} heads, d_k {d_k}"
                ),
                square: n_heads * d_k == d_model,
                input: Input {
                    heads: random::layer(dims, seed + own).heads().to_vec(),
                    x: random::matrix(n_tokens, d_model, seed + own + 1),
                },
            }
        };
        // In the first one d_k is d_model: only there can heads be chained.
        vec![case(3, 4, 2, 4, 1), case(5, 6, 2, 3, 3), case(4, 6, 3, 5, 5)]
    }
}

/// Heads side by side: `Concat(head_1, …, head_h)`.
pub mod concatenation {
    use super::*;

    /// What the heads put out.
    pub struct Input {
        heads: Vec<Matrix>,
    }

    arrays!(Input: heads);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("concatenation", cases, place);

    /// Checks what gives one matrix, `[n_tokens, h · d_v]`, of h outputs, `[n_tokens, d_v]`
    /// each.
    pub fn check(answer: fn(heads: &[Matrix]) -> Matrix) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.heads))
    }

    fn place(input: &Input, Place { row, column, .. }: Place) -> String {
        let d_v = input.heads[0].ncols();
        format!("head {}, token {row}, feature {}", column / d_v, column % d_v)
    }

    fn cases(_: u64) -> Vec<Case<Input>> {
        // The digits of a number say where it comes from.
        let named = |i, token, c| (100 * i + 10 * token + c) as f64;
        let case = |n_tokens: usize, n_heads: usize, d_v: usize| Case {
            sizes: format!(
                "{n_tokens} tokens, {n_heads} heads, d_v {d_v} \
                 (120: head 1, token 2, feature 0)"
            ),
            square: n_tokens == n_heads && n_heads == d_v,
            input: Input {
                heads: (0..n_heads)
                    .map(|i| {
                        Matrix::from_fn(n_tokens, d_v, |token, c| named(i, token, c))
                    })
                    .collect(),
            },
        };
        vec![case(3, 2, 4), case(3, 3, 3), case(5, 4, 3)]
    }
}

/// What the heads put out, and W^O.
pub struct Outputs {
    heads: Vec<Matrix>,
    w_o: Linear,
}

arrays!(Outputs: heads, w_o);

/// What the reader writes: from h outputs, `[n_tokens, d_v]` each, and W^O,
/// `[h · d_v, d_model]`, the output of the layer, `[n_tokens, d_model]`.
pub type OfOutputs = fn(heads: &[Matrix], w_o: &Linear) -> Matrix;

fn outputs(
    n_tokens: usize,
    n_heads: usize,
    d_v: usize,
    d_model: usize,
    seed: u64,
) -> Case<Outputs> {
    let head = |i: u64| random::matrix(n_tokens, d_v, 100 * seed + i);
    Case {
        sizes: format!(
            "{n_tokens} tokens, {n_heads} heads, d_v {d_v}, d_model {d_model}"
        ),
        square: n_heads * d_v == d_model,
        input: Outputs {
            heads: (0..n_heads as u64).map(head).collect(),
            w_o: random::layer(random::dims(d_model, n_heads, d_v, d_v), seed)
                .w_o()
                .clone(),
        },
    }
}

/// The mixer: `Concat(head_1, …, head_h) W^O + b^O`.
pub mod mixing {
    use super::*;

    pub(crate) static EXERCISE: Exercise<Outputs, Matrix> =
        Exercise::new("mixing", cases, place::token_feature);

    /// Checks an answer.
    pub fn check(answer: OfOutputs) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.heads, &input.w_o))
    }

    fn cases(seed: u64) -> Vec<Case<Outputs>> {
        // In the last a head is as wide as the model, so that a bare sum of heads has the
        // shape.
        vec![
            outputs(3, 2, 3, 6, seed + 1),
            outputs(4, 3, 2, 5, seed + 2),
            outputs(5, 2, 3, 9, seed + 3),
            outputs(3, 2, 4, 4, seed + 4),
        ]
    }
}

/// The layer as a sum: `Σ head_i W_i^O + b^O`.
pub mod sum_over_heads {
    use super::*;

    pub(crate) static EXERCISE: Exercise<Outputs, Matrix> =
        Exercise::new("sum_over_heads", cases, place::token_feature);

    /// Checks an answer.
    pub fn check(answer: OfOutputs) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.heads, &input.w_o))
    }

    fn cases(seed: u64) -> Vec<Case<Outputs>> {
        vec![
            outputs(3, 2, 2, 4, seed + 4),
            outputs(4, 3, 2, 5, seed + 5),
            outputs(5, 2, 3, 9, seed + 6),
        ]
    }
}
