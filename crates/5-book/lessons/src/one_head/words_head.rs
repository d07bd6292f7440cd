//! The head on three words whose matrices a reader sets: live.

use anyhow::Result;
use attention::{Mask, Matrix, max_abs_diff};
use single_head::{HeadPass, attend};

use super::{FEATURES, WORDS, head_of, map_and_output, weights, words};
use crate::live::{LiveFigure, LiveView, Question, Settings, live};
use crate::numbers::written;

/// Draws the map and the output of the head.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("one-head-words", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Change W^Q alone, so that overflowed turns away from banks and gives it \
              less than 0.1.",
        is_answered: |set, it| {
            let is_alone = *set == Set { w_q: set.w_q.clone(), ..Set::first() };
            is_alone && it.shares[TO_BANKS] < 0.1
        },
        answer: |set| set.w_q = projection(&[[0, 1], [0, 0], [0, 0], [-2, 0]]),
        found: "A negative weight turns a query around: what it looked for, it now \
                avoids.",
    },
    Question {
        ask: "Change the output of overflowed and not a single share.",
        is_answered: |_, it| it.shares_moved < 1e-12 && it.output_moved > 0.01,
        answer: |set| set.w_v = projection(&[[3, 0], [0, 1], [0, 0], [0, 0]]),
        found: "W^V does it: shares come from queries and keys alone, and values are \
                only averaged.",
    },
    Question {
        ask: "Exchange two rows of x, so that the output of overflowed stays as it is.",
        is_answered: |set, it| {
            let is_exchanged = |[a, b]: [usize; 2]| {
                let mut x = words();
                x.swap_rows(a, b);
                set.x == x
            };
            let is_exchanged = [[0, 1], [0, 2], [1, 2]].into_iter().any(is_exchanged);
            is_exchanged && it.output_moved < 1e-12
        },
        answer: |set| set.x.swap_rows(0, 1),
        found: "River and banks: a head sums over its keys, and a sum has no order.",
    },
];

/// The largest entry of each matrix.
pub const MOST: f64 = 10.0;
/// Whose row the title and the words are about.
const OVERFLOWED: usize = 2;
/// How much of it goes to *banks*, among the shares.
const TO_BANKS: usize = 3 * OVERFLOWED + 1;
const ENTRIES: [&str; 2] = ["1", "2"];

live! {
    struct Set {
        x: Matrix = "Tokens x", matrix(WORDS, FEATURES, MOST, words());
        w_q: Matrix = "W^Q", matrix(FEATURES, ENTRIES, MOST, weights(2.0)[0].clone());
        w_k: Matrix = "W^K", matrix(FEATURES, ENTRIES, MOST, weights(2.0)[1].clone());
        w_v: Matrix = "W^V", matrix(FEATURES, ENTRIES, MOST, weights(2.0)[2].clone());
    }

    struct Facts {
        /// Row by row.
        shares: Vec<f64>, output: Vec<f64>,
        /// How far any share is from that of the first settings.
        shares_moved: f64,
        /// The same of the output of *overflowed*.
        output_moved: f64,
    }
}

/// The entries of a projection.
fn projection(rows: &[[i32; 2]; 4]) -> Matrix {
    Matrix::from_fn(4, 2, |row, column| f64::from(rows[row][column]))
}

