//! The layer as a sum: `Σ head_i W_i^O + b^O`.

use std::process::ExitCode;

use attention::{Linear, Matrix};

use super::{heads, places};
use crate::{Case, Exercise, Mistake, Section};

/// What the heads put out, and W^O.
pub struct Input {
    heads: Vec<Matrix>,
    w_o: Linear,
}

impl Input {
    /// `Σ head_i · block_i`, where feature c of head i meets row `row(i, c)` of W^O.
    fn sum(&self, row: impl Fn(usize, usize) -> usize) -> Matrix {
        let Self { heads, w_o } = self;
        let (n_tokens, d_v) = heads[0].shape();
        let write = |i: usize| {
            let block =
                Matrix::from_fn(d_v, w_o.d_out(), |c, j| w_o.weight[(row(i, c), j)]);
            &heads[i] * block // [n_tokens, d_model]
        };
        let none = Matrix::zeros(n_tokens, w_o.d_out());
        (0..heads.len()).map(write).fold(none, |sum, written| sum + written)
    }

    /// The sum in which every head meets its own rows.
    fn sum_of_own(&self) -> Matrix {
        let d_v = self.heads[0].ncols();
        self.sum(|i, c| i * d_v + c)
    }

    /// Adds the bias so many times.
    fn plus_bias(&self, mut out: Matrix, times: usize) -> Matrix {
        if let Some(bias) = &self.w_o.bias {
            for mut token in out.row_iter_mut() {
                token += bias * times as f64;
            }
        }
        out
    }
}

/// What the reader writes: from h outputs, `[n_tokens, d_v]` each, and W^O,
/// `[h · d_v, d_model]`, the output of the layer, `[n_tokens, d_model]`.
pub type SumOfHeads = fn(heads: &[Matrix], w_o: &Linear) -> Matrix;

/// Checks an answer.
pub fn check(answer: SumOfHeads) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.heads, &input.w_o))
}

const AS_SUM: Section = Section::new("a-lens-per-head", "The same layer, as a sum");
const MIXER: Section = Section::new("a-lens-per-head", "The mixer, W^O");
const TURNED: Section =
    Section::new("one-matrix-many-heads", "The mistake that a square hides");

/// The exercise. Its reference concatenates: that both are the same is what it shows.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "sum_over_heads",
    title: "Sum over heads",
    read: AS_SUM,
    begin: "an output of zeros, [n_tokens, d_model]. Then ask which rows of W^O head 0 \
        meets when the heads lie side by side, and which rows head 1 meets",
    print: "what each head adds",
    passed: "The check concatenated and mixed, you added up, and the numbers are the \
        same. Each head writes into the whole output by itself.",
    cases,
    reference: |input| heads::project(&input.w_o, &heads::concat(&input.heads)),
    mistakes: &[
        Mistake {
            name: "gives every head the first block of W^O",
            does: "It multiplies each head by W_0^O, which is the same as adding up the \
                bare heads and mixing the sum once",
            looks_right: "A sum of heads is as wide as one head, and one block fits it",
            read: AS_SUM,
            answer: |input| input.plus_bias(input.sum(|_, c| c), 1),
        },
        Mistake {
            name: "takes columns of W^O for rows",
            does: "Its block i is the columns i · d_v to (i + 1) · d_v, transposed, and so it \
                mixes with W^O transposed",
            looks_right: "The blocks of W^Q are columns, and with a square W^O it runs",
            read: TURNED,
            answer: columns_for_rows,
        },
        Mistake {
            name: "deals the rows of W^O out to the heads one by one",
            does: "Head i gets the rows i, i + h, i + 2h, …, as if the features of the \
                heads were interleaved",
            looks_right: "Every row of W^O is used once, and each head gets d_v of them",
            read: AS_SUM,
            answer: |input| {
                let n_heads = input.heads.len();
                input.plus_bias(input.sum(|i, c| i + c * n_heads), 1)
            },
        },
        Mistake {
            name: "lets the blocks of W^O overlap",
            does: "It starts the block of head i at row i and not at row i · d_v",
            looks_right: "Head 0 is right, and each block is d_v rows high",
            read: AS_SUM,
            answer: |input| input.plus_bias(input.sum(|i, c| i + c), 1),
        },
        Mistake {
            name: "adds the bias once for every head",
            does: "It adds b^O h times, and it belongs to the layer and not to a head",
            looks_right: "It stands inside the loop over heads, and with one head it is \
                right",
            read: AS_SUM,
            answer: |input| input.plus_bias(input.sum_of_own(), input.heads.len()),
        },
        Mistake {
            name: "takes the mean over heads and not the sum",
            does: "It divides what the heads wrote by h before it adds the bias",
            looks_right: "With a mean the output does not grow with the number of heads; \
                but W^O has learned its size, and nothing else may change it",
            read: MIXER,
            answer: |input| {
                let mean = input.sum_of_own() / input.heads.len() as f64;
                input.plus_bias(mean, 1)
            },
        },
        Mistake {
            name: "forgets the bias",
            does: "It adds up what the heads wrote and does not add b^O, so each column is \
                off by one number, the same for every token",
            looks_right: "The bias belongs to no head, so no term of the sum brings it",
            read: AS_SUM,
            answer: Input::sum_of_own,
        },
        Mistake {
            name: "keeps only what the last head adds",
            does: "It writes `=` where `+=` adds up, so each head overwrites the one before",
            looks_right: "Every head is multiplied by its own rows of W^O",
            read: AS_SUM,
            answer: |input| {
                let mut heads = input.heads.clone();
                let last = heads.len() - 1;
                heads[..last].iter_mut().for_each(|head| head.fill(0.0));
                heads::project(&input.w_o, &heads::concat(&heads))
            },
        },
    ],
    place: places::token_feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_tokens: usize, n_heads: usize, d_v: usize, d_model: usize, seed| Case {
        sizes: format!(
            "{n_tokens} tokens, {n_heads} heads, d_v {d_v}, d_model {d_model}"
        ),
        square: n_heads * d_v == d_model,
        input: Input {
            heads: heads::outputs(n_heads, n_tokens, d_v, seed),
            w_o: heads::mixer(n_heads, d_v, d_model, seed),
        },
    };
    vec![case(3, 2, 2, 4, 4), case(4, 3, 2, 5, 5), case(5, 2, 3, 9, 6)]
}

