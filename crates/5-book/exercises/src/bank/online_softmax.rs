//! Softmax in blocks: a maximum, a sum and an output, kept right as scores arrive.

use std::process::ExitCode;

use attention::{Matrix, softmax_rows, weighted_values};

use super::inputs;
use crate::{Answer, Case, Exercise, Place, Section};

mod mistakes;
#[cfg(test)]
mod tests;

/// The scores of one query, block by block, each block with its values.
pub struct Input {
    blocks: Vec<Block>,
}

struct Block {
    scores: Vec<f64>,
    values: Matrix,
}

/// What is kept of the keys that one query has seen so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// The largest score; −∞ while there is none above it.
    pub m: f64,
    /// The sum of `exp(score − m)` over all keys.
    pub l: f64,
    /// The sum of `exp(score − m) · value` over all keys, d_v entries.
    pub o: Vec<f64>,
}

impl Running {
    /// Before the first block: nothing was seen.
    pub fn new(d_v: usize) -> Self {
        Self { m: f64::NEG_INFINITY, l: 0.0, o: vec![0.0; d_v] }
    }
}

/// One row after each block: m, l and o.
impl Answer for Vec<Running> {
    fn parts(&self) -> Vec<Matrix> {
        let row = |state: &Running| {
            let row: Vec<f64> =
                [state.m, state.l].iter().chain(&state.o).copied().collect();
            Matrix::from_row_slice(1, row.len(), &row)
        };
        self.iter().map(row).collect()
    }

    fn part_name(&self, part: usize) -> String {
        format!("m, l and o after block {part} (counted from 0)")
    }
}

impl Input {
    fn d_v(&self) -> usize {
        self.blocks[0].values.ncols()
    }

    /// The state after each block, if this takes a block in.
    fn after_each_block(
        &self,
        take_in: impl Fn(&mut Running, &[f64], &Matrix),
    ) -> Vec<Running> {
        let mut running = Running::new(self.d_v());
        let after = |Block { scores, values }: &Block| {
            take_in(&mut running, scores, values);
            running.clone()
        };
        self.blocks.iter().map(after).collect()
    }

    /// All scores so far at once, with the softmax and the average of the other chapters.
    fn at_once(&self) -> Vec<Running> {
        let so_far = |n: usize| {
            let blocks = &self.blocks[..=n];
            let scores: Vec<f64> =
                blocks.iter().flat_map(|block| block.scores.iter().copied()).collect();
            let rows: Vec<_> = blocks.iter().flat_map(|b| b.values.row_iter()).collect();
            let m = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if m == f64::NEG_INFINITY {
                return Running::new(self.d_v());
            }
            let scores = Matrix::from_row_slice(1, scores.len(), &scores);
            let l = scores.map(|score| (score - m).exp()).sum();
            let average = weighted_values(
                &softmax_rows(scores),
                Matrix::from_rows(&rows).as_view(),
            );
            Running { m, l, o: average.iter().map(|x| x * l).collect() }
        };
        (0..self.blocks.len()).map(so_far).collect()
    }
}

/// What the reader writes: takes a block of scores and their values, `[n, d_v]`, into what
/// was kept so far.
pub type TakeIn = fn(running: &mut Running, scores: &[f64], values: &Matrix);

/// Checks an answer.
pub fn check(answer: TakeIn) -> ExitCode {
    EXERCISE.check(move |input| input.after_each_block(answer))
}

const BLOCKS: Section =
    Section::new("the-ladder", "A softmax in blocks (online softmax)");

/// The exercise.
pub static EXERCISE: Exercise<Input, Vec<Running>> = Exercise {
    name: "online_softmax",
    title: "A softmax in blocks",
    read: BLOCKS,
    begin: "the largest score of all keys so far, which is that of the block or the one \
        that you have. Then ask what is wrong with l if the block raised it",
    print: "m before and after the block, and the factor between the two",
    passed: "After every block, o / l is the output of a head that has seen these keys and \
        no others. No row of scores was ever kept.",
    cases,
    reference: Input::at_once,
    mistakes: mistakes::ALL,
    place: |_, Place { part, column, .. }| {
        let what = match column {
            0 => "m".into(),
            1 => "l".into(),
            c => format!("o, feature {}", c - 2),
        };
        format!("after block {part}, {what}")
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |scores: &[&[f64]], d_v: usize, note: &str, seed: u64| {
        let lengths: Vec<String> = scores.iter().map(|s| s.len().to_string()).collect();
        let block = |(nth, scores): (usize, &&[f64])| Block {
            scores: scores.to_vec(),
            values: inputs::matrix(scores.len(), d_v, seed + nth as u64),
        };
        let sizes = lengths.join(" + ");
        Case {
            sizes: format!("blocks of {sizes} keys, d_v {d_v}; {note}"),
            square: scores.iter().all(|block| block.len() == d_v),
            input: Input { blocks: scores.iter().enumerate().map(block).collect() },
        }
    };
    let none = f64::NEG_INFINITY;
    vec![
        case(&[&[-1.0, 0.5], &[1.0, 1.5], &[2.5, 2.0]], 2, "scores rise", 1),
        case(&[&[2.0, 1.0, 2.5], &[1.5, 0.0], &[-1.0]], 2, "scores fall", 10),
        case(
            &[&[none, none], &[none, 0.5, 1.0], &[0.0, none, 2.0]],
            4,
            "−∞ where a mask blocks: every key of block 0, and some others",
            20,
        ),
        case(
            &[&[-1000.0, -1001.0], &[-999.0], &[1000.0, 999.0, 998.0], &[-1000.0]],
            3,
            "scores near −1000 and 1000",
            30,
        ),
        case(&[&[], &[1.0, 0.5, 2.0], &[]], 2, "two blocks are empty", 40),
    ]
}
