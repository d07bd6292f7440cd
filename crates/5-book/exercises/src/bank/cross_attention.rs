//! A head whose queries come from one sequence, and keys and values from another.

use std::process::ExitCode;

use attention::{HeadParameters, Linear, Mask, Matrix, softmax_rows};
use single_head::{HeadPass, attend};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// A head, the tokens that ask, and the tokens that are asked.
pub struct Input {
    w: HeadParameters,
    x: Matrix,
    source: Matrix,
}

/// What the reader writes: from `x`, `[n_q, d_model]`, and `source`, `[n_kv, d_model]`,
/// the head's output `[n_q, d_v]`.
pub type CrossHead = fn(w: &HeadParameters, x: &Matrix, source: &Matrix) -> Matrix;

/// Checks an answer.
pub fn check(answer: CrossHead) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.w, &input.x, &input.source))
}

const CROSS: Section = Section::new("masks", "Attending to another sequence");
const SHAPES: Section = Section::new("one-head", "The formula, with shapes");
const SCALE: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");
const SOFTMAX: Section = Section::new("scores-softmax-scale", "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "cross_attention",
    title: "Cross-attention",
    read: CROSS,
    begin: "the three projections: write next to each of q, k and v from which sequence it \
        comes, and which shape it has",
    print: "q, k and v, your scores and shares",
    passed: "x asks and source answers: the output has a row for each token of x, and each \
        row is an average of values of source.",
    cases,
    reference: |input| head(input, &input.x, &input.source, &input.source).out,
    mistakes: &[
        Mistake {
            name: "lets x attend to itself",
            does: "It takes query, key and value from x and never looks at source",
            looks_right: "It is a head as in “One head”, and the shape is right",
            read: CROSS,
            answer: |input| head(input, &input.x, &input.x, &input.x).out,
        },
        Mistake {
            name: "lets source attend to itself",
            does: "It takes the queries from source too and never looks at x",
            looks_right: "Where both sequences have the same length, so has the output",
            read: CROSS,
            answer: |input| head(input, &input.source, &input.source, &input.source).out,
        },
        Mistake {
            name: "lets source ask x",
            does: "It takes the queries from source, and keys and values from x",
            looks_right: "Two sequences attend to one another; but the output is the \
                asker's, and x asks",
            read: CROSS,
            answer: |input| head(input, &input.source, &input.x, &input.x).out,
        },
        Mistake {
            name: "takes the keys from x",
            does: "It finds tokens of x and then takes the values of source that stand at \
                the same places",
            looks_right: "Where both sequences have the same length, all shapes fit",
            read: CROSS,
            answer: |input| head(input, &input.x, &input.x, &input.source).out,
        },
        Mistake {
            name: "takes the values from x",
            does: "It finds tokens of source and then takes the values of x that stand at \
                the same places",
            looks_right: "Where both sequences have the same length, all shapes fit",
            read: CROSS,
            answer: |input| head(input, &input.x, &input.source, &input.x).out,
        },
        Mistake {
            name: "puts x among the keys",
            does: "It attends to both sequences, one below the other",
            looks_right: "The shape is right, and some layers do attend so",
            read: CROSS,
            answer: over_both,
        },
        Mistake {
            name: "shares out each key among the queries",
            does: "It runs softmax down the columns of the scores, and rows no longer add \
                up to 1",
            looks_right: "Every share lies between 0 and 1, and the shape is right",
            read: SOFTMAX,
            answer: softmax_down_the_columns,
        },
        Mistake {
            name: "does not divide the scores by √d_k",
            does: "Softmax gets the bare dot products, and rows come out too sharp",
            looks_right: "Every output is still an average of values of source",
            read: SCALE,
            answer: |input| scaled(input, |input| (input.w.w_q.d_out() as f64).sqrt()),
        },
        Mistake {
            name: "divides the scores by d_k and not by its root",
            does: "The spread of the scores falls to 1/√d_k, so rows come out too even",
            looks_right: "A sum of d_k products divided by d_k is their mean",
            read: SCALE,
            answer: |input| {
                scaled(input, |input| 1.0 / (input.w.w_q.d_out() as f64).sqrt())
            },
        },
        Mistake {
            name: "divides the scores by √d_model",
            does: "It divides by the root of the width of a token, and a dot product \
                here adds up only the d_k products of one head",
            looks_right: "With one head d_k is often d_model, and then it is right",
            read: SCALE,
            answer: |input| {
                scaled(input, |Input { w, x, .. }| {
                    (w.w_q.d_out() as f64 / x.ncols() as f64).sqrt()
                })
            },
        },
        Mistake {
            name: "forgets the biases",
            does: "It multiplies by the weights and does not add b^Q, b^K and b^V",
            looks_right: "The shapes are right, and with biases of 0 the numbers are too",
            read: SHAPES,
            answer: without_biases,
        },
        Mistake {
            name: "weighs with the scores themselves",
            does: "It leaves softmax out: weights may be negative, and do not sum to 1",
            looks_right: "A high score does count for more",
            read: SOFTMAX,
            answer: |input| {
                let HeadPass { scores, v, .. } =
                    head(input, &input.x, &input.source, &input.source);
                scores * v
            },
        },
        Mistake {
            name: "takes softmax twice",
            does: "It makes shares of the shares, and every row comes out nearly even",
            looks_right: "Every row sums to 1",
            read: SOFTMAX,
            answer: |input| {
                let HeadPass { scores, v, .. } =
                    head(input, &input.x, &input.source, &input.source);
                softmax_rows(softmax_rows(scores)) * v
            },
        },
        Mistake {
            name: "compares queries with values",
            does: "Its scores are those of q and v: what a token hands over decides whether it is found",
            looks_right: "Keys and values stand in the same rows, and where d_k = d_v it fits",
            read: SHAPES,
            answer: |input| {
                let HeadPass { q, v, .. } =
                    head(input, &input.x, &input.source, &input.source);
                let scores = &q * v.transpose() / (q.ncols() as f64).sqrt();
                softmax_rows(scores) * v
            },
        },
        Mistake {
            name: "averages the keys",
            does: "It weighs the rows of k, which are there to be found by",
            looks_right: "A key and its value stand in the same row, and where d_k = d_v the shape is right",
            read: SHAPES,
            answer: |input| {
                let HeadPass { scores, k, .. } =
                    head(input, &input.x, &input.source, &input.source);
                softmax_rows(scores) * k
            },
        },
        Mistake {
            name: "has a row for each key",
            does: "It computes K Qᵀ, so keys share themselves out among the queries",
            looks_right: "Where there are as many queries as keys the shape is right, and rows sum to 1",
            read: SOFTMAX,
            answer: |input| {
                let HeadPass { scores, v, .. } =
                    head(input, &input.x, &input.source, &input.source);
                softmax_rows(scores.transpose()) * v
            },
        },
    ],
    place: places::token_feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_q: usize, n_kv: usize, [d_model, d_k, d_v]: [usize; 3], seed: u64| {
        Case {
            sizes: format!(
                "{n_q} tokens of x, {n_kv} of source, d_model {d_model}, d_k {d_k}, d_v {d_v}"
            ),
            square: n_q == n_kv && d_k == d_v,
            input: Input {
                w: inputs::layer(inputs::dims(d_model, 1, d_k, d_v), seed).heads()[0]
                    .clone(),
                x: inputs::matrix(n_q, d_model, seed + 1),
                source: inputs::matrix(n_kv, d_model, seed + 2),
            },
        }
    };
    vec![case(4, 4, [6, 3, 3], 1), case(3, 5, [6, 4, 2], 4), case(6, 2, [8, 3, 5], 7)]
}

