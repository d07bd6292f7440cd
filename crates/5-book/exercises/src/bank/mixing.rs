//! The mixer: `Concat(head_1, …, head_h) W^O + b^O`.

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
    fn concat(&self) -> Matrix {
        heads::concat(&self.heads)
    }

    /// W^O with its bias so many times.
    fn with_biases(&self, times: usize) -> Linear {
        let bias = self.w_o.bias.as_ref().map(|bias| bias * times as f64);
        Linear { bias, ..self.w_o.clone() }
    }
}

impl Input {
    /// Each head times d_v rows of W^O from this one on, and the bias once.
    fn with_rows(&self, row: impl Fn(usize) -> usize) -> Matrix {
        let d_v = self.heads[0].ncols();
        let mut out = heads::project(&self.w_o, &(self.concat() * 0.0));
        for (i, head) in self.heads.iter().enumerate() {
            out += head * self.w_o.weight.rows(row(i), d_v);
        }
        out
    }
}

/// What the reader writes: from h outputs, `[n_tokens, d_v]` each, and W^O,
/// `[h · d_v, d_model]`, the output of the layer, `[n_tokens, d_model]`.
pub type Mix = fn(heads: &[Matrix], w_o: &Linear) -> Matrix;

/// Checks an answer.
pub fn check(answer: Mix) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.heads, &input.w_o))
}

