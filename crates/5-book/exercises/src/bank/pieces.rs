//! Pieces of a softmax: what one query has made of several blocks of keys, merged.

use std::process::ExitCode;

use attention::{Matrix, softmax_rows, weighted_values};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

mod averages;
mod division;
mod factors;
mod left_out;
mod nothing;
mod references;
mod steps;
#[cfg(test)]
mod tests;

/// What a query has made of one block of keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// The largest score of the block; −∞ where a mask blocks all of its keys.
    pub m: f64,
    /// The sum of `exp(score − m)` over the keys of the block.
    pub l: f64,
    /// The sum of `exp(score − m) · value` over the keys of the block, d_v entries.
    pub o: Vec<f64>,
}

impl Piece {
    /// Of the block's scores and its values, `[n, d_v]`.
    fn new(scores: &[f64], values: &Matrix) -> Self {
        let m = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let share = |score: &f64| if m.is_finite() { (score - m).exp() } else { 0.0 };
        let shares = Matrix::from_iterator(1, scores.len(), scores.iter().map(share));
        Self { m, l: shares.sum(), o: (shares * values).iter().copied().collect() }
    }

    /// Before any key is seen.
    fn nothing(d_v: usize) -> Self {
        Self { m: f64::NEG_INFINITY, l: 0.0, o: vec![0.0; d_v] }
    }
}

/// The pieces that one query collects, and what it reads from all keys at once.
pub struct Input {
    pieces: Vec<Piece>,
    at_once: Vec<f64>,
}

impl Input {
    fn new(blocks: &[&[f64]], d_v: usize, seed: u64) -> Self {
        let scores = blocks.concat();
        let values = inputs::matrix(scores.len(), d_v, seed);
        let mut before = 0;
        let piece = |scores: &&[f64]| {
            let rows = values.rows(before, scores.len()).into_owned();
            before += scores.len();
            Piece::new(scores, &rows)
        };
        let pieces = blocks.iter().map(piece).collect();
        let shares = softmax_rows(Matrix::from_row_slice(1, scores.len(), &scores));
        let average = weighted_values(&shares, values.as_view());
        Self { pieces, at_once: average.iter().copied().collect() }
    }

    fn d_v(&self) -> usize {
        self.at_once.len()
    }
}

/// What the reader writes: from all pieces of a query, at least one, the head's output for
/// this query, d_v entries.
pub type Merged = fn(pieces: &[Piece]) -> Vec<f64>;

/// Checks an answer.
pub fn check(answer: Merged) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.pieces))
}

const TOKENS: Section = Section::new(
    "many-machines",
    "Tokens apart: sequence parallelism and ring attention",
);

type Named = Mistake<Input, Vec<f64>>;

