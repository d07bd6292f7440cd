//! A softmax under a mask, in which a query may attend to nothing.

use std::process::ExitCode;

use attention::{Mask, Matrix, softmax_rows};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Place, Section};

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

const MASKS: &str = "07-masks";
const BAD: &str = "08-bad-numbers";
const MASK: Section = Section::new(MASKS, "A mask says who may look at whom");
const NOTHING: Section = Section::new(BAD, "A query with nothing to attend to");
const FILL: Section = Section::new(BAD, "−∞ or −1e9?");
const BEFORE: Section = Section::new(MASKS, "The mask comes before softmax");
const MULTIPLY: Section = Section::new(MASKS, "Two ways to multiply, both wrong");
const HUGE: Section = Section::new(BAD, "Huge scores");
const WRONG: Section = Section::new(MASKS, "What people get wrong");
const NAN: Section = Section::new(BAD, "How far a NaN gets");

/// The bare formula. A row whose exponentials are all 0 divides 0 by 0, or is taken for one
/// without a key.
const NO_MAXIMUM: Mistake<Input, Matrix> = Mistake {
    name: "does not subtract the largest open score",
    does: "A row of scores near −800 has exponentials of 0 alone, and comes out as NaN or as \
        a query with nothing to attend to; a row near 800 has exponentials of ∞",
    looks_right: "It is softmax by the formula, and right for scores near 0",
    read: HUGE,
    answer: |input| without_maximum(input, |sum| sum),
};

/// `fold(0.0, f64::max)`.
const MAXIMUM_FROM_0: Mistake<Input, Matrix> = Mistake {
    name: "starts its maximum at 0",
    does: "A fold from 0.0, or from f64::MIN_POSITIVE, which is the smallest number above 0, \
        never falls below it. So a row of scores near −800 has exponentials of 0 alone, and \
        comes out as NaN or as a query with nothing to attend to",
    looks_right: "A sum starts at 0; but a maximum starts at −∞, f64::NEG_INFINITY",
    read: HUGE,
    answer: |input| maximum_from_0(input, |sum| sum),
};

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "18_nothing_to_attend",
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
    mistakes: &[
        Mistake {
            name: "leaves NaN in a row without a key",
            does: "It divides 0 by 0 where every key is blocked",
            looks_right: "It is softmax by the formula, and every other row is right",
            read: NOTHING,
            answer: |input| input.shared_out(&open_exponentials(input), |sum| sum),
        },
        Mistake {
            name: "replaces blocked scores by −1e9",
            does: "In a row without a key all scores are equal then, and the query attends \
                evenly to the very keys that it may not see",
            looks_right: "Every row sums to 1, and every row with a key is right",
            read: FILL,
            answer: |input| {
                softmax_rows(input.each(|s, open| if open { s } else { -1e9 }))
            },
        },
        Mistake {
            name: "adds −1e9 to blocked scores",
            does: "A row without a key comes out as if there were no mask, and what was NaN \
                or larger stays in play",
            looks_right: "While a row has a key and all scores are ordinary numbers, it is \
                right",
            read: FILL,
            answer: |input| added_to_blocked(input, -1e9),
        },
        Mistake {
            name: "adds −∞ to blocked scores and does not replace them",
            does: "A blocked score that is NaN or ∞ becomes NaN, and its row with it",
            looks_right: "It is how the formula writes the mask, and every number below ∞ \
                does become −∞",
            read: MASK,
            answer: |input| added_to_blocked(input, f64::NEG_INFINITY),
        },
        Mistake {
            name: "multiplies the scores by the mask",
            does: "A blocked score becomes 0, whose share is not 0, or stays NaN: 0 · NaN \
                and 0 · ∞ are NaN",
            looks_right: "Times 0 sounds like taking away",
            read: MULTIPLY,
            answer: |input| softmax_rows(input.each(|s, open| s * f64::from(open))),
        },
        Mistake {
            name: "masks after the softmax and shares out anew",
            does: "The shares come from all scores, so a NaN among the blocked ones takes \
                the row, and a huge one leaves nothing for the others",
            looks_right: "With ordinary numbers it is the same as a mask before",
            read: BEFORE,
            answer: |input| {
                input.shared_out(&softmax_rows(input.scores.clone()), one_for_none)
            },
        },
        Mistake {
            name: "replaces NaN by 0 at the end",
            does: "It clears every row with a NaN in it, also one that has keys and a NaN \
                only among the blocked",
            looks_right: "Nothing is NaN any more, and rows without a key are zeros",
            read: NAN,
            answer: cleared_at_the_end,
        },
        Mistake {
            name: "adds a small number to every sum",
            does: "Without the row's largest score taken off first, a row of low scores has \
                a sum far below that number, and its shares vanish",
            looks_right: "Nothing is divided by 0, and where scores are near 0 no digit \
                changes that you would see",
            read: HUGE,
            answer: |input| {
                input.shared_out(&input.scores.map(f64::exp), |sum| sum + 1e-9)
            },
        },
        NO_MAXIMUM,
        Mistake { answer: |input| without_maximum(input, one_for_none), ..NO_MAXIMUM },
        MAXIMUM_FROM_0,
        Mistake { answer: |input| maximum_from_0(input, one_for_none), ..MAXIMUM_FROM_0 },
        Mistake {
            name: "gives a row without a key equal shares",
            does: "Each key gets 1/n, and the query attends evenly to the very keys that it \
                may not see. A fill by f64::MIN does the same",
            looks_right: "Every row sums to 1, and every row with a key is right",
            read: NOTHING,
            answer: equal_where_none,
        },
        Mistake {
            name: "inverts the mask",
            does: "It shares out each row among the keys that are blocked, and gives those \
                that are open 0",
            looks_right: "Some libraries mean “blocked” by true",
            read: WRONG,
            answer: |input| {
                let allowed = input.allowed.map(|open| !open);
                let turned = Input { scores: input.scores.clone(), allowed };
                turned.shared_out(&open_exponentials(&turned), one_for_none)
            },
        },
        Mistake {
            name: "makes the −∞ by multiplying",
            does: "It adds a table of 0 and 1 times −∞; where the table is 0, that is \
                0 · ∞, which is NaN, and the row is lost",
            looks_right: "A table of 0 and 1, times −∞, reads like one of 0 and −∞",
            read: MULTIPLY,
            answer: |input| {
                let blocked = |open| if open { 0.0 } else { 1.0 };
                softmax_rows(input.each(|s, open| s + blocked(open) * f64::NEG_INFINITY))
            },
        },
        Mistake {
            name: "takes the largest score before it masks",
            does: "It subtracts a maximum that may be a blocked score; if that is huge, \
                every open key's exponential is 0",
            looks_right: "Any number may be subtracted from a row, as long as exponentials \
                can still be told from 0",
            read: HUGE,
            answer: largest_of_all,
        },
    ],
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
    let mut far = case(&["xx.x.", "x.xxx", ".....", "xxx.."], note, 4);
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

