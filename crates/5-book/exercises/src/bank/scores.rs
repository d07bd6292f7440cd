//! The scores of one head before they are scaled: `Q Kᵀ`.

use std::process::ExitCode;

use attention::Matrix;

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// Queries and keys.
pub struct Input {
    q: Matrix,
    k: Matrix,
}

impl Input {
    /// One score for each query and key, `[n_q, n_kv]`, from a rule for two rows of
    /// features.
    fn each_pair(&self, score: impl Fn(&[f64], &[f64]) -> f64) -> Matrix {
        let row = |m: &Matrix, i: usize| m.row(i).iter().copied().collect::<Vec<_>>();
        Matrix::from_fn(self.q.nrows(), self.k.nrows(), |i, j| {
            score(&row(&self.q, i), &row(&self.k, j))
        })
    }
}

/// What the reader writes: from `q`, `[n_q, d_k]`, and `k`, `[n_kv, d_k]`, the dot
/// products `[n_q, n_kv]`.
pub type Scores = fn(q: &Matrix, k: &Matrix) -> Matrix;

/// Checks an answer.
pub fn check(answer: Scores) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.q, &input.k))
}

const DOT: Section = Section::new("scores-softmax-scale", "A question and its answers");
const SCALE: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");
const ROWS: Section =
    Section::new("one-look-is-not-enough", "An average, with attention weights");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "scores",
    title: "Scores",
    read: DOT,
    begin: "one query and one key, two rows of d_k numbers. Which one number says how \
        well the key answers the query? Then do it for all of them",
    print: "one score, and the query and the key that it is of",
    passed: "Entry (i, j) says how well key j answers query i: a row for each query, a \
        column for each key.",
    cases,
    reference: |input| &input.q * input.k.transpose(),
    mistakes: &[
        Mistake {
            name: "is the transpose, K Qᵀ",
            does: "It gives a row to each key and a column to each query, so a softmax \
                of its rows would share out each key among the queries",
            looks_right: "It has the right entries, and where there are as many \
                queries as keys the right shape",
            read: ROWS,
            answer: |input| &input.k * input.q.transpose(),
        },
        Mistake {
            name: "does not transpose the keys",
            does: "It multiplies q by k as it is, so that a query meets column j of the \
                keys, one feature of all keys, and not key j",
            looks_right: "Where there are as many keys as features, the shapes fit",
            read: DOT,
            answer: |input| &input.q * &input.k,
        },
        Mistake {
            name: "compares features with features",
            does: "It multiplies the columns of q by the columns of k, and adds up over \
                tokens",
            looks_right: "One of the two has to be transposed, and this transposes one",
            read: DOT,
            answer: |input| input.q.transpose() * &input.k,
        },
        Mistake {
            name: "gives cosines",
            does: "It divides each dot product by the lengths of its two rows, so that \
                no score is larger than 1",
            looks_right: "A cosine is large for rows that point the same way, and for \
                rows of length 1 it is the dot product",
            read: DOT,
            answer: |input| {
                input.each_pair(|q, k| dot(q, k) / (dot(q, q) * dot(k, k)).sqrt())
            },
        },
        Mistake {
            name: "measures distances",
            does: "It gives minus the distance between query and key, so that no score \
                is above 0",
            looks_right: "It is largest where query and key are alike",
            read: DOT,
            answer: |input| input.each_pair(|q, k| -distance(q, k)),
        },
        Mistake {
            name: "keeps only the product of the last feature",
            does: "Each product overwrites the one before it, and d_k − 1 features have \
                no say",
            looks_right: "It is the right loop, with = where += belongs",
            read: DOT,
            answer: |input| input.each_pair(|q, k| q[q.len() - 1] * k[k.len() - 1]),
        },
        Mistake {
            name: "divides by √d_k already",
            does: "These are the scaled scores, and here the bare dot products are asked \
                for",
            looks_right: "The formula of the whole head has this division",
            read: SCALE,
            answer: |input| input.each_pair(|q, k| dot(q, k) / (q.len() as f64).sqrt()),
        },
        Mistake {
            name: "compares keys with keys",
            does: "It takes the keys for the queries too, and q is never used",
            looks_right: "Where there are as many queries as keys the shape is right",
            read: DOT,
            answer: |input| &input.k * input.k.transpose(),
        },
    ],
    place: places::map,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_q: usize, n_kv: usize, d_k: usize, seed: u64| Case {
        sizes: format!("{n_q} queries, {n_kv} keys, d_k {d_k}"),
        square: n_q == n_kv && n_kv == d_k,
        input: Input {
            q: inputs::matrix(n_q, d_k, seed),
            k: inputs::matrix(n_kv, d_k, seed + 1),
        },
    };
    vec![case(3, 3, 3, 1), case(2, 5, 4, 3), case(6, 4, 2, 5)]
}

fn dot(q: &[f64], k: &[f64]) -> f64 {
    q.iter().zip(k).map(|(q, k)| q * k).sum()
}

fn distance(q: &[f64], k: &[f64]) -> f64 {
    q.iter().zip(k).map(|(q, k)| (q - k).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    fn verdict(answer: Scores) -> Verdict {
        EXERCISE.diagnose(|input| answer(&input.q, &input.k))
    }

    #[test]
    fn loops_that_add_up_from_the_last_feature_pass() {
        let answer: Scores = |q, k| {
            let mut scores = Matrix::zeros(q.nrows(), k.nrows());
            for c in (0..q.ncols()).rev() {
                for j in 0..k.nrows() {
                    for i in 0..q.nrows() {
                        scores[(i, j)] += q[(i, c)] * k[(j, c)];
                    }
                }
            }
            scores
        };
        assert_eq!(verdict(answer), Verdict::Passed);
    }

    #[test]
    fn the_transpose_of_k_times_q_turned_in_f32_passes() {
        let answer: Scores = |q, k| {
            let (q, k) = (q.map(|x| x as f32), k.map(|x| x as f32));
            (k * q.transpose()).transpose().map(f64::from)
        };
        assert_eq!(verdict(answer), Verdict::Passed);
    }

    #[test]
    fn as_many_keys_as_queries_is_right_only_for_equal_sizes() {
        let answer: Scores =
            |q, k| Matrix::from_fn(q.nrows(), q.nrows(), |i, j| q.row(i).dot(&k.row(j)));
        assert!(matches!(verdict(answer), Verdict::SquareOnly { .. }));
    }

    #[test]
    fn a_feature_beyond_the_last_is_a_panic() {
        let answer: Scores = |q, k| {
            let last = q.ncols();
            Matrix::from_fn(q.nrows(), k.nrows(), |i, j| q[(i, last)] * k[(j, last)])
        };
        assert!(matches!(
            verdict(answer),
            Verdict::Unknown { difference: Difference::Panic { .. }, .. }
        ));
    }
}
