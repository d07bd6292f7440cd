//! The map of one head: `softmax(Q Kᵀ / √d_k)`.

use std::process::ExitCode;

use attention::{Matrix, softmax_rows};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// Queries, keys, and the width of the tokens that they were projected from.
pub struct Input {
    q: Matrix,
    k: Matrix,
    d_model: usize,
}

/// What the reader writes: from `q`, `[n_q, d_k]`, and `k`, `[n_kv, d_k]`, the map
/// `[n_q, n_kv]`. The width of the model is handed over and not needed.
pub type AttentionMap = fn(q: &Matrix, k: &Matrix, d_model: usize) -> Matrix;

/// Checks an answer.
pub fn check(answer: AttentionMap) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.q, &input.k, input.d_model))
}

const WHY: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");
const WRONG: Section = Section::new("scores-softmax-scale", "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "scale",
    title: "Scale",
    read: WHY,
    begin: "the scores, one for each query and key: q * k.transpose(). Then ask how wide \
        the rows are that were multiplied",
    print: "your scores and shares",
    passed: "Divided by √d_k, random scores have a spread of about 1, however wide \
             the head is.",
    cases,
    reference: |input| divided_by(input, (input.q.ncols() as f64).sqrt()),
    mistakes: &[
        Mistake {
            name: "does not divide the scores",
            does: "Softmax gets the bare dot products, whose spread grows as √d_k",
            looks_right: "Every row is still a row of shares that sums to 1, only \
                sharper",
            read: WHY,
            answer: |input| divided_by(input, 1.0),
        },
        Mistake {
            name: "divides by √d_model",
            does: "It divides by the root of the width of a token, and a dot product here \
                adds up only the d_k products of one head",
            looks_right: "With one head d_k is d_model, and then it is right",
            read: WRONG,
            answer: |input| divided_by(input, (input.d_model as f64).sqrt()),
        },
        Mistake {
            name: "divides by d_k and not by its root",
            does: "The spread of the scores falls to 1/√d_k, so rows come out too even",
            looks_right: "A sum of d_k products divided by d_k is their mean",
            read: WHY,
            answer: |input| divided_by(input, input.q.ncols() as f64),
        },
        Mistake {
            name: "multiplies by √d_k",
            does: "It makes large scores larger, and nearly all of a row goes to one key",
            looks_right: "It is the same number, on the wrong side",
            read: WHY,
            answer: |input| divided_by(input, 1.0 / (input.q.ncols() as f64).sqrt()),
        },
        Mistake {
            name: "divides by the root of the number of keys",
            does: "It scales with the length of the sequence, which has no part in a dot \
                product",
            looks_right: "A row is as long as there are keys",
            read: WHY,
            answer: |input| divided_by(input, (input.k.nrows() as f64).sqrt()),
        },
        Mistake {
            name: "divides after the softmax",
            does: "It shrinks finished shares, so a row sums to 1/√d_k",
            looks_right: "The same operations, one line too late",
            read: WRONG,
            answer: after_softmax,
        },
        Mistake {
            name: "compares keys with keys",
            does: "It takes the keys for the queries too, and q is never used",
            looks_right: "Each token scores high with itself, which looks like attention",
            read: WHY,
            answer: |Input { k, .. }| {
                softmax_rows(k * k.transpose() / (k.ncols() as f64).sqrt())
            },
        },
        Mistake {
            name: "has a row for each key",
            does: "It computes K Qᵀ, so keys share themselves out among the queries",
            looks_right: "Where there are as many queries as keys the shape is right, and rows sum to 1",
            read: WRONG,
            answer: |Input { q, k, .. }| {
                softmax_rows(k * q.transpose() / (k.ncols() as f64).sqrt())
            },
        },
    ],
    place: places::map,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_q: usize, n_kv: usize, d_k: usize, d_model: usize, seed: u64| Case {
        sizes: format!("{n_q} queries, {n_kv} keys, d_k {d_k}, d_model {d_model}"),
        square: n_q == n_kv,
        input: Input {
            q: inputs::matrix(n_q, d_k, seed),
            k: inputs::matrix(n_kv, d_k, seed + 1),
            d_model,
        },
    };
    vec![case(5, 5, 8, 24, 1), case(3, 6, 16, 48, 3), case(7, 2, 2, 12, 5)]
}

fn divided_by(input: &Input, divisor: f64) -> Matrix {
    softmax_rows(&input.q * input.k.transpose() / divisor)
}

fn after_softmax(input: &Input) -> Matrix {
    divided_by(input, 1.0) / (input.q.ncols() as f64).sqrt()
}