fn columns_for_rows(input: &Input) -> Matrix {
    let Input { heads, w_o } = input;
    let (n_tokens, d_v) = heads[0].shape();
    let mut out = Matrix::zeros(n_tokens, w_o.d_out());
    for (i, head) in heads.iter().enumerate() {
        out += head * w_o.weight.columns(i * d_v, d_v).transpose();
    }
    input.plus_bias(out, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    /// Row by row of W^O, from the last to the first, for heads that are so wide.
    fn in_loops(input: &Input, d_v: usize) -> Matrix {
        let Input { heads, w_o } = input;
        let mut out = Matrix::zeros(heads[0].nrows(), w_o.d_out());
        for (i, head) in heads.iter().enumerate().rev() {
            for c in (0..head.ncols()).rev() {
                out += head.column(c) * w_o.weight.row(i * d_v + c);
            }
        }
        input.plus_bias(out, 1)
    }

    #[test]
    fn right_answers_written_otherwise_pass() {
        let loops = |input: &Input| in_loops(input, input.heads[0].ncols());
        assert_eq!(EXERCISE.diagnose(loops), Verdict::Passed);
        let in_f32 = |input: &Input| {
            let w_o = input.w_o.cast::<f32>();
            let d_v = input.heads[0].ncols();
            let mut out = Matrix::<f32>::zeros(input.heads[0].nrows(), w_o.d_out());
            for (i, head) in input.heads.iter().enumerate() {
                out += head.map(|x| x as f32) * w_o.weight.rows(i * d_v, d_v);
            }
            input.plus_bias(out.map(f64::from), 1)
        };
        assert_eq!(EXERCISE.diagnose(in_f32), Verdict::Passed);
    }

    #[test]
    fn a_width_of_d_model_by_h_is_right_only_where_it_is_d_v() {
        let verdict = EXERCISE
            .diagnose(|input| in_loops(input, input.w_o.d_out() / input.heads.len()));
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told_and_not_guessed_at() {
        let verdict = EXERCISE.diagnose(|input| {
            let sum: Matrix = input.heads.iter().sum();
            sum * &input.w_o.weight
        });
        let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict
        else {
            panic!("{verdict:?}");
        };
    }
}