/// The exercise. Its reference is a softmax over all keys at once: that the pieces come to
/// the same is what it shows.
pub static EXERCISE: Exercise<Input, Vec<f64>> = Exercise {
    name: "pieces",
    title: "Pieces of a softmax",
    read: TOKENS,
    begin: "two pieces. One number must be the reference of both: which? Then ask what l and \
        o of each piece would be if they had been computed with that reference",
    print: "the common reference, and the factor of each piece",
    passed: "A query can collect its keys from any number of ranks, and what it reads is \
        what it would have read on one.",
    cases,
    reference: |input| input.at_once.clone(),
    mistakes: &[
        references::NONE,
        references::NONE_GUARDED,
        references::NONE_GUARDED_FOR_NOTHING,
        factors::NONE,
        averages::SUM,
        averages::MEAN,
        averages::MEAN_OF_SEEN,
        averages::PAIRS,
        averages::PAIRS_OF_SEEN,
        averages::PAIRS_FROM_ZEROS,
        factors::ONLY_L,
        factors::ONLY_L_OF_MERGED,
        factors::ONLY_L_OF_NEXT,
        factors::ONLY_O,
        factors::ONLY_O_OF_MERGED,
        factors::ONLY_O_OF_NEXT,
        factors::NONE_FOR_MERGED,
        factors::NONE_FOR_NEXT,
        factors::EXCHANGED,
        factors::WRONG_SIGN,
        factors::WRONG_SIGN_OR_NAN,
        factors::WRONG_SIGN_FOR_MERGED,
        factors::WRONG_SIGN_FOR_NEXT,
        factors::SQUARED,
        nothing::NAN_FROM_NOTHING,
        nothing::NAN_FROM_THE_FIRST,
        nothing::PIECE_WITHOUT_KEY,
        nothing::NO_PIECE_WITH_A_KEY,
        references::FROM_0,
        references::FROM_0_GUARDED,
        references::FROM_0_GUARDED_FOR_NOTHING,
        references::FIRST,
        references::FIRST_THAT_SAW,
        references::MEAN,
        references::LARGEST_SIZE,
        references::LAST,
        references::NEWEST_THAT_SAW,
        references::NEWEST,
        references::SMALLER,
        references::SMALLER_THAT_SAW,
        averages::DIVIDED_BEFORE,
        averages::BY_REFERENCES,
        averages::BY_THE_FACTORS,
        averages::BY_M_PLUS_L,
        averages::O_TIMES_L,
        averages::O_TIMES_L_STEP_BY_STEP,
        factors::POWERS_OF_2,
        division::TWICE,
        division::NONE,
        division::BY_THE_NUMBER,
        division::BY_L_AND_THE_NUMBER,
        division::AFTER_EACH,
        division::AFTER_EACH_AND_AT_THE_END,
        division::BY_THE_LAST,
        division::BY_THE_LAST_BARE,
        references::NOT_KEPT,
        left_out::LOWER_REFERENCES,
        left_out::ALL_BUT_THE_LAST_O,
        left_out::ALL_BUT_TWO,
        left_out::LAST,
        left_out::FIRST,
        left_out::ALL_BUT_THE_LAST,
        left_out::ALL_BUT_THE_FIRST,
        left_out::ALL_BUT_THE_LARGEST,
    ],
    place: places::feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |blocks: &[&[f64]], d_v: usize, note: &str, seed: u64| {
        let pieces = if blocks.len() == 1 { "piece" } else { "pieces" };
        Case {
            sizes: format!("{} {pieces}, d_v {d_v}; {note}", blocks.len()),
            square: false,
            input: Input::new(blocks, d_v, seed),
        }
    };
    let none: &[f64] = &[f64::NEG_INFINITY; 2];
    let of_eight: [&[f64]; 8] = [
        &[0.3, -1.0],
        &[1.2],
        &[-0.8, -0.5, -2.0],
        &[2.1, 0.4],
        &[0.9, 1.6],
        &[-1.4],
        &[2.6, 2.2],
        &[0.1, 1.0],
    ];
    let falling: [&[f64]; 4] = [&[2.5, 1.0], &[1.8], &[0.2, 1.1, 0.7], &[-0.4, -1.0]];
    vec![
        case(&[&[-1.0, 0.5], &[1.5, 1.0, 0.0]], 2, "m rises", 1),
        case(&falling, 3, "m falls", 2),
        case(&of_eight, 2, "m rises and falls", 3),
        case(&[&[0.5, 1.5, -1.0]], 3, "all keys on one rank", 4),
        case(
            &[none, &[0.5, 1.0], none, &[1.5, f64::NEG_INFINITY]],
            2,
            "pieces 0 and 2 saw no key",
            5,
        ),
        case(&[none, none, &[0.5, -0.5]], 2, "pieces 0 and 1 saw no key", 6),
        case(&[&[0.5, 1.5], none, &[1.0]], 2, "piece 1 saw no key", 12),
        case(&[&[1000.0, 999.0], &[1001.0], &[999.5]], 2, "m near 1000", 7),
        case(&[&[-1000.0, -1001.0], &[-999.0], &[-999.5]], 2, "m near −1000", 8),
        case(&[&[-1000.0, -999.0], &[1.0, 0.0]], 2, "m −999 and 1", 13),
        case(&[&[-1000.0], &[0.0, 1.0], &[1000.0, 999.0]], 2, "m from −1000 to 1000", 9),
        case(&[&[1000.0, 999.0], &[0.0], &[-1000.0]], 2, "m from 1000 to −1000", 10),
        case(&[none, none], 2, "no piece saw a key", 11),
    ]
}
