//! Heads side by side: `Concat(head_1, …, head_h)`.

use std::process::ExitCode;

use attention::Matrix;

use super::heads;
use crate::{Case, Exercise, Mistake, Place, Section};

/// What the heads put out.
pub struct Input {
    heads: Vec<Matrix>,
}

impl Input {
    fn n_heads(&self) -> usize {
        self.heads.len()
    }

    fn n_tokens(&self) -> usize {
        self.heads[0].nrows()
    }

    fn d_v(&self) -> usize {
        self.heads[0].ncols()
    }

    /// `[n_tokens, h · d_v]`, filled row by row from a line of numbers.
    fn row_by_row(&self, line: impl IntoIterator<Item = f64>) -> Matrix {
        Matrix::from_row_iterator(self.n_tokens(), self.n_heads() * self.d_v(), line)
    }
}

/// What the reader writes: from h outputs, `[n_tokens, d_v]` each, one matrix
/// `[n_tokens, h · d_v]`.
pub type Concat = fn(heads: &[Matrix]) -> Matrix;

/// Checks an answer.
pub fn check(answer: Concat) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.heads))
}

const STEPS: Section = Section::new("a-lens-per-head", "The steps, with shapes");
const CODE: Section = Section::new("a-lens-per-head", "The heads in code");
const AS_SUM: Section = Section::new("a-lens-per-head", "The same layer, as a sum");
const VIEWS: Section = Section::new(
    "one-matrix-many-heads",
    "What others do: view (or reshape), then transpose",
);
const MEMORY: Section =
    Section::new("one-matrix-many-heads", "How a matrix lies in memory");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "concatenation",
    title: "Concatenation",
    read: CODE,
    begin: "the shape of the result: as many rows as one head has, and as many columns as \
        all heads together. Then say which head fills column 0, and which the last",
    print: "your matrix after each head",
    passed: "Head i fills the columns i · d_v to (i + 1) · d_v, in every row. No number \
        has met another: the heads lie side by side and are not mixed yet.",
    cases,
    reference: |input| heads::concat(&input.heads),
    mistakes: &[
        Mistake {
            name: "interleaves the features of the heads",
            does: "It writes feature 0 of every head, then feature 1 of every head, and \
                so on",
            looks_right: "All numbers of a token are in its row; but W^O reads each with \
                a row that is meant for another",
            read: STEPS,
            answer: |input| heads::concat_interleaved(&input.heads),
        },
        Mistake {
            name: "sets the heads side by side in reverse order",
            does: "It begins with the last head",
            looks_right: "Each block is a whole head; only W^O knows which should come \
                first",
            read: STEPS,
            answer: |input| heads::concat_reversed(&input.heads),
        },
        Mistake {
            name: "views the stacked heads as rows without the transpose",
            does: "It lays head after head in one line, each row by row, and cuts the line \
                into rows again, so that the first rows hold tokens of head 0 alone",
            looks_right: "It is a view of (h, n, d_v) as (n, h · d_v): the numbers are all \
                there, and the shape is right",
            read: VIEWS,
            answer: view_without_transpose,
        },
        Mistake {
            name: "fills rows from numbers that lie in columns",
            does: "It takes the numbers of each head as memory holds them, column after \
                column, and writes them row after row",
            looks_right: "An iterator over a matrix gives all of its numbers, and the \
                shape is right",
            read: MEMORY,
            answer: |input| input.row_by_row(input.heads.iter().flatten().copied()),
        },
        Mistake {
            name: "repeats the sum of the heads in every block",
            does: "It adds the heads up and sets h copies of the sum side by side, so that \
                nobody can tell any more which head said what",
            looks_right: "Concatenated and mixed is a sum over heads too, but there each \
                head first meets its own rows of W^O",
            read: AS_SUM,
            answer: repeated_sum,
        },
        Mistake {
            name: "starts head i at column i",
            does: "It should start at column i · d_v; so each head overwrites the one \
                before it, and the last columns stay 0",
            looks_right: "Head 0 starts where it should, and each block is d_v wide",
            read: CODE,
            answer: overlapping,
        },
    ],
    place: |input, Place { row, column, .. }| {
        let (head, feature) = (column / input.d_v(), column % input.d_v());
        format!("head {head}, token {row}, feature {feature}")
    },
};

fn cases() -> Vec<Case<Input>> {
    // The digits of a number say where it comes from.
    let named = |i, token, c| (100 * i + 10 * token + c) as f64;
    let case = |n_tokens: usize, n_heads: usize, d_v: usize| Case {
        sizes: format!(
            "{n_tokens} tokens, {n_heads} heads, d_v {d_v} \
             (120: head 1, token 2, feature 0)"
        ),
        square: n_tokens == n_heads && n_heads == d_v,
        input: Input {
            heads: (0..n_heads)
                .map(|i| Matrix::from_fn(n_tokens, d_v, |token, c| named(i, token, c)))
                .collect(),
        },
    };
    vec![case(3, 2, 4), case(3, 3, 3), case(5, 4, 3)]
}

fn view_without_transpose(input: &Input) -> Matrix {
    // nalgebra iterates column by column, and the columns of a transpose are rows.
    let by_rows = input.heads.iter().map(Matrix::transpose).collect::<Vec<_>>();
    input.row_by_row(by_rows.iter().flatten().copied())
}

fn repeated_sum(input: &Input) -> Matrix {
    let sum: Matrix = input.heads.iter().sum();
    heads::concat(&vec![sum; input.n_heads()])
}

fn overlapping(input: &Input) -> Matrix {
    let mut concat = Matrix::zeros(input.n_tokens(), input.n_heads() * input.d_v());
    for (i, head) in input.heads.iter().enumerate() {
        concat.columns_mut(i, input.d_v()).copy_from(head);
    }
    concat
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    /// Entry by entry, for heads that are taken to be so wide.
    fn in_loops(heads: &[Matrix], d_v: usize) -> Matrix {
        let mut concat = Matrix::zeros(heads[0].nrows(), heads.len() * d_v);
        for token in (0..heads[0].nrows()).rev() {
            for column in 0..concat.ncols() {
                concat[(token, column)] = heads[column / d_v][(token, column % d_v)];
            }
        }
        concat
    }

    #[test]
    fn right_answers_written_otherwise_pass() {
        let loops = |input: &Input| in_loops(&input.heads, input.d_v());
        assert_eq!(EXERCISE.diagnose(loops), Verdict::Passed);
        // Column after column is how nalgebra reads a line of numbers.
        let in_f32 = |input: &Input| {
            let line =
                input.heads.iter().flatten().map(|&x| f64::from(x as f32)).collect();
            Matrix::from_vec(input.n_tokens(), input.n_heads() * input.d_v(), line)
        };
        assert_eq!(EXERCISE.diagnose(in_f32), Verdict::Passed);
    }

    #[test]
    fn rows_taken_for_columns_are_right_only_where_they_are_as_many() {
        let verdict =
            EXERCISE.diagnose(|input| in_loops(&input.heads, input.heads[0].nrows()));
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told_and_not_guessed_at() {
        let verdict = EXERCISE.diagnose(|input| {
            let mut concat = Matrix::zeros(input.n_tokens(), input.d_v());
            for (i, head) in input.heads.iter().enumerate() {
                concat.columns_mut(i * input.d_v(), input.d_v()).copy_from(head);
            }
            concat
        });
        let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict
        else {
            panic!("{verdict:?}");
        };
    }
}