impl Set {
    fn pass(&self) -> Result<HeadPass> {
        let Self { x, w_q, w_k, w_v } = self;
        let head = head_of([w_q, w_k, w_v].map(Matrix::clone))?;
        Ok(attend(&head, x, x, x, &Mask::None)?)
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let (pass, before) = (set.pass()?, Set::first().pass()?);
    let most = most(&pass.attn.row(OVERFLOWED).iter().copied().collect::<Vec<_>>());
    let title = format!("“overflowed” looks at {most}");
    let (tokens, entries) = (WORDS.map(str::to_owned), ENTRIES.map(str::to_owned));
    let figure = map_and_output::figure(title, &tokens, &pass.attn, &entries, &pass.out)?;
    let [first, second] = [0, 1].map(|at| written(pass.out[(OVERFLOWED, at)], 2));
    let words =
        format!("“overflowed” attends to {most}. Its output is ({first}, {second}).");
    let by_rows = |matrix: &Matrix| matrix.transpose().as_slice().to_vec();
    let out = |pass: &HeadPass| pass.out.rows(OVERFLOWED, 1).into_owned();
    let facts = Facts {
        shares: by_rows(&pass.attn),
        output: by_rows(&pass.out),
        shares_moved: max_abs_diff(&pass.attn, &before.attn)?,
        output_moved: max_abs_diff(&out(&pass), &out(&before))?,
    };
    Ok(LiveView { figure, words, facts })
}

/// Which words have the largest share, and how much.
fn most(shares: &[f64]) -> String {
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let led: Vec<String> = WORDS
        .into_iter()
        .zip(shares)
        .filter(|(_, share)| largest - **share < 1e-9)
        .map(|(word, _)| format!("“{word}”"))
        .collect();
    match &led[..] {
        [one] => format!("{one} most, with {largest:.3} of its attention"),
        [one, other] => format!("{one} and {other} most, with {largest:.3} for each"),
        _ => format!("all three words alike, with {largest:.3} for each"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::one_head::{both, head};
    use crate::plain::{self, Row};

    fn rows(matrix: &Matrix) -> Vec<Row> {
        matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
    }

    #[test]
    fn the_first_head_is_the_chapter_s() {
        let [_, pass] = both(&head(2.0).unwrap(), &words()).unwrap();
        let LiveView { figure, words, facts } = LIVE.at([]).unwrap();
        insta::assert_snapshot!(figure.title(), @"“overflowed” looks at “banks” most, with 0.576 of its attention");
        insta::assert_snapshot!(words, @"“overflowed” attends to “banks” most, with 0.576 of its attention. Its output is (1.28, 0.58).");
        assert_eq!(facts.shares[TO_BANKS], pass.attn[(2, 1)]);
        assert_eq!(facts.output[4..], [pass.out[(2, 0)], pass.out[(2, 1)]]);
    }

    /// The chapter's loops, with entries as large and as small as they can be, and some
    /// between; no two matrices have one pattern.
    #[test]
    fn the_head_is_that_of_the_loops_at_every_corner() {
        const PATTERN: [f64; 5] = [1.0, -0.25, 0.5, -1.0, 0.125];
        for corner in 0..4_usize.pow(4) {
            let table = |nth: usize, n_rows: usize, n_columns: usize| {
                let entry = [0.0, MOST, -MOST, 0.3][corner / 4_usize.pow(nth as u32) % 4];
                let at = |i, j| entry * PATTERN[(i * n_columns + j + nth * j + nth) % 5];
                Matrix::from_fn(n_rows, n_columns, at)
            };
            let (x, w_q) = (table(0, 3, 4), table(1, 4, 2));
            let set = Set { x, w_q, w_k: table(2, 4, 2), w_v: table(3, 4, 2) };
            let LiveView { words, facts, .. } = draw(&set).unwrap();
            let Set { x, w_q, w_k, w_v } = set;
            let [x, w_q, w_k, w_v] = [x, w_q, w_k, w_v].map(|it| rows(&it));
            let looped = plain::head(&x, &w_q, &w_k, &w_v).concat();
            for (entry, expected) in facts.output.iter().zip(&looped) {
                assert!((entry - expected).abs() < 1e-10, "{corner}: {facts:?}");
            }
            assert!(facts.shares.iter().all(|share| (0.0..=1.0).contains(share)));
            assert!(!words.contains("NaN"), "{words}");
        }
    }

    #[test]
    fn words_that_get_the_same_are_named_together() {
        let zeros = "0,0;0,0;0,0;0,0";
        let title = |key, text| LIVE.at([(key, text)]).unwrap().figure.title().to_owned();
        insta::assert_snapshot!(title("w_q", zeros), @"“overflowed” looks at all three words alike, with 0.333 for each");
        insta::assert_snapshot!(title("x", "2,0,0,0;2,0,0,0;1,0,0,1"), @"“overflowed” looks at “river” and “banks” most, with 0.401 for each");
    }

    #[test]
    fn swapped_tokens_and_other_values_move_no_share() {
        let at = |key, text| LIVE.at([(key, text)]).unwrap().facts;
        let swapped = at("x", "1,1,1,0;2,0,0,0;1,0,0,1");
        assert!(swapped.output_moved < 1e-12, "{swapped:?}");
        let other = at("w_v", "9,-3;0,1;5,5;-2,0");
        assert_eq!(other.shares_moved, 0.0);
        assert!(other.output_moved > 0.0);
    }
}