fn added_to_blocked(input: &Input, added: f64) -> Matrix {
    softmax_rows(input.each(|s, open| if open { s } else { s + added }))
}

fn cleared_at_the_end(input: &Input) -> Matrix {
    let attn = added_to_blocked(input, f64::NEG_INFINITY);
    attn.map(|weight| if weight.is_nan() { 0.0 } else { weight })
}

fn largest_of_all(input: &Input) -> Matrix {
    input.shared_out(&exponentials(input.scores.clone()), one_for_none)
}

/// Shares of the open keys, whose sum a row without a key does not divide by.
fn of_open_keys(input: &Input, weights: &Matrix, divisor: fn(f64) -> f64) -> Matrix {
    let (n_q, n_kv) = input.scores.shape();
    let mut attn = Matrix::zeros(n_q, n_kv);
    for i in 0..n_q {
        let open = || (0..n_kv).filter(|&j| input.allowed[(i, j)]);
        let sum: f64 = open().map(|j| weights[(i, j)]).sum();
        open().for_each(|j| attn[(i, j)] = weights[(i, j)] / divisor(sum));
    }
    attn
}

fn without_maximum(input: &Input, divisor: fn(f64) -> f64) -> Matrix {
    of_open_keys(input, &input.scores.map(f64::exp), divisor)
}

fn maximum_from_0(input: &Input, divisor: fn(f64) -> f64) -> Matrix {
    let mut weights = input.each(|s, open| if open { s } else { f64::NEG_INFINITY });
    for mut row in weights.row_iter_mut() {
        let largest = row.iter().copied().fold(0.0, f64::max);
        row.apply(|s| *s = (*s - largest).exp());
    }
    of_open_keys(input, &weights, divisor)
}

fn equal_where_none(input: &Input) -> Matrix {
    let mut attn = (EXERCISE.reference)(input);
    let equal = 1.0 / attn.ncols() as f64;
    for mut row in attn.row_iter_mut().filter(|row| row.sum() == 0.0) {
        row.fill(equal);
    }
    attn
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
