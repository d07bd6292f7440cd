//! The head on three words whose matrices a reader sets: live.

use std::ops::Range;

use anyhow::Result;
use attention::{Mask, Matrix};
use single_head::attend;

use super::{FEATURES, WORDS, head_of, map_and_output, weights, words};
use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::numbers::written;

/// Draws the map and the output of the head.
pub const LIVE: Live = Live {
    name: "one-head-words",
    questions: &[
        Question {
            ask: "Change W^Q alone, so that overflowed turns away from banks and gives it \
                  less than 0.1.",
            is_answered: |settings, view| {
                let is_alone = settings.has_moved_only(&controls(), &["w_q"])?;
                Ok(is_alone && view.number(TO_BANKS)? < 0.1)
            },
            answer: &[("w_q", "0,1;0,0;0,0;-2,0")],
            found: "A negative weight turns a query around: what it looked for, it now \
                    avoids.",
        },
        Question {
            ask: "Change the output of overflowed and not a single share.",
            is_answered: |_, view| {
                let [shares, out] = moved(view)?;
                Ok(shares < 1e-12 && out > 0.01)
            },
            answer: &[("w_v", "3,0;0,1;0,0;0,0")],
            found: "W^V does it: shares come from queries and keys alone, and values are \
                    only averaged.",
        },
        Question {
            ask: "Exchange two rows of x, so that the output of overflowed stays as it is.",
            is_answered: |settings, view| {
                let is_exchanged = |[a, b]: [usize; 2]| {
                    let mut x = words();
                    x.swap_rows(a, b);
                    settings.matrix("x").is_ok_and(|found| *found == x)
                };
                let [_, out] = moved(view)?;
                Ok([[0, 1], [0, 2], [1, 2]].into_iter().any(is_exchanged) && out < 1e-12)
            },
            answer: &[("x", "1,1,1,0;2,0,0,0;1,0,0,1")],
            found: "River and banks: a head sums over its keys, and a sum has no order.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

/// The largest entry of each matrix.
pub const MOST: f64 = 10.0;
/// Whose row the title and the words are about.
const OVERFLOWED: usize = 2;
/// How much of it goes to *banks*, among the numbers.
const TO_BANKS: usize = 3 * OVERFLOWED + 1;
/// Where the numbers hold the outputs, after the shares.
const OUT: usize = 9;
const ENTRIES: [&str; 2] = ["1", "2"];

fn controls() -> Vec<Control> {
    let owned = |names: &[&str]| names.iter().map(|&it| it.to_owned()).collect();
    let matrix = |rows: &[&str], columns: &[&str], first| Kind::Matrix {
        rows: owned(rows),
        columns: owned(columns),
        most: MOST,
        first,
    };
    let projection = |key, label, first: Matrix| {
        Control::new(key, label, matrix(&FEATURES, &ENTRIES, first))
    };
    let [w_q, w_k, w_v] = weights(2.0);
    vec![
        Control::new("x", "Tokens x", matrix(&WORDS, &FEATURES, words())),
        projection("w_q", "W^Q", w_q),
        projection("w_k", "W^K", w_k),
        projection("w_v", "W^V", w_v),
    ]
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let x = settings.matrix("x")?;
    let [w_q, w_k, w_v] = ["w_q", "w_k", "w_v"].map(|key| settings.matrix(key).cloned());
    let head = head_of([w_q?, w_k?, w_v?])?;
    let pass = attend(&head, x, x, x, &Mask::None)?;
    let most = most(&pass.attn.row(OVERFLOWED).iter().copied().collect::<Vec<_>>());
    let title = format!("“overflowed” looks at {most}");
    let (tokens, entries) = (WORDS.map(str::to_owned), ENTRIES.map(str::to_owned));
    let figure = map_and_output::figure(title, &tokens, &pass.attn, &entries, &pass.out)?;
    let [first, second] = [0, 1].map(|at| written(pass.out[(OVERFLOWED, at)], 2));
    let words =
        format!("“overflowed” attends to {most}. Its output is ({first}, {second}).");
    let by_rows =
        |matrix: &Matrix| matrix.transpose().iter().copied().collect::<Vec<_>>();
    let numbers = [by_rows(&pass.attn), by_rows(&pass.out)].concat();
    Ok(LiveView { figure, words, numbers })
}

/// How far any share is from that of the first settings, and the output of *overflowed*.
fn moved(view: &LiveView) -> Result<[f64; 2]> {
    let first = draw(&Settings::new(&controls(), [])?)?;
    let from_first = |range: Range<usize>| -> Result<f64> {
        let pairs = view.slice(range.clone())?.iter().zip(first.slice(range)?);
        Ok(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
    };
    let out = OUT + 2 * OVERFLOWED;
    Ok([from_first(0..OUT)?, from_first(out..out + 2)?])
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
        let LiveView { figure, words, numbers } = LIVE.at([]).unwrap();
        insta::assert_snapshot!(figure.title(), @"“overflowed” looks at “banks” most, with 0.576 of its attention");
        insta::assert_snapshot!(words, @"“overflowed” attends to “banks” most, with 0.576 of its attention. Its output is (1.28, 0.58).");
        assert_eq!(numbers[7], pass.attn[(2, 1)]);
        assert_eq!(numbers[13..], [pass.out[(2, 0)], pass.out[(2, 1)]]);
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
                let matrix = Matrix::from_fn(n_rows, n_columns, at);
                let line = |row: &Row| row.iter().map(f64::to_string).collect::<Vec<_>>();
                let lines: Vec<_> =
                    rows(&matrix).iter().map(|row| line(row).join(",")).collect();
                lines.join(";")
            };
            let texts = [table(0, 3, 4), table(1, 4, 2), table(2, 4, 2), table(3, 4, 2)];
            let pairs = ["x", "w_q", "w_k", "w_v"].into_iter().zip(&texts);
            let pairs: Vec<_> = pairs.map(|(key, text)| (key, text.as_str())).collect();
            let settings = LIVE.settings(pairs.clone()).unwrap();
            let [x, w_q, w_k, w_v] =
                ["x", "w_q", "w_k", "w_v"].map(|key| rows(settings.matrix(key).unwrap()));
            let looped = plain::head(&x, &w_q, &w_k, &w_v).concat();
            let LiveView { words, numbers, .. } = LIVE.at(pairs).unwrap();
            for (entry, expected) in numbers[9..].iter().zip(&looped) {
                assert!((entry - expected).abs() < 1e-10, "{texts:?}: {numbers:?}");
            }
            assert!(numbers[..9].iter().all(|share| (0.0..=1.0).contains(share)));
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
        let first = LIVE.at([]).unwrap().numbers;
        let swapped = LIVE.at([("x", "1,1,1,0;2,0,0,0;1,0,0,1")]).unwrap().numbers;
        for at in 13..15 {
            assert!((first[at] - swapped[at]).abs() < 1e-12, "{swapped:?}");
        }
        let other = LIVE.at([("w_v", "9,-3;0,1;5,5;-2,0")]).unwrap().numbers;
        assert_eq!(first[..9], other[..9]);
        assert_ne!(first[9..], other[9..]);
    }
}
