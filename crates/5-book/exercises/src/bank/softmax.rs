//! From scores to shares, row by row.

use std::process::ExitCode;

use attention::{Matrix, softmax_rows};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// What the reader writes: from `scores`, `[n_q, n_kv]`, the shares, `[n_q, n_kv]`.
pub type Softmax = fn(scores: &Matrix) -> Matrix;

/// Checks an answer.
pub fn check(answer: Softmax) -> ExitCode {
    EXERCISE.check(answer)
}

const SHARES: Section =
    Section::new("scores-softmax-scale", "From scores to shares: softmax");
const STABLE: Section =
    Section::new("scores-softmax-scale", "A softmax that does not break");
const WRONG: Section = Section::new("scores-softmax-scale", "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Matrix, Matrix> = Exercise {
    name: "softmax",
    title: "Softmax",
    read: SHARES,
    begin: "one row: the exponential of each of its scores, and then the sum of these. \
        Ask next what a score of 1000 does to it",
    print: "one row: its exponentials and their sum",
    passed: "Every row is a row of shares: none is negative, together they are 1, and no \
        score is too large for it.",
    cases,
    reference: |scores| softmax_rows(scores.clone()),
    mistakes: &[
        Mistake {
            name: "works down the columns",
            does: "Each column sums to 1, so the queries share out a key, where a \
                query should share out its attention among keys",
            looks_right: "It is a softmax, and in self-attention the map is square",
            read: WRONG,
            answer: |scores| softmax_rows(scores.transpose()).transpose(),
        },
        Mistake {
            name: "takes the whole matrix as one row",
            does: "All entries together sum to 1, so that a query with low scores has \
                next to nothing to share out",
            looks_right: "The numbers are shares, and with one query it is right",
            read: SHARES,
            answer: |scores| shares_of(scores, largest(scores.iter()), Sum::OfMatrix),
        },
        Mistake {
            name: "does not subtract the maximum of the row",
            does: "A score of 1000 has an exponential that no f64 can hold, and ∞ / ∞ is \
                NaN; at scores of −1000 all exponentials are 0, and 0 / 0 is NaN too",
            looks_right: "It is the formula as it is written, and right for small scores",
            read: STABLE,
            answer: |scores| shares_of(scores, 0.0, Sum::OfRow),
        },
        Mistake {
            name: "subtracts the maximum of the whole matrix",
            does: "In a row that lies far below the others every exponential becomes 0, \
                and 0 / 0 is NaN",
            looks_right: "No exponential is larger than 1, and any number may be \
                subtracted from a row",
            read: STABLE,
            answer: |scores| shares_of(scores, largest(scores.iter()), Sum::OfRow),
        },
        Mistake {
            name: "starts its maximum at 0",
            does: "A fold from 0.0 never falls below it, so in a row of scores near −1000 \
                0 is subtracted, every exponential becomes 0, and 0 / 0 is NaN",
            looks_right: "A sum starts at 0; but a maximum starts at −∞, f64::NEG_INFINITY, \
                or at a score of the row",
            read: STABLE,
            answer: |scores| {
                from_each_row(scores, |row| row.iter().copied().fold(0.0, f64::max))
            },
        },
        Mistake {
            name: "subtracts the largest absolute value of the row",
            does: "It takes −1000 for larger than 0. A row whose largest score lies far below \
                that has exponentials of 0 alone, and 0 / 0 is NaN",
            looks_right: "No exponential is larger than 1, and where the largest score is \
                above 0 it is often right",
            read: STABLE,
            answer: |scores| from_each_row(scores, |row| row.amax()),
        },
        Mistake {
            name: "leaves the first key out of the maximum",
            does: "Where key 0 has the largest score, far above the others, its exponential \
                is one that no f64 can hold, and ∞ / ∞ is NaN",
            looks_right: "A loop from 1 is right if the maximum starts at score 0",
            read: STABLE,
            answer: |scores| from_each_row(scores, |row| largest(row.iter().skip(1))),
        },
        Mistake {
            name: "subtracts the smallest score of the row",
            does: "All exponents are 0 or more then, and in a row whose scores lie 1000 apart \
                one of them is too large: ∞ / ∞ is NaN",
            looks_right: "Any number may be subtracted from a row, and rows near 1000 and \
                near −1000 come out right",
            read: STABLE,
            answer: |scores| from_each_row(scores, |row| row.min()),
        },
        Mistake {
            name: "subtracts the mean of the row",
            does: "Half of the spread stays above 0, and in a row whose scores lie 2000 apart \
                that is too much: ∞ / ∞ is NaN",
            looks_right: "Any number may be subtracted from a row, and rows near 1000 and \
                near −1000 come out right",
            read: STABLE,
            answer: |scores| from_each_row(scores, |row| row.mean()),
        },
        Mistake {
            name: "subtracts the first score of the row",
            does: "A score that is larger than the first by 1000 has an exponential that no \
                f64 can hold, and ∞ / ∞ is NaN",
            looks_right: "Any number may be subtracted from a row, and it is right where the \
                first score is the largest, or near it",
            read: STABLE,
            answer: |scores| from_each_row(scores, |row| row[0]),
        },
        Mistake {
            name: "subtracts the last score of the row",
            does: "A score that is larger than the last by 1000 has an exponential that no \
                f64 can hold, and ∞ / ∞ is NaN",
            looks_right: "Any number may be subtracted from a row, and it is right where the \
                last score is the largest, or near it",
            read: STABLE,
            answer: |scores| from_each_row(scores, |row| row[row.len() - 1]),
        },
        Mistake {
            name: "does not divide by the sum of the row",
            does: "The largest share of each row is 1. Without any division it comes out \
                so, and with a division by the largest exponential too, which is exp(0)",
            looks_right: "The shares of a row stand in the right proportion to each \
                other",
            read: SHARES,
            answer: without_the_sum,
        },
        Mistake {
            name: "divides the scores by their sum and takes no exponential",
            does: "A negative score becomes a negative share, and where the scores of a \
                row cancel out the shares have no bound",
            looks_right: "Every row sums to 1",
            read: SHARES,
            answer: without_exp,
        },
        Mistake {
            name: "takes powers of 2 and not of e",
            does: "A score that is larger by 1 gets a share that is twice as large, \
                where it should be e ≈ 2.72 times",
            looks_right: "The rows are rows of shares, only less sharp",
            read: SHARES,
            answer: |scores| softmax_rows(scores * 2f64.ln()),
        },
        Mistake {
            name: "divides the scores by their sum and takes no exponential",
            does: "It takes the largest score of the row off and then divides by the sum, so the best key has a share of 0",
            looks_right: "Every row sums to 1",
            read: SHARES,
            answer: |scores| {
                let mut shares = scores.clone();
                for mut row in shares.row_iter_mut() {
                    let largest = row.max();
                    row.add_scalar_mut(-largest);
                    let sum = row.sum();
                    row /= sum;
                }
                shares
            },
        },
    ],
    place: places::map,
};

