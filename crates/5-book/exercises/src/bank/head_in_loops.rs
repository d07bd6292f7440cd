//! One head without its projections: `softmax(Q Kᵀ / √d_k) V`.

use std::process::ExitCode;

use attention::{HeadParameters, Linear, Mask, Matrix, softmax_rows, weighted_values};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

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
const IDEA: Section = Section::new("one-head", "The idea");
const FORMULA: Section = Section::new("one-head", "The formula, with shapes");
const STABLE: Section =
    Section::new("scores-softmax-scale", "A softmax that does not break");
const WRONG: Section = Section::new("scores-softmax-scale", "What people get wrong");

/// The bare formula.
const NO_MAXIMUM: Mistake<Input, Matrix> = Mistake {
    name: "does not subtract the largest score of the query",
    does: "A score of 1000 has an exponential that no f64 can hold, and ∞ / ∞ is NaN; where \
        all scores of a query lie near −1000 all exponentials are 0, and 0 / 0 is NaN too",
    looks_right: "It is the formula as it is written, and right for small scores",
    read: STABLE,
    answer: |input| exponentials(&input.scores(), |_| 0.0, Divided::ByTheSum) * &input.v,
};

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
    mistakes: &[
        Mistake {
            name: "averages the keys",
            does: "The shares are right, and they weigh the rows of k, which are there \
                to be found by, and not those of v, which are there to be handed over",
            looks_right: "A key and its value stand in the same row, and where d_k = d_v \
                the shape is right",
            read: IDEA,
            answer: |input| weighted_values(&input.attn(), input.k.as_view()),
        },
        Mistake {
            name: "takes the value of the query's own place",
            does: "In the inner sum it reads row i of v and not row j, so that the \
                shares of query i all go to value i, which then stands there unchanged",
            looks_right: "i is the query that the loop is at, and a number comes out for \
                each feature",
            read: LOOPS,
            answer: own_value,
        },
        Mistake {
            name: "lets the queries compete for a key",
            does: "The softmax runs over the queries, so that the shares of a key sum \
                to 1 and those of a query do not",
            looks_right: "Both indices of a score are loops, and this sums over one of \
                them",
            read: WRONG,
            answer: |input| {
                &softmax_rows(input.scores().transpose()).transpose() * &input.v
            },
        },
        Mistake {
            name: "does not divide the scores by √d_k",
            does: "The softmax gets the bare dot products, and rows come out too sharp",
            looks_right: "Every output is still an average of values",
            read: FORMULA,
            answer: |input| softmax_rows(&input.q * input.k.transpose()) * &input.v,
        },
        Mistake {
            name: "divides the scores by d_k and not by its root",
            does: "The spread of the scores falls to 1/√d_k, so rows come out too even",
            looks_right: "A sum of d_k products divided by d_k is their mean",
            read: FORMULA,
            answer: |input| {
                let d_k = input.q.ncols() as f64;
                softmax_rows(&input.q * input.k.transpose() / d_k) * &input.v
            },
        },
        Mistake {
            name: "keeps only what the last key adds",
            does: "It writes `out = …` where `out += …` adds up, so each key overwrites \
                the one before",
            looks_right: "Every entry is written, and the loop runs over all keys",
            read: LOOPS,
            answer: last_key_only,
        },
        Mistake {
            name: "lets the sum run on from query to query",
            does: "The sum of the exponentials is set to 0 once and not for each query, so \
                later queries are divided by too much",
            looks_right: "The first token is right",
            read: LOOPS,
            answer: sum_runs_on,
        },
        NO_MAXIMUM,
        Mistake {
            name: "starts its maximum at 0",
            does: "A fold from 0.0 never falls below it, so where all scores of a query lie \
                near −1000 every exponential becomes 0, and 0 / 0 is NaN",
            looks_right: "A sum starts at 0; but a maximum starts at −∞, f64::NEG_INFINITY, \
                or at the first score",
            read: STABLE,
            answer: |input| {
                let from_0 = |row: &[f64]| row.iter().copied().fold(0.0, f64::max);
                exponentials(&input.scores(), from_0, Divided::ByTheSum) * &input.v
            },
        },
        Mistake {
            name: "takes the score of the largest size for the largest",
            does: "Its maximum is over |s|, so where one score of a query lies near −900 and \
                the others near 0 every exponential becomes 0, and 0 / 0 is NaN",
            looks_right: "The exponentials are small enough, and small scores are right",
            read: STABLE,
            answer: |input| {
                let size =
                    |row: &[f64]| row.iter().fold(0.0_f64, |most, s| most.max(s.abs()));
                exponentials(&input.scores(), size, Divided::ByTheSum) * &input.v
            },
        },
        Mistake {
            name: "divides by the sum of the keys so far",
            does: "It divides each exponential by the sum up to its own key, so the shares of \
                the first keys are too large, and they do not sum to 1",
            looks_right: "One loop does it all, and the last key is right",
            read: LOOPS,
            answer: |input| {
                let mut shares = exponentials(&input.scores(), largest, Divided::ByNothing);
                for mut row in shares.row_iter_mut() {
                    let mut sum = 0.0;
                    row.apply(|exp| {
                        sum += *exp;
                        *exp /= sum;
                    });
                }
                shares * &input.v
            },
        },
        Mistake {
            name: "leaves key 0 out",
            does: "Its loop over the keys begins at 1, as after a maximum that starts at the \
                score of key 0",
            looks_right: "Each row of shares sums to 1",
            read: LOOPS,
            answer: |input| {
                let n = input.k.nrows() - 1;
                let rest = |m: &Matrix| m.rows(1, n).into_owned();
                let (q, k, v) = (input.q.clone(), rest(&input.k), rest(&input.v));
                reference(&Input { q, k, v })
            },
        },
        Mistake {
            name: "divides each row of the output by its sum",
            does: "It makes the entries of an output sum to 1. The shares sum to 1, and what \
                they average sums to anything",
            looks_right: "Something is to be divided by a sum so that a row sums to 1",
            read: LOOPS,
            answer: |input| {
                let mut out = reference(input);
                for mut row in out.row_iter_mut() {
                    row /= row.sum();
                }
                out
            },
        },
        Mistake {
            name: "hands over the value of the best key alone",
            does: "It looks for the largest score and forgets the other keys",
            looks_right: "Attention sounds like picking one, and a sharp row nearly does",
            read: IDEA,
            answer: best_only,
        },
        Mistake {
            name: "does not divide by the sum of the exponentials",
            does: "Every value is weighed by the exponential of its score, and what \
                comes out is a sum and no average",
            looks_right: "Keys with large scores do count more, in the right proportion",
            read: LOOPS,
            answer: |input| {
                exponentials(&input.scores(), largest, Divided::ByNothing) * &input.v
            },
        },
        Mistake {
            name: "loops over n_q where n_kv belongs",
            does: "With fewer queries than keys it leaves keys out, and with more it \
                reads beyond the last",
            looks_right: "In self-attention there are as many queries as keys",
            read: FORMULA,
            answer: first_keys_only,
        },
    ],
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
    let mut low = case(2, 3, 2, 2, 13);
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
