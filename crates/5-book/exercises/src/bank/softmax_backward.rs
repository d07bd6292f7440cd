//! Backwards through softmax: `dS = A ⊙ (dA − row sums of A ⊙ dA)`.

use std::process::ExitCode;

use attention::{Mask, Matrix};
use gradients::softmax_rows_backward;

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// A map, and the gradient of the loss with respect to it.
pub struct Input {
    attn: Matrix,
    d_attn: Matrix,
}

impl Input {
    /// `a · (d_a − off)` in every entry: `off(i, k)` is what is taken off.
    fn taken_off(&self, off: impl Fn(usize, usize) -> f64) -> Matrix {
        let (n_q, n_kv) = self.attn.shape();
        Matrix::from_fn(n_q, n_kv, |i, k| {
            self.attn[(i, k)] * (self.d_attn[(i, k)] - off(i, k))
        })
    }

    /// The shares of row i, each times its gradient, added up.
    fn dot(&self, i: usize) -> f64 {
        self.attn.row(i).dot(&self.d_attn.row(i))
    }

    fn right(&self) -> Matrix {
        softmax_rows_backward(&self.attn, self.d_attn.clone()).expect("one shape")
    }
}

/// What the reader writes: from `attn` and `d_attn`, `[n_q, n_kv]` both, the gradient of
/// the scores, `[n_q, n_kv]`.
pub type SoftmaxBackward = fn(attn: &Matrix, d_attn: &Matrix) -> Matrix;

/// Checks an answer.
pub fn check(answer: SoftmaxBackward) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.attn, &input.d_attn))
}

