//! A softmax under a mask, in which a query may attend to nothing.

use std::process::ExitCode;

use attention::{Mask, Matrix, softmax_rows};

use super::{inputs, places};
use crate::{Case, Exercise, Place, Section};

mod mistakes;

/// Scaled scores, and which of them may be used. Blocked scores may be anything.
pub struct Input {
    scores: Matrix,
    allowed: Matrix<bool>,
}

impl Input {
    /// The matrix of an expression of the score and whether it may be used.
    fn each(&self, entry: impl Fn(f64, bool) -> f64) -> Matrix {
        self.scores.zip_map(&self.allowed, entry)
    }

    /// The right map if this key were blocked for all.
    fn without_key(&self, key: usize) -> Matrix {
        let mut allowed = self.allowed.clone();
        allowed.column_mut(key).fill(false);
        let scores = self.scores.clone();
        (EXERCISE.reference)(&Self { scores, allowed })
    }

    /// Each row of `weights`, 0 where blocked, divided by what `divisor` makes of its sum.
    fn shared_out(&self, weights: &Matrix, divisor: impl Fn(f64) -> f64) -> Matrix {
        let mut attn =
            weights.zip_map(&self.allowed, |w, open| if open { w } else { 0.0 });
        attn.row_iter_mut().for_each(|mut row| row /= divisor(row.sum()));
        attn
    }
}

/// What the reader writes: from scaled `scores`, `[n_q, n_kv]`, and `allowed`,
/// `[n_q, n_kv]` with true for "may attend", the map `[n_q, n_kv]`.
pub type MaskedSoftmax = fn(scores: &Matrix, allowed: &Matrix<bool>) -> Matrix;

/// Checks an answer.
pub fn check(answer: MaskedSoftmax) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.scores, &input.allowed))
}

const MASKS: &str = "masks";
const BAD: &str = "bad-numbers";
const NOTHING: Section = Section::new(BAD, "A query with nothing to attend to");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "nothing_to_attend",
    title: "Nothing to attend to",
    read: NOTHING,
    begin: "one row: which keys are open? Give these their shares and leave all other \
        entries at 0. Then ask what your code does if none is open",
    print: "one row: its open scores, its exponentials and their sum",
    passed: "A query that may attend to nothing reads nothing, and what stands in a blocked \
        score cannot matter, even if it is NaN.",
    cases,
    reference: |input| {
        softmax_rows(Mask::Allowed(input.allowed.clone()).apply(input.scores.clone()))
    },
    mistakes: mistakes::ALL,
    place,
};

fn place(input: &Input, place: Place) -> String {
    let blocked = !input.allowed[(place.row, place.column)];
    places::map(input, place) + if blocked { " (blocked)" } else { "" }
}

fn cases() -> Vec<Case<Input>> {
    // x: may attend.
    let case = |mask: &[&str], note: &str, seed: u64| {
        let (n_q, n_kv) = (mask.len(), mask[0].len());
        let open = |i: usize, j: usize| mask[i].as_bytes()[j] == b'x';
        let none: Vec<_> = (0..n_q).filter(|&i| !mask[i].contains('x')).collect();
        let empty = format!("query {} may attend to nothing", none[0]);
        Case {
            sizes: format!("{n_q} queries, {n_kv} keys; {empty}{note}"),
            square: n_q == n_kv,
            input: Input {
                scores: inputs::matrix(n_q, n_kv, seed),
                allowed: Matrix::from_fn(n_q, n_kv, open),
            },
        }
    };
    let note = "; NaN, ∞ and 1e30 are blocked; the scores of query 4 are near −60";
    let mut bad = case(&["xx..xx", "......", ".xxx.x", "x.x.xx", "xxx.x."], note, 3);
    let scores = &mut bad.input.scores;
    (scores[(0, 2)], scores[(2, 4)], scores[(3, 1)]) = (f64::NAN, 1e30, f64::INFINITY);
    (scores[(1, 0)], scores[(1, 3)], scores[(1, 5)]) = (f64::NAN, 1e30, f64::INFINITY);
    scores.row_mut(4).add_scalar_mut(-60.0);
    let note = "; the scores of query 0 are near −800, of query 1 near 800, and those of \
        query 3 are billions below 0";
    let mut far = case(&["xx.x..", "x.xxx.", "......", "xxx...", ".xx.xx"], note, 4);
    let scores = &mut far.input.scores;
    scores.row_mut(0).add_scalar_mut(-800.0);
    scores.row_mut(1).add_scalar_mut(800.0);
    (0..3).for_each(|j| scores[(3, j)] = -3e9 - 1e9 * j as f64);
    vec![
        case(&["xx..", "....", "x.xx", "xxxx"], "", 1),
        case(&[".....", "xxx.x", "..x.."], "", 2),
        bad,
        far,
    ]
}