/// The head on any three sequences; like a reader's code, it panics if they do not fit.
fn head(input: &Input, query: &Matrix, key: &Matrix, value: &Matrix) -> HeadPass<f64> {
    attend(&input.w, query, key, value, &Mask::None).unwrap_or_else(|e| panic!("{e}"))
}

fn over_both(input: &Input) -> Matrix {
    let Input { x, source, .. } = input;
    let rows: Vec<_> = source.row_iter().chain(x.row_iter()).collect();
    let both = Matrix::from_rows(&rows);
    head(input, x, &both, &both).out
}

/// The head with its scores multiplied.
fn scaled(input: &Input, by: fn(&Input) -> f64) -> Matrix {
    let HeadPass { scores, v, .. } = head(input, &input.x, &input.source, &input.source);
    softmax_rows(scores * by(input)) * v
}

fn softmax_down_the_columns(input: &Input) -> Matrix {
    let HeadPass { scores, v, .. } = head(input, &input.x, &input.source, &input.source);
    softmax_rows(scores.transpose()).transpose() * v
}

fn without_biases(input: &Input) -> Matrix {
    let bare = |linear: &Linear| Linear { bias: None, ..linear.clone() };
    let HeadParameters { w_q, w_k, w_v } = &input.w;
    let w = HeadParameters { w_q: bare(w_q), w_k: bare(w_k), w_v: bare(w_v) };
    let (x, source) = (input.x.clone(), input.source.clone());
    (EXERCISE.reference)(&Input { w, x, source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    /// Token by token, every sum from its last term to its first.
    fn in_loops(input: &Input) -> Matrix {
        let project = |linear: &Linear, token: usize, x: &Matrix| -> Vec<f64> {
            let bias = linear.bias.as_ref().expect("a bias");
            let terms = |to| (0..linear.d_in()).rev().map(move |from| (from, to));
            let term = |at: (usize, usize)| x[(token, at.0)] * linear.weight[at];
            (0..linear.d_out())
                .map(|to| terms(to).map(term).sum::<f64>() + bias[to])
                .collect()
        };
        let Input { w, x, source } = input;
        let mut out = Matrix::zeros(x.nrows(), w.w_v.d_out());
        for i in 0..x.nrows() {
            let q = project(&w.w_q, i, x);
            let mut total = 0.0;
            for j in (0..source.nrows()).rev() {
                let k = project(&w.w_k, j, source);
                let dot: f64 = q.iter().zip(&k).rev().map(|(q, k)| q * k).sum();
                let weight = (dot / (k.len() as f64).sqrt()).exp();
                total += weight;
                for (c, v) in project(&w.w_v, j, source).into_iter().enumerate() {
                    out[(i, c)] += weight * v;
                }
            }
            out.row_mut(i).unscale_mut(total);
        }
        out
    }

    #[test]
    fn loops_and_f32_are_right() {
        let in_f32 = |input: &Input| {
            let [x, source] = [&input.x, &input.source].map(|x| x.map(|x| x as f32));
            let pass = attend(&input.w.cast(), &x, &source, &source, &Mask::None);
            pass.expect("sizes fit").out.map(f64::from)
        };
        assert_eq!(EXERCISE.diagnose(in_loops), Verdict::Passed);
        assert_eq!(EXERCISE.diagnose(in_f32), Verdict::Passed);
    }

    #[test]
    fn the_root_of_d_v_is_right_where_d_k_is_d_v() {
        let scaled_by_d_v = |input: &Input| {
            let HeadPass { scores, v, .. } =
                head(input, &input.x, &input.source, &input.source);
            let by = (input.w.w_k.d_out() as f64 / v.ncols() as f64).sqrt();
            softmax_rows(scores * by) * v
        };
        let verdict = EXERCISE.diagnose(scaled_by_d_v);
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told() {
        let verdict = EXERCISE.diagnose(|input| &input.x * &input.source);
        let Verdict::Unknown { difference, .. } = verdict else { panic!("{verdict:?}") };
        assert!(matches!(difference, Difference::Panic { .. }), "{difference:?}");
    }
}
