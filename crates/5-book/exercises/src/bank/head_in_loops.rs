//! One head without its projections: `softmax(Q Kᵀ / √d_k) V`.

use std::process::ExitCode;

use attention::{HeadParameters, Linear, Mask, Matrix, softmax_rows};

use super::{inputs, places};
use crate::{Case, Exercise, Section};

mod mistakes;

/// Queries, keys and values.
pub struct Input {
    q: Matrix,
    k: Matrix,
    v: Matrix,
}

impl Input {
    /// `Q Kᵀ / √d_k`, `[n_q, n_kv]`.
    fn scores(&self) -> Matrix {
        &self.q * self.k.transpose() / (self.q.ncols() as f64).sqrt()
    }

    /// The map, `[n_q, n_kv]`.
    fn attn(&self) -> Matrix {
        softmax_rows(self.scores())
    }
}

/// What the reader writes: from `q`, `[n_q, d_k]`, `k`, `[n_kv, d_k]`, and `v`,
/// `[n_kv, d_v]`, the output of the head, `[n_q, d_v]`.
pub type Attend = fn(q: &Matrix, k: &Matrix, v: &Matrix) -> Matrix;

/// Checks an answer.
pub fn check(answer: Attend) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.q, &input.k, &input.v))
}

const LOOPS: Section = Section::new("one-head", "First in loops");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "head_in_loops",
    title: "One head in loops",
    read: LOOPS,
    begin: "one query, i, and what it needs from every key before it can take anything \
        from a value",
    print: "the scores and the shares of one query",
    passed: "This is the definition of a head. Everything that is faster is compared with it.",
    cases,
    reference,
    mistakes: mistakes::ALL,
    place: places::token_feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_q: usize, n_kv: usize, d_k: usize, d_v: usize, seed: u64| Case {
        sizes: format!("{n_q} queries, {n_kv} keys, d_k {d_k}, d_v {d_v}"),
        square: n_q == n_kv && d_k == d_v,
        input: Input {
            q: inputs::matrix(n_q, d_k, seed),
            k: inputs::matrix(n_kv, d_k, seed + 1),
            v: inputs::matrix(n_kv, d_v, seed + 2),
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

/// The head of “One head”, with projections that leave everything as it is.
fn reference(input: &Input) -> Matrix {
    let unchanged = |width| Linear { weight: Matrix::identity(width, width), bias: None };
    let (d_k, d_v) = (input.q.ncols(), input.v.ncols());
    let head =
        HeadParameters { w_q: unchanged(d_k), w_k: unchanged(d_k), w_v: unchanged(d_v) };
    let pass = single_head::attend(&head, &input.q, &input.k, &input.v, &Mask::None);
    pass.expect("the sizes fit").out
}

fn own_value(input: &Input) -> Matrix {
    let (n_q, d_v) = (input.q.nrows(), input.v.ncols());
    Matrix::from_fn(n_q, d_v, |i, c| input.attn().row(i).sum() * input.v[(i, c)])
}

fn last_key_only(input: &Input) -> Matrix {
    let (attn, last) = (input.attn(), input.k.nrows() - 1);
    Matrix::from_fn(attn.nrows(), input.v.ncols(), |i, c| {
        attn[(i, last)] * input.v[(last, c)]
    })
}

/// What the exponentials of a row are divided by.
enum Divided {
    ByTheSum,
    ByNothing,
}

/// `exp(s − subtracted)`, where each row has a number of its own subtracted.
fn exponentials(
    scores: &Matrix,
    subtracted: fn(&[f64]) -> f64,
    divided: Divided,
) -> Matrix {
    let mut exp = scores.clone();
    for mut row in exp.row_iter_mut() {
        let subtracted = subtracted(&row.iter().copied().collect::<Vec<_>>());
        row.apply(|score| *score = (*score - subtracted).exp());
        if matches!(divided, Divided::ByTheSum) {
            row /= row.sum();
        }
    }
    exp
}

fn largest(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn sum_runs_on(input: &Input) -> Matrix {
    let mut out = exponentials(&input.scores(), largest, Divided::ByNothing);
    let mut sum = 0.0;
    for mut row in out.row_iter_mut() {
        sum += row.sum();
        row /= sum;
    }
    out * &input.v
}

fn best_only(input: &Input) -> Matrix {
    let scores = input.scores();
    Matrix::from_fn(scores.nrows(), input.v.ncols(), |i, c| {
        input.v[(scores.row(i).transpose().imax(), c)]
    })
}

fn first_keys_only(input: &Input) -> Matrix {
    let n_q = input.q.nrows();
    let first = |m: &Matrix| m.rows(0, n_q).into_owned();
    let (q, k, v) = (input.q.clone(), first(&input.k), first(&input.v));
    reference(&Input { q, k, v })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    fn verdict(answer: Attend) -> Verdict {
        EXERCISE.diagnose(|input| answer(&input.q, &input.k, &input.v))
    }

    /// One entry of the output, its keys from the last to the first, d_k divided out of
    /// the query: the same sums in another order.
    fn entry(q: &Matrix, k: &Matrix, v: &Matrix, i: usize, c: usize) -> f64 {
        let sqrt_d_k = (q.ncols() as f64).sqrt();
        let (mut largest, mut sum, mut out) = (f64::MIN, 0.0, 0.0);
        for j in (0..k.nrows()).rev() {
            let features = (0..q.ncols()).rev();
            let score: f64 = features.map(|f| q[(i, f)] / sqrt_d_k * k[(j, f)]).sum();
            // What stands there so far was made with a smaller maximum.
            let smaller = f64::exp(largest - score.max(largest));
            largest = largest.max(score);
            sum = sum * smaller + (score - largest).exp();
            out = out * smaller + (score - largest).exp() * v[(j, c)];
        }
        out / sum
    }

    #[test]
    fn entry_by_entry_with_one_division_at_the_end_passes() {
        let answer: Attend =
            |q, k, v| Matrix::from_fn(q.nrows(), v.ncols(), |i, c| entry(q, k, v, i, c));
        assert_eq!(verdict(answer), Verdict::Passed);
    }

    #[test]
    fn matrices_in_f32_pass() {
        let answer: Attend = |q, k, v| {
            let [q, k, v] = [q, k, v].map(|m| m.map(|x| x as f32));
            let scores = &q * k.transpose() / (q.ncols() as f32).sqrt();
            (softmax_rows(scores) * v).map(f64::from)
        };
        assert_eq!(verdict(answer), Verdict::Passed);
    }

    #[test]
    fn outputs_as_wide_as_keys_are_right_only_for_equal_sizes() {
        let answer: Attend =
            |q, k, v| Matrix::from_fn(q.nrows(), q.ncols(), |i, c| entry(q, k, v, i, c));
        assert!(matches!(verdict(answer), Verdict::SquareOnly { .. }));
    }

    #[test]
    fn a_key_beyond_the_last_is_a_panic() {
        let answer: Attend = |q, k, v| {
            Matrix::from_fn(q.nrows(), v.ncols(), |i, c| {
                (0..=k.nrows()).map(|j| q[(i, 0)] * k[(j, 0)] * v[(j, c)]).sum()
            })
        };
        assert!(matches!(
            verdict(answer),
            Verdict::Unknown { difference: Difference::Panic { .. }, .. }
        ));
    }
}
