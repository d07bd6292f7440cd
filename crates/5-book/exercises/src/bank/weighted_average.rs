//! The output of one query: `Σ_j a_j v_j`.

use std::process::ExitCode;

use attention::{Matrix, softmax_rows, weighted_values};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// The shares of one query, and the values that it averages.
pub struct Input {
    shares: Vec<f64>,
    values: Matrix,
}

impl Input {
    fn n_kv(&self) -> usize {
        self.values.nrows()
    }

    /// The value that gets the largest share.
    fn heaviest(&self) -> usize {
        let larger = |best, j| if self.shares[j] > self.shares[best] { j } else { best };
        (0..self.n_kv()).fold(0, larger)
    }
}

/// What the reader writes: from the shares of one query, one a value, and `values`,
/// `[n_kv, d_v]`, its output of d_v numbers.
pub type WeightedAverage = fn(shares: &[f64], values: &Matrix) -> Vec<f64>;

/// Checks an answer.
pub fn check(answer: WeightedAverage) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.shares, &input.values))
}

const AVERAGE: Section =
    Section::new("one-look-is-not-enough", "An average, with attention weights");
const WRONG: Section = Section::new("one-look-is-not-enough", "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Input, Vec<f64>> = Exercise {
    name: "weighted_average",
    title: "An average, with attention weights",
    read: AVERAGE,
    begin: "an output of zeros, as wide as a value: values.ncols() of them. Then ask \
        what one value, values.row(j), adds to it",
    print: "the output after each value",
    passed: "The output is an average: each of its numbers lies between the smallest and \
        the largest of the numbers that it was made from.",
    cases,
    reference: |input| average(&input.shares, &input.values),
    mistakes: &[
        Mistake {
            name: "takes the plain mean of the values",
            does: "Every value counts as much as every other, whatever its share is",
            looks_right: "It is an average too, and the same one where all shares are \
                equal",
            read: AVERAGE,
            answer: |input| {
                average(&vec![1.0 / input.n_kv() as f64; input.n_kv()], &input.values)
            },
        },
        Mistake {
            name: "adds the values up without their shares",
            does: "Every value counts in full, so that the output grows with the number \
                of values and can be larger than all of them",
            looks_right: "The formula is a sum, and this is the sum of all values",
            read: AVERAGE,
            answer: |input| average(&vec![1.0; input.n_kv()], &input.values),
        },
        Mistake {
            name: "divides by the number of values as well",
            does: "The shares have already divided the sum, and this divides it once \
                more",
            looks_right: "The mean of n numbers is their sum divided by n",
            read: AVERAGE,
            answer: divided_twice,
        },
        Mistake {
            name: "hands over only the value with the largest share",
            does: "It looks up one value, and the other shares have no effect",
            looks_right: "A head seems to pick the strongest link, and where one share \
                is near 1 the output is nearly the same",
            read: WRONG,
            answer: heaviest_only,
        },
        Mistake {
            name: "keeps only what the last value adds",
            does: "Each value overwrites what the ones before it had put there",
            looks_right: "It is the right loop, with = where += belongs",
            read: AVERAGE,
            answer: last_only,
        },
        Mistake {
            name: "takes the columns of the values for tokens",
            does: "It averages the features of each token, where it should average the \
                tokens, feature by feature",
            looks_right: "Where there are as many values as features, every shape fits",
            read: AVERAGE,
            answer: |input| average(&input.shares, &input.values.transpose()),
        },
    ],
    place: places::feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_kv: usize, d_v: usize, seed: u64| Case {
        sizes: format!("{n_kv} values of {d_v} numbers"),
        square: n_kv == d_v,
        input: Input {
            shares: softmax_rows(inputs::matrix(1, n_kv, seed)).as_slice().to_vec(),
            values: inputs::matrix(n_kv, d_v, seed + 1),
        },
    };
    vec![case(3, 3, 1), case(2, 4, 3), case(5, 2, 5)]
}

fn average(shares: &[f64], values: &Matrix) -> Vec<f64> {
    let attn = Matrix::from_row_slice(1, shares.len(), shares); // [1, n_kv]
    weighted_values(&attn, values.as_view()).as_slice().to_vec()
}

fn divided_twice(input: &Input) -> Vec<f64> {
    let n_kv = input.n_kv() as f64;
    average(&input.shares, &input.values).iter().map(|x| x / n_kv).collect()
}

fn heaviest_only(input: &Input) -> Vec<f64> {
    input.values.row(input.heaviest()).iter().copied().collect()
}

fn last_only(input: &Input) -> Vec<f64> {
    let last = input.n_kv() - 1;
    input.values.row(last).iter().map(|x| input.shares[last] * x).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    fn verdict(answer: WeightedAverage) -> Verdict {
        EXERCISE.diagnose(|input| answer(&input.shares, &input.values))
    }

    #[test]
    fn a_sum_for_each_feature_from_the_last_value_to_the_first_passes() {
        let answer: WeightedAverage = |shares, values| {
            let n_kv = shares.len();
            let sum = |c| (0..n_kv).rev().map(|j| shares[j] * values[(j, c)]).sum();
            (0..values.ncols()).map(sum).collect()
        };
        assert_eq!(verdict(answer), Verdict::Passed);
    }

    #[test]
    fn a_product_in_f32_passes() {
        let answer: WeightedAverage = |shares, values| {
            let attn = Matrix::from_row_slice(1, shares.len(), shares);
            let out = attn.map(|x| x as f32) * values.map(|x| x as f32);
            out.iter().map(|&x| f64::from(x)).collect()
        };
        assert_eq!(verdict(answer), Verdict::Passed);
    }

    #[test]
    fn as_many_outputs_as_values_is_right_only_for_equal_sizes() {
        let answer: WeightedAverage = |shares, values| {
            let n_kv = shares.len();
            let sum = |c| (0..n_kv).map(|j| shares[j] * values[(j, c)]).sum();
            (0..n_kv).map(sum).collect()
        };
        assert!(matches!(verdict(answer), Verdict::SquareOnly { .. }));
    }

    #[test]
    fn a_value_beyond_the_last_is_a_panic() {
        let answer: WeightedAverage = |shares, values| {
            values.row(shares.len()).iter().map(|x| shares[0] * x).collect()
        };
        assert!(matches!(
            verdict(answer),
            Verdict::Unknown { difference: Difference::Panic { .. }, .. }
        ));
    }
}