/// exp(score − maximum of the open ones).
fn open_exponentials(input: &Input) -> Matrix {
    let masked = input.each(|s, open| if open { s } else { f64::NEG_INFINITY });
    exponentials(masked)
}

/// exp(score − maximum of the row), where the maximum of numbers and NaN is a number.
fn exponentials(mut scores: Matrix) -> Matrix {
    for mut row in scores.row_iter_mut() {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        row.apply(|s| *s = (*s - largest).exp());
    }
    scores
}

/// The guard against a division by 0.
fn one_for_none(sum: f64) -> f64 {
    if sum == 0.0 { 1.0 } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    /// Row by row, from the last key to the first, in f32.
    fn key_by_key(input: &Input) -> Matrix {
        let (n_q, n_kv) = input.scores.shape();
        let mut attn = Matrix::zeros(n_q, n_kv);
        for i in 0..n_q {
            let open = || (0..n_kv).rev().filter(|&j| input.allowed[(i, j)]);
            let score = |j: usize| input.scores[(i, j)] as f32;
            let largest = open().map(score).fold(f32::MIN, f32::max);
            let exp = |j: usize| (score(j) - largest).exp();
            let sum: f32 = open().map(exp).sum();
            open().for_each(|j| attn[(i, j)] = f64::from(exp(j) / sum));
        }
        attn
    }

    #[test]
    fn any_rule_for_the_empty_row_is_right() {
        let guarded =
            |input: &Input| input.shared_out(&open_exponentials(input), one_for_none);
        let replaced_then_cleared = |input: &Input| {
            let attn = input.shared_out(&open_exponentials(input), |sum| sum);
            attn.map(|weight| if weight.is_nan() { 0.0 } else { weight })
        };
        let small_number_after_the_maximum =
            |input: &Input| input.shared_out(&open_exponentials(input), |sum| sum + 1e-9);
        assert_eq!(EXERCISE.diagnose(key_by_key), Verdict::Passed);
        assert_eq!(EXERCISE.diagnose(guarded), Verdict::Passed);
        assert_eq!(EXERCISE.diagnose(replaced_then_cleared), Verdict::Passed);
        assert_eq!(EXERCISE.diagnose(small_number_after_the_maximum), Verdict::Passed);
    }

    #[test]
    fn a_loop_over_as_many_keys_as_queries_is_right_for_squares() {
        let n_q_keys = |input: &Input| {
            let mut allowed = input.allowed.clone();
            let (n_q, n_kv) = allowed.shape();
            (n_q..n_kv).for_each(|j| allowed.column_mut(j).fill(false));
            (EXERCISE.reference)(&Input { scores: input.scores.clone(), allowed })
        };
        let verdict = EXERCISE.diagnose(n_q_keys);
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told() {
        let verdict = EXERCISE.diagnose(|input| {
            let open = input.allowed.row_iter().map(|row| row.iter().position(|&x| x));
            let first: Vec<usize> = open.map(|j| j.expect("a key")).collect();
            Matrix::from_element(first.len(), 1, 0.0)
        });
        let Verdict::Unknown { difference, .. } = verdict else { panic!("{verdict:?}") };
        assert!(matches!(difference, Difference::Panic { .. }), "{difference:?}");
    }
}
