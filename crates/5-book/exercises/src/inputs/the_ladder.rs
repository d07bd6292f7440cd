//! Of the chapter on the ladder.

use std::process::ExitCode;

use attention::Matrix;

use super::random;
use crate::array::Several;
use crate::{Answer, Array, Arrays, Case, Exercise, Place, arrays};

/// Softmax in blocks: a maximum, a sum and an output, kept right as scores arrive.
pub mod online_softmax {
    use super::*;

    /// The scores of one query, block by block, each block with its values.
    pub struct Input {
        blocks: Vec<Block>,
    }

    struct Block {
        scores: Vec<f64>,
        values: Matrix,
    }

    arrays!(Input: blocks);

    impl Several for Block {}

    impl Arrays for Block {
        fn arrays(&self, name: &str) -> Vec<Array> {
            let scores = self.scores.arrays(&format!("{name}.scores"));
            [scores, self.values.arrays(&format!("{name}.values"))].concat()
        }
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

    /// One row after each block: m, l and o.
    impl Answer for Vec<Running> {
        fn parts(&self) -> Vec<Matrix> {
            let row = |Running { m, l, o }: &Running| {
                Matrix::from_row_slice(1, o.len() + 2, &[&[*m, *l], &o[..]].concat())
            };
            self.iter().map(row).collect()
        }

        fn label(part: usize, _: usize) -> String {
            format!("m, l and o after block {part} (counted from 0)")
        }
    }

    pub(crate) static EXERCISE: Exercise<Input, Vec<Running>> =
        Exercise::new("online_softmax", cases, place);

    /// Checks what takes a block of scores and their values, `[n, d_v]`, into what was kept so
    /// far.
    pub fn check(
        answer: fn(running: &mut Running, scores: &[f64], values: &Matrix),
    ) -> ExitCode {
        EXERCISE.check(move |Input { blocks }| {
            let o = vec![0.0; blocks[0].values.ncols()];
            let mut running = Running { m: f64::NEG_INFINITY, l: 0.0, o };
            let after = |block: &Block| {
                answer(&mut running, &block.scores, &block.values);
                running.clone()
            };
            blocks.iter().map(after).collect()
        })
    }

    fn place(_: &Input, Place { part, column, .. }: Place) -> String {
        let what = match column {
            0 => "m".into(),
            1 => "l".into(),
            c => format!("o, feature {}", c - 2),
        };
        format!("after block {part}, {what}")
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |scores: &[&[f64]], d_v: usize, note: &str, own: u64| {
            let block = |(scores, nth): (&&[f64], u64)| Block {
                scores: scores.to_vec(),
                values: random::matrix(scores.len(), d_v, seed + own + nth),
            };
            let lengths: Vec<String> =
                scores.iter().map(|s| s.len().to_string()).collect();
            let sizes = lengths.join(" + ");
            Case {
                sizes: format!("blocks of {sizes} keys, d_v {d_v}; {note}"),
                square: scores.iter().all(|block| block.len() == d_v),
                input: Input { blocks: scores.iter().zip(0..).map(block).collect() },
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
}