fn cases() -> Vec<Case<Matrix>> {
    let case = |n_q: usize, n_kv: usize, seed: u64| Case {
        sizes: format!("{n_q} queries, {n_kv} keys"),
        square: n_q == n_kv,
        input: inputs::matrix(n_q, n_kv, seed),
    };
    let mut far_apart = case(2, 3, 4);
    far_apart.sizes += ", scores near 1000 in row 0 and near −1000 in row 1";
    far_apart.input.row_mut(0).add_scalar_mut(1000.0);
    far_apart.input.row_mut(1).add_scalar_mut(-1000.0);
    // All below 0; then far apart within a row, with the largest first, between and last.
    let mut far_below = case(2, 4, 5);
    far_below.sizes += ", all scores near −1000";
    far_below.input.add_scalar_mut(-1000.0);
    let rows_of = |n_kv: usize, scores: &[f64], note: &str| Case {
        sizes: format!("{} queries, {n_kv} keys, {note}", scores.len() / n_kv),
        square: scores.len() == n_kv * n_kv,
        input: Matrix::from_row_slice(scores.len() / n_kv, n_kv, scores),
    };
    // Far apart, a map has one key to a query whatever it was made by. So the last rows are
    // ordinary: what is right here is right.
    let wide = [0.0, -500.0, -1000.0, -999.0, 1.0, -499.0];
    let ordinary = [0.5, -1.0, 1.5, -0.5, 1.0, 0.0];
    let falling = [wide, ordinary].concat();
    let note = "scores up to 1000 apart in rows 0 and 1";
    let wide = rows_of(3, &falling, note);
    let (low, high) = (-1000.0, 1000.0);
    let each_is_largest = [
        high, low, low, low, low, high, low, low, low, low, high, low, low, low, low,
        high, 0.5, -1.0, 1.5, -0.5,
    ];
    let note = "scores 2000 apart in rows 0 to 3";
    let widest = rows_of(4, &each_is_largest, note);
    vec![case(3, 3, 1), case(2, 5, 2), case(5, 2, 3), far_apart, far_below, wide, widest]
}

/// What the exponentials are divided by.
enum Sum {
    OfRow,
    OfMatrix,
}

/// `exp(s − subtracted)`, divided by the sum.
fn shares_of(scores: &Matrix, subtracted: f64, sum: Sum) -> Matrix {
    let exp = scores.map(|score| (score - subtracted).exp());
    match sum {
        Sum::OfRow => each_row(&exp, |row| row / row.sum()),
        Sum::OfMatrix => &exp / exp.sum(),
    }
}