const CHAPTER: &str = "the-backward-pass";
const SOFTMAX: Section = Section::new(CHAPTER, "Softmax: one dot product per row");
const CANNOT: Section = Section::new(CHAPTER, "What cannot learn");
const WRONG: Section = Section::new(CHAPTER, "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "softmax_backward",
    title: "Softmax, backwards",
    read: SOFTMAX,
    begin: "one row, and the one number that all of its entries need: its shares, each \
        times its own gradient, added up",
    print: "one row: its shares, its gradients and their dot product",
    passed: "Every row sums to 0, and a key with a share of 0 gets nothing. Of all the n² derivatives of a row, one dot product is needed.",
    cases,
    reference: Input::right,
    mistakes: &[
        Mistake {
            name: "moves each share as if it could grow alone",
            does: "It takes a (1 − a) · da in every entry, which is the diagonal of the \
                Jacobian; but a score moves every share of its row",
            looks_right: "It is the derivative of a share by its own score, and for the \
                sigmoid it would be all there is",
            read: WRONG,
            answer: |input| input.attn.zip_map(&input.d_attn, |a, d| a * (1.0 - a) * d),
        },
        Mistake {
            name: "sums the columns and not the rows",
            does: "It subtracts what one key got from all queries, and a softmax knows \
                nothing of other queries",
            looks_right: "It is the same sum of products, and a square map has as many \
                columns as rows",
            read: SOFTMAX,
            answer: |input| {
                let dot = |k| input.attn.column(k).dot(&input.d_attn.column(k));
                input.taken_off(|_, k| dot(k))
            },
        },
        Mistake {
            name: "sums the gradients without their shares",
            does: "It subtracts the plain sum of the row of dA, as if every share were 1",
            looks_right: "There is one number per row, and it is subtracted from every entry",
            read: SOFTMAX,
            answer: |input| input.taken_off(|i, _| input.d_attn.row(i).sum()),
        },
        Mistake {
            name: "subtracts the plain average of the row",
            does: "It counts every key alike, where a key counts as much as its share",
            looks_right: "A key that is better than the average should gain; and with equal shares \
                it is right",
            read: SOFTMAX,
            answer: |input| input.taken_off(|i, _| input.d_attn.row(i).mean()),
        },
        Mistake {
            name: "divides the dot product by the number of keys",
            does: "It makes a mean of what is one already: the shares sum to 1, so the \
                sum of shares times gradients is an average as it stands",
            looks_right: "An average is divided by how many there are",
            read: SOFTMAX,
            answer: |input| {
                input.taken_off(|i, _| input.dot(i) / input.attn.ncols() as f64)
            },
        },
        Mistake {
            name: "has every sign reversed",
            does: "It subtracts the gradient from the dot product, so every score is sent the wrong way",
            looks_right: "Every size is right, and every row sums to 0",
            read: SOFTMAX,
            answer: |input| -input.right(),
        },
        Mistake {
            name: "multiplies the gradient by its share twice",
            does: "It subtracts the row's sum from a · da, and not from da, and multiplies by \
                the shares once more. The Jacobian without its diagonal gives the same: \
                then what a score does to its own share is missing",
            looks_right: "The products are needed for the sum, so they are at hand where dA \
                itself belongs",
            read: SOFTMAX,
            answer: |input| {
                let d_attn = input.attn.component_mul(&input.d_attn);
                let product = Input { attn: input.attn.clone(), d_attn };
                product.taken_off(|i, _| input.dot(i))
            },
        },
        Mistake {
            name: "subtracts the sum after it has multiplied by the share",
            does: "It computes a · da − Σ a · da: the share multiplies the gradient \
                alone and not the sum, which is then subtracted from every key in full, also \
                off one that was never read",
            looks_right: "The same two terms, and one pair of brackets less",
            read: SOFTMAX,
            answer: |input| {
                let (a, d) = (&input.attn, &input.d_attn);
                Matrix::from_fn(a.nrows(), a.ncols(), |i, k| {
                    a[(i, k)] * d[(i, k)] - input.dot(i)
                })
            },
        },
        Mistake {
            name: "stops at the shares times their gradients",
            does: "It gives back a · da and subtracts nothing, as if a share could grow \
                and no other had to give",
            looks_right: "Each gradient counts by its share, and blocked keys get 0",
            read: SOFTMAX,
            answer: |input| input.taken_off(|_, _| 0.0),
        },
        Mistake {
            name: "adds the dot product instead of subtracting it",
            does: "It computes a (da + Σ a · da), so a key that is no better than the \
                average gains",
            looks_right: "Every size is right, and blocked keys get 0",
            read: SOFTMAX,
            answer: |input| input.taken_off(|i, _| -input.dot(i)),
        },
        Mistake {
            name: "leaves out the share in front",
            does: "It stops at the bracket, da − Σ a · da, and a key that was hardly read \
                gets as much as one that was read",
            looks_right: "The bracket says which key is better than the average, which is the \
                idea of it",
            read: SOFTMAX,
            answer: |input| {
                let d = &input.d_attn;
                Matrix::from_fn(d.nrows(), d.ncols(), |i, k| d[(i, k)] - input.dot(i))
            },
        },
        Mistake {
            name: "divides by the sum of the shares",
            does: "It divides the dot product by what the row of shares sums to. A query \
                that attends to nothing has a row of zeros, and 0 / 0 is NaN",
            looks_right: "An average is divided by the sum of what it is weighed by, and \
                that sum is 1 in every other row",
            read: CANNOT,
            answer: |input| {
                input.taken_off(|i, _| input.dot(i) / input.attn.row(i).sum())
            },
        },
        Mistake {
            name: "reads the map transposed",
            does: "It multiplies by attn[(k, i)] where attn[(i, k)] belongs",
            looks_right: "With as many keys as queries there is such an entry",
            read: SOFTMAX,
            answer: |input| {
                Matrix::from_fn(input.attn.nrows(), input.attn.ncols(), |i, k| {
                    input.attn[(k, i)] * (input.d_attn[(i, k)] - input.dot(i))
                })
            },
        },
        Mistake {
            name: "reads the gradient transposed",
            does: "It takes d_attn[(k, i)] where d_attn[(i, k)] belongs",
            looks_right: "With as many keys as queries there is such an entry",
            read: SOFTMAX,
            answer: |input| {
                Matrix::from_fn(input.attn.nrows(), input.attn.ncols(), |i, k| {
                    input.attn[(i, k)] * (input.d_attn[(k, i)] - input.dot(i))
                })
            },
        },
    ],
    place: places::map,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_q: usize, n_kv: usize, blocked: bool, seed: u64| {
        let (mask, open) = match blocked {
            true => {
                (inputs::some_blocked(n_q, n_kv), "; some keys blocked, for query 1 all")
            }
            false => (Mask::None, ""),
        };
        Case {
            sizes: format!("{n_q} queries, {n_kv} keys{open}"),
            square: n_q == n_kv,
            input: Input {
                attn: inputs::map(n_q, n_kv, &mask, seed),
                d_attn: inputs::matrix(n_q, n_kv, seed + 1),
            },
        }
    };
    vec![case(3, 3, false, 1), case(2, 5, false, 3), case(5, 4, true, 5)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::slopes;
    use crate::{Difference, Verdict};

    /// `Σ d_a · softmax(s)`: its slopes are what is asked for. A share of 0 comes from a
    /// score of −∞.
    fn loss(input: &Input, scores: &Matrix) -> f64 {
        let row = |i: usize| {
            let exp: Vec<f64> = scores.row(i).iter().map(|s| s.exp()).collect();
            let sum: f64 = exp.iter().sum();
            let share = |k: usize| if sum == 0.0 { 0.0 } else { exp[k] / sum };
            (0..exp.len()).map(|k| share(k) * input.d_attn[(i, k)]).sum::<f64>()
        };
        (0..scores.nrows()).map(row).sum()
    }

    #[test]
    fn central_differences_pass() {
        let nudged = |input: &Input| {
            slopes::of(&input.attn.map(f64::ln), |scores| loss(input, scores))
        };
        assert_eq!(EXERCISE.diagnose(nudged), Verdict::Passed);
    }

    #[test]
    fn the_jacobian_of_each_row_in_f32_passes() {
        let with_jacobian = |input: &Input| {
            let (attn, d_attn) =
                (input.attn.map(|a| a as f32), input.d_attn.map(|d| d as f32));
            let mut d_scores = attn.clone();
            for (i, a) in attn.row_iter().enumerate() {
                let jacobian = Matrix::from_diagonal(&a.transpose()) - a.transpose() * a;
                d_scores.set_row(i, &(d_attn.row(i) * jacobian));
            }
            d_scores.map(f64::from)
        };
        assert_eq!(EXERCISE.diagnose(with_jacobian), Verdict::Passed);
    }

    #[test]
    fn as_many_keys_as_queries_is_right_only_for_squares() {
        let n_q_keys = |input: &Input| {
            let n = input.attn.nrows();
            let (a, d) = (&input.attn, &input.d_attn);
            input.taken_off(|i, _| (0..n).map(|k| a[(i, k)] * d[(i, k)]).sum())
        };
        let verdict = EXERCISE.diagnose(n_q_keys);
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told_and_not_guessed_at() {
        let past_the_end =
            |input: &Input| input.taken_off(|i, _| input.d_attn[(i, input.attn.ncols())]);
        let verdict = EXERCISE.diagnose(past_the_end);
        let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict
        else {
            panic!("{verdict:?}");
        };
    }
}
