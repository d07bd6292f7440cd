//! The head on three words whose matrices a reader sets: live.

use anyhow::Result;
use attention::{Mask, Matrix, max_abs_diff};
use single_head::{HeadPass, attend};

use super::{FEATURES, WORDS, head_of, steps, weights, words};
use crate::live::{LiveFigure, LiveView, Question, Setting, Settings, live};
use crate::numbers::written;

/// Draws the head with the entries that its reader clicks.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("one-head-words", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Click an entry of W^Q, W^K or W^V, or type another one. What follows it, \
              framed in orange, and what stays?",
        is_answered: |set, _| *set != Set { word: set.word, ..Set::first() },
        answer: |set| set.w_k = projection(&[[0, 1], [0, 0], [2, 0], [0, 0]]),
        found: "W^Q changes only Q, and W^K only K, but both can change the attention \
                weights; W^V changes V and the output alone.",
    },
    Question {
        ask: "Change W^Q alone, so that overflowed turns away from banks and gives it \
              less than 0.1.",
        is_answered: |set, it| {
            let (w_q, word) = (set.w_q.clone(), set.word);
            *set == Set { w_q, word, ..Set::first() } && it.shares[TO_BANKS] < 0.1
        },
        answer: |set| set.w_q = projection(&[[0, 1], [0, 0], [0, 0], [-2, 0]]),
        found: "A negative entry reverses a query: what it looked for, it now avoids.",
    },
    Question {
        ask: "Change the output of overflowed and not a single attention weight.",
        is_answered: |_, it| it.shares_moved < 1e-12 && it.output_moved > 0.01,
        answer: |set| set.w_v = projection(&[[3, 0], [0, 1], [0, 0], [0, 0]]),
        found: "W^V does it: attention weights come from queries and keys alone, and \
                values are only averaged.",
    },
];

/// The largest entry of each matrix.
pub const MOST: f64 = 10.0;
/// The largest that a click comes to.
const MOST_CLICKED: f64 = 2.0;
/// Whose row the questions are about.
const OVERFLOWED: usize = 2;
/// How much of it goes to *banks*, among the shares.
const TO_BANKS: usize = 3 * OVERFLOWED + 1;
const ENTRIES: [&str; 2] = ["1", "2"];

live! {
    struct Set {
        word: usize = "Row of", choice([2, 1, 0].map(|it| (it.to_string(), WORDS[it], it)));
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
    fn weights(&self) -> [Matrix; 3] {
        [&self.w_q, &self.w_k, &self.w_v].map(Matrix::clone)
    }

    fn pass(&self) -> Result<HeadPass> {
        let x = words();
        Ok(attend(&head_of(self.weights())?, &x, &x, &x, &Mask::None)?)
    }

    /// What a click on an entry of the three matrices side by side sets: the next whole
    /// number, and after the last one the first.
    fn clicked(&self, feature: usize, column: usize) -> String {
        type Kind = (&'static str, fn() -> Setting<Matrix>);
        let kinds: [Kind; 3] =
            [("w_q", Self::w_q), ("w_k", Self::w_k), ("w_v", Self::w_v)];
        let (key, setting) = kinds[column / 2];
        let mut changed = self.weights()[column / 2].clone();
        let entry = &mut changed[(feature, column % 2)];
        let is_last = *entry >= MOST_CLICKED;
        *entry = if is_last { -MOST_CLICKED } else { entry.floor() + 1.0 };
        format!("{key}={}", setting().write(&changed))
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let (pass, before) = (set.pass()?, Set::first().pass()?);
    let word = WORDS[set.word];
    let row: Vec<f64> = pass.attn.row(set.word).iter().copied().collect();
    let title = format!("“{word}” looks at {}", most(&row));
    let clicked = |feature, column| set.clicked(feature, column);
    let (weights, first) = (set.weights(), Set::first().weights());
    let [now, first] = [(&weights, &pass), (&first, &before)];
    let figure = steps::whole(title, now, first, set.word, clicked)?;
    let [first, second] = [0, 1].map(|at| written(pass.out[(set.word, at)], 2));
    let words =
        format!("“{word}” attends to {}. Its output is ({first}, {second}).", most(&row));
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
        for corner in 0..4_usize.pow(3) {
            let table = |nth: usize| {
                let entry = [0.0, MOST, -MOST, 0.3][corner / 4_usize.pow(nth as u32) % 4];
                let at = |i, j| entry * PATTERN[(i * 2 + j + nth * j + nth) % 5];
                Matrix::from_fn(4, 2, at)
            };
            let [w_q, w_k, w_v] = [0, 1, 2].map(table);
            let set = Set { word: corner % 3, w_q, w_k, w_v };
            let LiveView { words: told, facts, .. } = draw(&set).unwrap();
            let [x, w_q, w_k, w_v] = [&words(), &set.w_q, &set.w_k, &set.w_v].map(rows);
            let looped = plain::head(&x, &w_q, &w_k, &w_v).concat();
            for (entry, expected) in facts.output.iter().zip(&looped) {
                assert!((entry - expected).abs() < 1e-10, "{corner}: {facts:?}");
            }
            assert!(facts.shares.iter().all(|share| (0.0..=1.0).contains(share)));
            assert!(!told.contains("NaN"), "{told}");
        }
    }

    #[test]
    fn words_that_get_the_same_are_named_together() {
        let zeros = "0,0;0,0;0,0;0,0";
        let title = |key, text| LIVE.at([(key, text)]).unwrap().figure.title().to_owned();
        insta::assert_snapshot!(title("w_q", zeros), @"“overflowed” looks at all three words alike, with 0.333 for each");
        insta::assert_snapshot!(title("w_k", "1,0;0,0;1,0;0,0"), @"“overflowed” looks at “river” and “banks” most, with 0.446 for each");
    }

    /// Through all whole numbers that a click comes to, and from one between to the next.
    #[test]
    fn an_entry_is_clicked_through_its_values() {
        let mut set = Set::first();
        let mut seen = Vec::new();
        for _ in 0..5 {
            let pick = set.clicked(2, 3);
            let (key, text) = pick.split_once('=').unwrap();
            assert_eq!(key, "w_k");
            set.set(key, text).unwrap();
            seen.push(set.w_k[(2, 1)]);
        }
        assert_eq!(seen, [1.0, 2.0, -2.0, -1.0, 0.0]);
        set.w_v[(0, 0)] = 0.25;
        assert!(set.clicked(0, 4).starts_with("w_v=1,0;"), "{}", set.clicked(0, 4));
        assert_eq!(set.w_q, Set::first().w_q);
    }

    #[test]
    fn other_values_move_no_share() {
        let other = LIVE.at([("w_v", "9,-3;0,1;5,5;-2,0")]).unwrap().facts;
        assert_eq!(other.shares_moved, 0.0);
        assert!(other.output_moved > 0.0);
    }
}
