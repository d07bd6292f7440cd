//! From ids to vectors: `√d_model · E[id] + P[t]`.

use std::process::ExitCode;

use attention::Matrix;
use block::{Embedding, Positions, sinusoidal};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// Ids of sequences of equal length, one after the other, and a vector for each token of
/// the vocabulary.
pub struct Input {
    ids: Vec<usize>,
    n_tokens: usize,
    table: Matrix,
}

impl Input {
    fn d_model(&self) -> usize {
        self.table.ncols()
    }

    fn root(&self) -> f64 {
        (self.d_model() as f64).sqrt()
    }

    fn right(&self) -> Matrix {
        let embedding = Embedding {
            tokens: self.table.clone(),
            scale: self.root(),
            positions: Positions::Fixed(sinusoidal(self.n_tokens, self.d_model())),
        };
        embedding.forward(&self.ids, self.n_tokens).expect("every id has its row")
    }

    /// `token` and `position` of each entry, added up; both get the row, and the column.
    fn sum(
        &self,
        token: impl Fn(usize, usize) -> f64,
        position: impl Fn(usize, usize) -> f64,
    ) -> Matrix {
        Matrix::from_fn(self.ids.len(), self.d_model(), |row, column| {
            token(row, column) + position(row, column)
        })
    }

    /// The token's entry, scaled.
    fn token(&self, row: usize, column: usize) -> f64 {
        self.root() * self.table[(self.ids[row], column)]
    }

    /// The position of a row.
    fn place(&self, row: usize) -> f64 {
        (row % self.n_tokens) as f64
    }

    /// The right tokens, and sine or cosine of another angle: `of(t, column)`.
    fn with_angle(&self, of: impl Fn(f64, usize) -> f64) -> Matrix {
        self.sum(
            |row, column| self.token(row, column),
            |row, column| wave(column, of(self.place(row), column)),
        )
    }

    /// 10000^(2i / d_model), for the pair i.
    fn slowness(&self, column: usize) -> f64 {
        10_000_f64.powf((column / 2 * 2) as f64 / self.d_model() as f64)
    }

    /// What the paper adds.
    fn position(&self, row: usize, column: usize) -> f64 {
        wave(column, self.place(row) / self.slowness(column))
    }
}

/// Sine in even columns, cosine in odd ones.
fn wave(column: usize, angle: f64) -> f64 {
    if column.is_multiple_of(2) { angle.sin() } else { angle.cos() }
}

/// What the reader writes: from the ids of sequences of `n_tokens` each, and the table of
/// tokens, `[n_vocabulary, d_model]`, the vectors that enter the first block,
/// `[n_sequences · n_tokens, d_model]`.
pub type Embed = fn(ids: &[usize], n_tokens: usize, table: &Matrix) -> Matrix;

/// Checks an answer.
pub fn check(answer: Embed) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.ids, input.n_tokens, &input.table))
}