/// Each row with a number of its own subtracted.
fn from_each_row(scores: &Matrix, subtracted: fn(&Matrix) -> f64) -> Matrix {
    each_row(scores, |row| shares_of(row, subtracted(row), Sum::OfRow))
}

fn without_the_sum(scores: &Matrix) -> Matrix {
    each_row(scores, |row| {
        let largest = largest(row.iter());
        row.map(|score| (score - largest).exp())
    })
}

fn without_exp(scores: &Matrix) -> Matrix {
    each_row(scores, |row| row / row.sum())
}

/// The rows of a matrix, each put through `f` as a matrix of one row.
fn each_row(matrix: &Matrix, f: impl Fn(&Matrix) -> Matrix) -> Matrix {
    let mut result = matrix.clone();
    for i in 0..matrix.nrows() {
        result.rows_mut(i, 1).copy_from(&f(&matrix.rows(i, 1).into_owned()));
    }
    result
}

fn largest<'a>(scores: impl Iterator<Item = &'a f64>) -> f64 {
    scores.copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    fn verdict(answer: Softmax) -> Verdict {
        EXERCISE.diagnose(answer)
    }

    /// A map of scores that lie far apart has a 1 in each row, however it was made.
    #[test]
    fn no_wrong_map_is_called_right_where_scores_lie_far_apart() {
        let wrong: [Softmax; 3] = [
            |scores| softmax_rows(scores * 2.0),
            |scores| softmax_rows(scores / 2.0),
            |scores| each_row(scores, |row| row.map(|s| f64::from(s == row.max()))),
        ];
        for answer in wrong {
            let Verdict::Unknown { right, .. } = verdict(answer) else { panic!("known") };
            assert_eq!(right, "");
        }
    }

    #[test]
    fn one_division_for_each_pair_of_keys_passes() {
        // a_ij = 1 / Σ_l exp(s_il − s_ij), which needs no maximum.
        let answer: Softmax = |scores| {
            let (n_q, n_kv) = scores.shape();
            Matrix::from_fn(n_q, n_kv, |i, j| {
                let ratio = |l| f64::exp(scores[(i, l)] - scores[(i, j)]);
                1.0 / (0..n_kv).rev().map(ratio).sum::<f64>()
            })
        };
        assert_eq!(verdict(answer), Verdict::Passed);
    }

    #[test]
    fn the_logarithm_of_the_sum_and_a_running_maximum_pass() {
        let with_logarithm: Softmax = |scores| {
            each_row(scores, |row| {
                let largest = row.max();
                let log_sum = row.map(|s| (s - largest).exp()).sum().ln() + largest;
                row.map(|s| (s - log_sum).exp())
            })
        };
        // One pass for maximum and sum together, one for the shares.
        let running: Softmax = |scores| {
            each_row(scores, |row| {
                let (mut largest, mut sum) = (row[0], 0.0);
                for &score in row.iter() {
                    let now = f64::max(largest, score);
                    sum = sum * f64::exp(largest - now) + (score - now).exp();
                    largest = now;
                }
                row.map(|s| (s - largest).exp() / sum)
            })
        };
        assert_eq!(verdict(with_logarithm), Verdict::Passed);
        assert_eq!(verdict(running), Verdict::Passed);
    }

    #[test]
    fn loops_in_f32_pass() {
        let answer: Softmax = |scores| {
            let mut shares = scores.map(|score| score as f32);
            for mut row in shares.row_iter_mut() {
                let largest = row.max();
                row.apply(|score| *score = (*score - largest).exp());
                let sum = row.sum();
                row /= sum;
            }
            shares.map(f64::from)
        };
        assert_eq!(verdict(answer), Verdict::Passed);
    }

    #[test]
    fn as_many_keys_as_queries_is_right_only_for_equal_sizes() {
        let answer: Softmax = |scores| {
            let n = scores.nrows();
            let mut shares = scores.clone();
            for i in 0..n {
                let exp = |j| f64::exp(scores[(i, j)] - scores.row(i).max());
                let sum: f64 = (0..n).map(exp).sum();
                for j in 0..n {
                    shares[(i, j)] = exp(j) / sum;
                }
            }
            shares
        };
        assert!(matches!(verdict(answer), Verdict::SquareOnly { .. }));
    }

    #[test]
    fn a_row_beyond_the_last_is_a_panic() {
        let answer: Softmax = |scores| scores.rows(1, scores.nrows()).into_owned();
        assert!(matches!(
            verdict(answer),
            Verdict::Unknown { difference: Difference::Panic { .. }, .. }
        ));
    }
}