const MIXER: Section = Section::new("a-lens-per-head", "The mixer, W^O");
const APART: Section = Section::new("a-lens-per-head", "Side by side is not together");
const STEPS: Section = Section::new("a-lens-per-head", "The steps, with shapes");
const AS_SUM: Section = Section::new("a-lens-per-head", "The same layer, as a sum");
const WRONG: Section = Section::new("a-lens-per-head", "What people get wrong");
const TURNED: Section =
    Section::new("one-matrix-many-heads", "The mistake that a square hides");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "mixing",
    title: "Mixing",
    read: MIXER,
    begin: "the heads side by side, as in the exercise before this one. Compare the width of a row with the shape of W^O",
    print: "the concatenation, and what W^O makes of it",
    passed: "Every number of the output is a weighted sum over all heads. Disturb one \
        head, and W^O can carry it into every column.",
    cases,
    reference: |input| heads::project(&input.w_o, &input.concat()),
    mistakes: &[
        Mistake {
            name: "leaves W^O out",
            does: "It gives back the concatenation, in which each column comes from one \
                head alone",
            looks_right: "With d_v = d_model / h the concatenation is as wide as a token",
            read: APART,
            answer: Input::concat,
        },
        Mistake {
            name: "multiplies by W^O transposed",
            does: "It reads the columns of W^O as rows, so each head is mixed by numbers \
                that belong to other places",
            looks_right: "PyTorch stores [out, in] and transposes; here W is [in, out], \
                and a square W^O fits both ways",
            read: TURNED,
            answer: |input| {
                let weight = input.w_o.weight.transpose();
                let turned = Linear { weight, ..input.w_o.clone() };
                heads::project(&turned, &input.concat())
            },
        },
        Mistake {
            name: "forgets the bias",
            does: "It multiplies by W^O and does not add b^O, so each column is off by one \
                number, the same for every token",
            looks_right: "Concat(…) W^O is how the paper writes it",
            read: MIXER,
            answer: |input| heads::project(&input.with_biases(0), &input.concat()),
        },
        Mistake {
            name: "adds the bias once for every head",
            does: "It adds b^O h times, and it belongs to the layer and not to a head",
            looks_right: "It stands inside the loop over heads, and with one head it is \
                right",
            read: AS_SUM,
            answer: |input| {
                let every_head = input.with_biases(input.heads.len());
                heads::project(&every_head, &input.concat())
            },
        },
        Mistake {
            name: "concatenates the heads in reverse order",
            does: "It begins with the last head, and W^O reads each head with the rows of \
                another",
            looks_right: "A concatenation has all heads in it, whatever their order",
            read: STEPS,
            answer: |input| {
                heads::project(&input.w_o, &heads::concat_reversed(&input.heads))
            },
        },
        Mistake {
            name: "interleaves the features of the heads before it mixes",
            does: "It sets feature 0 of every head side by side, then feature 1, and W^O \
                reads them with rows that are meant for others",
            looks_right: "Each row has all entries of its token",
            read: STEPS,
            answer: |input| {
                heads::project(&input.w_o, &heads::concat_interleaved(&input.heads))
            },
        },
        Mistake {
            name: "adds the bias to token 0 alone",
            does: "It adds b^O to one row of the output. It belongs to every token",
            looks_right: "With one token it is right",
            read: MIXER,
            answer: |input| {
                let mut out = heads::project(&input.with_biases(0), &input.concat());
                if let Some(bias) = &input.w_o.bias {
                    let mut token = out.row_mut(0);
                    token += bias;
                }
                out
            },
        },
        Mistake {
            name: "gives every head the first block of W^O",
            does: "It multiplies each head by the rows of head 0, which is the same as adding \
                up the bare heads and mixing the sum",
            looks_right: "Every head is as wide as that block is high",
            read: AS_SUM,
            answer: |input| input.with_rows(|_| 0),
        },
        Mistake {
            name: "lets the blocks of W^O overlap",
            does: "It starts the block of head i at row i and not at row i · d_v",
            looks_right: "Head 0 is right, and each block is d_v rows high",
            read: AS_SUM,
            answer: |input| input.with_rows(|i| i),
        },
        Mistake {
            name: "keeps only what the last head adds",
            does: "It writes `out = …` where `out += …` adds up, so each head overwrites the \
                one before",
            looks_right: "Every head is multiplied by its own rows of W^O",
            read: AS_SUM,
            answer: |input| {
                let mut heads = input.heads.clone();
                let last = heads.len() - 1;
                heads[..last].iter_mut().for_each(|head| head.fill(0.0));
                heads::project(&input.w_o, &heads::concat(&heads))
            },
        },
        Mistake {
            name: "takes the mean over heads and not the sum",
            does: "It divides what the heads wrote by h before it adds the bias",
            looks_right: "With a mean the output does not grow with the number of heads; \
                but W^O has learned its size, and nothing else may change it",
            read: AS_SUM,
            answer: |input| {
                let mean = input.concat() / input.heads.len() as f64;
                heads::project(&input.w_o, &mean)
            },
        },
        Mistake {
            name: "sums the heads as they are",
            does: "It sums the outputs of the heads and never applies W^O, so feature 0 \
                of every head lands in column 0",
            looks_right: "The layer is a sum over heads; but each goes through rows of \
                W^O of its own first. Where d_v = d_model the shape is right",
            read: AS_SUM,
            answer: |input| input.heads.iter().sum(),
        },
        Mistake {
            name: "averages the heads as they are",
            does: "It takes the mean of the outputs of the heads and never applies W^O",
            looks_right: "Several opinions are often averaged, and where d_v = d_model \
                the shape is right",
            read: AS_SUM,
            answer: |input| input.heads.iter().sum::<Matrix>() / input.heads.len() as f64,
        },
        Mistake {
            name: "applies W^O twice",
            does: "It projects what W^O has already mixed",
            looks_right: "A square W^O takes its own output, and a layer that has W^O \
                inside is easily given another outside",
            read: WRONG,
            answer: |input| {
                let once = heads::project(&input.w_o, &input.concat());
                heads::project(&input.w_o, &once)
            },
        },
        Mistake {
            name: "lets the heads overlap in the concatenation",
            does: "It puts head i at column i and not at column i · d_v, so each covers most of the one before",
            looks_right: "The last head is whole",
            read: STEPS,
            answer: |input| {
                let (n_tokens, d_v) = input.heads[0].shape();
                let mut concat = Matrix::zeros(n_tokens, input.heads.len() * d_v);
                for (i, head) in input.heads.iter().enumerate() {
                    concat.columns_mut(i, d_v).copy_from(head);
                }
                heads::project(&input.w_o, &concat)
            },
        },
        Mistake {
            name: "writes every head over the first",
            does: "It puts each head at column 0, so the last one is left there and the other columns are 0",
            looks_right: "The last head is whole, and the shape is right",
            read: STEPS,
            answer: |input| {
                let (n_tokens, d_v) = input.heads[0].shape();
                let mut concat = Matrix::zeros(n_tokens, input.heads.len() * d_v);
                concat.columns_mut(0, d_v).copy_from(&input.heads[input.heads.len() - 1]);
                heads::project(&input.w_o, &concat)
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
    // In the last a head is as wide as the model, so that a bare sum of heads has the shape.
    vec![
        case(3, 2, 3, 6, 1),
        case(4, 3, 2, 5, 2),
        case(5, 2, 3, 9, 3),
        case(3, 2, 4, 4, 4),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    /// `z_j`, one sum after the other, the last head first.
    fn in_loops(input: &Input, d_out: usize) -> Matrix {
        let Input { heads, w_o } = input;
        let (n_tokens, d_v) = heads[0].shape();
        Matrix::from_fn(n_tokens, d_out, |token, j| {
            let mut z_j = 0.0;
            for i in (0..heads.len()).rev() {
                for c in 0..d_v {
                    z_j += heads[i][(token, c)] * w_o.weight[(i * d_v + c, j)];
                }
            }
            z_j + w_o.bias.as_ref().map_or(0.0, |bias| bias[j])
        })
    }

    #[test]
    fn right_answers_written_otherwise_pass() {
        let loops = |input: &Input| in_loops(input, input.w_o.d_out());
        assert_eq!(EXERCISE.diagnose(loops), Verdict::Passed);
        let in_f32 = |input: &Input| {
            let concat = input.concat().map(|x| x as f32);
            input.w_o.cast::<f32>().forward(&concat).unwrap().map(f64::from)
        };
        assert_eq!(EXERCISE.diagnose(in_f32), Verdict::Passed);
    }

    #[test]
    fn an_output_as_wide_as_the_heads_is_right_only_where_w_o_is_square() {
        let verdict = EXERCISE.diagnose(|input| in_loops(input, input.w_o.d_in()));
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told_and_not_guessed_at() {
        let verdict = EXERCISE.diagnose(|input| &input.heads[0] * &input.w_o.weight);
        let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict
        else {
            panic!("{verdict:?}");
        };
    }
}