const POSITIONS: Section = Section::new("the-block", "Positions");
const WRONG: Section = Section::new("the-block", "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "positions",
    title: "Tokens and their positions",
    read: POSITIONS,
    begin: "position 0: which angles does it have, and what are their sines and cosines? \
        Then the same token at position 1",
    print: "the row of position 1 without its token: the angles are 1 for the first pair, and \
        smaller for each pair after it",
    passed: "The same token has another vector in another place, and each sequence begins \
        at position 0.",
    cases,
    reference: Input::right,
    mistakes: &[
        Mistake {
            name: "forgets √d_model",
            does: "It adds the positions to the bare tokens, and they drown them where the \
                table starts as small as the paper's",
            looks_right: "The formula of the positions is right, and BERT has no such factor",
            read: WRONG,
            answer: |input| {
                input.sum(
                    |row, column| input.table[(input.ids[row], column)],
                    |row, column| input.position(row, column),
                )
            },
        },
        Mistake {
            name: "multiplies by d_model and not by its root",
            does: "Tokens are √d_model times too large, and positions hardly count",
            looks_right: "The factor is there",
            read: POSITIONS,
            answer: |input| {
                input.sum(
                    |row, column| input.root() * input.token(row, column),
                    |row, column| input.position(row, column),
                )
            },
        },
        Mistake {
            name: "scales the positions too",
            does: "It multiplies the sum by √d_model, so positions are as loud next to \
                their tokens as without the factor",
            looks_right: "The factor stands in front",
            read: WRONG,
            answer: |input| {
                input.sum(
                    |row, column| input.token(row, column),
                    |row, column| input.root() * input.position(row, column),
                )
            },
        },
        Mistake {
            name: "adds the positions twice",
            does: "Every position counts double",
            looks_right: "One helper adds them to the table, and another to the tokens",
            read: WRONG,
            answer: |input| {
                input.sum(
                    |row, column| input.token(row, column),
                    |row, column| 2.0 * input.position(row, column),
                )
            },
        },
        Mistake {
            name: "adds no positions",
            does: "The same token has the same vector in every place, and no layer behind \
                it can know the order",
            looks_right: "The tokens are right",
            read: POSITIONS,
            answer: |input| input.sum(|row, column| input.token(row, column), |_, _| 0.0),
        },
        Mistake {
            name: "goes on counting from one sequence to the next",
            does: "The second sequence begins at position n_tokens, as if it were the rest \
                of the first",
            looks_right: "With one sequence it is right",
            read: POSITIONS,
            answer: |input| {
                input.sum(
                    |row, column| input.token(row, column),
                    |row, column| wave(column, row as f64 / input.slowness(column)),
                )
            },
        },
        Mistake {
            name: "counts positions from 1",
            does: "Every token stands one place further than it does",
            looks_right: "Similarities of positions depend on their distance alone, and \
                distances are right",
            read: POSITIONS,
            answer: |input| {
                input.with_angle(|place, column| (place + 1.0) / input.slowness(column))
            },
        },
        Mistake {
            name: "takes the id as the position",
            does: "It looks the position up by the token's id, so a token has the same \
                vector in every place",
            looks_right: "Both tables are read with an index",
            read: POSITIONS,
            answer: |input| {
                input.sum(
                    |row, column| input.token(row, column),
                    |row, column| {
                        wave(column, input.ids[row] as f64 / input.slowness(column))
                    },
                )
            },
        },
        Mistake {
            name: "gives each column an angle of its own",
            does: "It puts the column in the exponent where the pair belongs, so sine and \
                cosine of a pair are not of one angle, and a step no longer rotates it",
            looks_right: "Column 2i is right: only the cosines have another angle",
            read: POSITIONS,
            answer: |input| {
                let d_model = input.d_model() as f64;
                input.with_angle(|place, column| {
                    place / 10_000_f64.powf(column as f64 / d_model)
                })
            },
        },
        Mistake {
            name: "divides by half of the exponent",
            does: "It uses i / d_model and not 2i / d_model, so the slowest hand goes a \
                hundred times too fast",
            looks_right: "i counts the pairs",
            read: POSITIONS,
            answer: |input| {
                let d_model = input.d_model() as f64;
                input.with_angle(|place, column| {
                    place / 10_000_f64.powf((column / 2) as f64 / d_model)
                })
            },
        },
        Mistake {
            name: "gives all pairs one angle",
            does: "Every pair has the angle t. So it is if 2i / d_model is divided as whole \
                numbers, which gives 0, or if the exponent is left out",
            looks_right: "The first pair is right, and the formula may read as it should: \
                in Rust 2 / 6 is 0, and 2.0 / 6.0 is not",
            read: POSITIONS,
            answer: |input| input.with_angle(|place, _| place),
        },
        Mistake {
            name: "has the sign of the exponent reversed",
            does: "It multiplies t by 10000^(2i / d_model), so later pairs go round faster \
                and not slower",
            looks_right: "The first pair is right",
            read: POSITIONS,
            answer: |input| {
                input.with_angle(|place, column| place * input.slowness(column))
            },
        },
        Mistake {
            name: "takes the sequence for the position",
            does: "It divides the row by n_tokens where it should take the remainder, so all \
                tokens of a sequence stand in one place",
            looks_right: "Of the two, the quotient and the remainder, one is the position",
            read: POSITIONS,
            answer: |input| {
                input.sum(
                    |row, column| input.token(row, column),
                    |row, column| {
                        let sequence = (row / input.n_tokens) as f64;
                        wave(column, sequence / input.slowness(column))
                    },
                )
            },
        },
        Mistake {
            name: "has sine and cosine exchanged",
            does: "Even columns get the cosine and odd ones the sine",
            looks_right: "Every angle is right",
            read: POSITIONS,
            answer: |input| {
                input.sum(
                    |row, column| input.token(row, column),
                    |row, column| {
                        wave(column + 1, input.place(row) / input.slowness(column))
                    },
                )
            },
        },
        Mistake {
            name: "puts all sines before all cosines",
            does: "The first half of the columns has the sines and the second the cosines. \
                Some code does it, and a model trained one way cannot be read the other way",
            looks_right: "It is the same set of numbers, in another order of columns",
            read: POSITIONS,
            answer: |input| {
                let half = input.d_model() / 2;
                input.sum(
                    |row, column| input.token(row, column),
                    |row, column| {
                        let pair = column % half;
                        let angle = input.place(row) / input.slowness(2 * pair);
                        wave(column / half, angle)
                    },
                )
            },
        },
        Mistake {
            name: "has sines in all columns",
            does: "Both columns of a pair get the sine of its angle",
            looks_right: "Every angle is right, and even columns are",
            read: POSITIONS,
            answer: |input| {
                input.sum(
                    |row, column| input.token(row, column),
                    |row, column| (input.place(row) / input.slowness(column)).sin(),
                )
            },
        },
        Mistake {
            name: "has cosines in all columns",
            does: "Both columns of a pair get the cosine of its angle",
            looks_right: "Every angle is right, and odd columns are",
            read: POSITIONS,
            answer: |input| {
                input.sum(
                    |row, column| input.token(row, column),
                    |row, column| (input.place(row) / input.slowness(column)).cos(),
                )
            },
        },
    ],
    place: places::token_feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_sequences: usize, n_tokens: usize, d_model: usize, seed: u64| {
        let n_vocabulary = 9;
        let ids = (0..n_sequences * n_tokens)
            .map(|row| (row * row + 3 * row + 2) % n_vocabulary);
        Case {
            sizes: format!("{n_sequences} × {n_tokens} tokens, d_model {d_model}"),
            square: false,
            input: Input {
                ids: ids.collect(),
                n_tokens,
                table: inputs::matrix(n_vocabulary, d_model, seed) * 0.4,
            },
        }
    };
    vec![case(1, 4, 6, 1), case(2, 5, 8, 2), case(3, 3, 4, 3)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// As complex numbers: pair i of position t is the t-th power of one rotation.
    #[test]
    fn rotations_one_step_at_a_time_pass() {
        let by_steps = |input: &Input| {
            let mut out = input.sum(|row, column| input.token(row, column), |_, _| 0.0);
            for row in 0..input.ids.len() {
                for pair in 0..input.d_model() / 2 {
                    let angle = 1.0 / input.slowness(2 * pair);
                    let (mut sine, mut cosine) = (0.0_f64, 1.0_f64);
                    for _ in 0..row % input.n_tokens {
                        let (s, c) = angle.sin_cos();
                        (sine, cosine) = (sine * c + cosine * s, cosine * c - sine * s);
                    }
                    out[(row, 2 * pair)] += sine;
                    out[(row, 2 * pair + 1)] += cosine;
                }
            }
            out
        };
        assert_eq!(EXERCISE.diagnose(by_steps), Verdict::Passed);
    }
}
