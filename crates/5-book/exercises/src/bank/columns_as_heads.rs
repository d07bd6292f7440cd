//! Heads as blocks of columns of one wide projection.

use std::process::ExitCode;

use attention::Matrix;

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// One wide projection, and the number of heads in it.
pub struct Input {
    q: Matrix,
    n_heads: usize,
}

impl Input {
    fn d_k(&self) -> usize {
        self.q.ncols() / self.n_heads
    }

    /// One matrix a head, `[n_tokens, d_k]`, from a rule for its entries.
    fn heads(&self, entry: impl Fn(usize, usize, usize) -> f64) -> Vec<Matrix> {
        let head = |i| {
            Matrix::from_fn(self.q.nrows(), self.d_k(), |token, c| entry(i, token, c))
        };
        (0..self.n_heads).map(head).collect()
    }

    /// The entry at this place when the numbers are read row by row, as they lie in the
    /// memory of a row-major framework.
    fn row_major(&self, at: usize) -> f64 {
        self.q[(at / self.q.ncols(), at % self.q.ncols())]
    }
}

/// What the reader writes: from `q`, `[n_tokens, h · d_k]`, one `[n_tokens, d_k]` a head.
pub type SplitHeads = fn(q: &Matrix, n_heads: usize) -> Vec<Matrix>;

/// Checks an answer.
pub fn check(answer: SplitHeads) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.q, input.n_heads))
}

const OTHERS: Section = Section::new(
    "one-matrix-many-heads",
    "What others do: view (or reshape), then transpose",
);
const MEMORY: Section =
    Section::new("one-matrix-many-heads", "How a matrix lies in memory");

/// The exercise.
pub static EXERCISE: Exercise<Input, Vec<Matrix>> = Exercise {
    name: "columns_as_heads",
    title: "Columns as heads",
    read: MEMORY,
    begin: "the width of one head: the columns of q, shared out among n_heads",
    print: "the columns that each head gets",
    passed: "Head i is the block of columns i · d_k to (i + 1) · d_k. Here that block is \
        one piece of memory, and cutting it out costs nothing.",
    cases,
    reference: |input| {
        let d_k = input.d_k();
        let head = |i| input.q.columns(i * d_k, d_k).into_owned();
        (0..input.n_heads).map(head).collect()
    },
    mistakes: &[
        Mistake {
            name: "views the projection as (heads, tokens, d_k) without the transpose",
            does: "It reads the numbers row by row and deals them out head by head, so that \
                a head gets all features of its first tokens instead of its features of \
                all tokens",
            looks_right: "The count of numbers is right, and so is every shape",
            read: OTHERS,
            answer: view_without_transpose,
        },
        Mistake {
            name: "deals the columns out to the heads one by one",
            does: "Head i gets columns i, i + h, i + 2h, …, as if the features of the heads \
                were interleaved",
            looks_right: "Every head gets d_k columns of every token",
            read: MEMORY,
            answer: interleaved,
        },
        Mistake {
            name: "gives the heads in reverse order",
            does: "It cuts the right blocks and counts them from the end",
            looks_right: "Each block is a head; only W^O knows which",
            read: MEMORY,
            answer: reversed,
        },
        Mistake {
            name: "gives every head the first block",
            does: "It always starts at column 0",
            looks_right: "With one head it is right, and each shape is",
            read: MEMORY,
            answer: first_block,
        },
        Mistake {
            name: "reads a block row by row and writes it column by column",
            does: "It collects the numbers of each block as you read them, and `from_vec` \
                fills a matrix down its columns, so tokens and features are mixed",
            looks_right: "Every head has its own numbers, and the right shape; \
                `from_row_slice` takes them in this order",
            read: MEMORY,
            answer: |input| {
                let d_k = input.d_k();
                let head = |i: usize| {
                    let block = input.q.columns(i * d_k, d_k).transpose();
                    Matrix::from_vec(input.q.nrows(), d_k, block.as_slice().to_vec())
                };
                (0..input.n_heads).map(head).collect()
            },
        },
        Mistake {
            name: "transposes each head",
            does: "It gives a row per feature and a column per token, as it is wanted for \
                keys in Q Kᵀ",
            looks_right: "With as many tokens as features it has the right shape",
            read: OTHERS,
            answer: |input| {
                let d_k = input.d_k();
                let head = |i: usize| input.q.columns(i * d_k, d_k).transpose();
                (0..input.n_heads).map(head).collect()
            },
        },
        Mistake {
            name: "lets blocks overlap",
            does: "It starts head i at column i and not at column i · d_k",
            looks_right: "Head 0 is right, and each block is d_k wide",
            read: MEMORY,
            answer: overlapping,
        },
    ],
    place: places::head_token_feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_tokens: usize, n_heads: usize, d_k: usize, seed: u64| Case {
        sizes: format!("{n_tokens} tokens, {n_heads} heads, d_k {d_k}"),
        square: n_tokens == n_heads && n_heads == d_k,
        input: Input { q: inputs::matrix(n_tokens, n_heads * d_k, seed), n_heads },
    };
    vec![case(3, 3, 3, 1), case(5, 2, 4, 2), case(4, 6, 2, 3)]
}

fn view_without_transpose(input: &Input) -> Vec<Matrix> {
    let (n_tokens, d_k) = (input.q.nrows(), input.d_k());
    input.heads(|i, token, c| input.row_major((i * n_tokens + token) * d_k + c))
}

fn interleaved(input: &Input) -> Vec<Matrix> {
    input.heads(|i, token, c| input.q[(token, i + c * input.n_heads)])
}

fn reversed(input: &Input) -> Vec<Matrix> {
    let d_k = input.d_k();
    input.heads(|i, token, c| input.q[(token, (input.n_heads - 1 - i) * d_k + c)])
}

fn first_block(input: &Input) -> Vec<Matrix> {
    input.heads(|_, token, c| input.q[(token, c)])
}

fn overlapping(input: &Input) -> Vec<Matrix> {
    input.heads(|i, token, c| input.q[(token, i + c)])
}
