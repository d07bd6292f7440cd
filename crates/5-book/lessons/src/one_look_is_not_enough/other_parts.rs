//! One output from different shares: live.

use super::blended::{self, Blend, Place};
use super::{Readable, readable};
use crate::live::setting::number;
use crate::live::{LiveFigure, LiveView, Question, Setting, Settings, live};
use crate::numbers::written;
use anyhow::{Result, ensure};
use attention::{Matrix, max_abs_diff, weighted_values};

/// Draws a row of shares and its blend, beside those of *crew* alone.
pub(crate) const LIVE: LiveFigure<Set, Facts> = LiveFigure::new("blend", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Give crew half of the row, an attention weight of 0.5, and keep the output \
              equal to that of crew alone.",
        is_answered: |_, it| it.apart < EVEN && (it.shares[CREW] - 0.5).abs() < 0.02,
        answer: |set| (set.pilot, set.paris, set.crew) = (0.4, 0.1, 0.5),
        found: "Any mixture of two rows with the same output has that output too, so \
                there are infinitely many such rows.",
    },
    Question {
        ask: "Move both amounts that are not 0, and end with the attention weights that \
              you began with.",
        is_answered: |set, it| {
            let first = Set::first().weights();
            (0..first.len()).all(|nth| {
                let has_moved = set.weights()[nth] != first[nth];
                (it.shares[nth] - first[nth]).abs() < EVEN
                    && has_moved == (first[nth] > 0.0)
            })
        },
        answer: |set| (set.pilot, set.paris) = (0.4, 0.1),
        found: "Halve both: only their ratio counts, because attention weights are amounts \
                divided by their sum.",
    },
];

/// The token whose output is to be had otherwise.
const CREW: usize = 3;

/// Rounding in a sum of four products stays below.
const EVEN: f64 = 1e-12;

/// What it stands at first.
fn weight(nth: usize) -> Setting<f64> {
    number([0.0, 1.0], 0.05, readable().attn[(2, nth)])
}

live! {
    struct Set {
        pilot: f64 = "Amount of pilot", weight(0);
        plane: f64 = "Amount of plane", weight(1);
        paris: f64 = "Amount of paris", weight(2);
        crew: f64 = "Amount of crew", weight(CREW);
    }

    struct Facts {
        shares: Vec<f64>, output: Vec<f64>,
        /// How far the two outputs are apart.
        apart: f64,
    }
}

impl Set {
    fn weights(&self) -> [f64; 4] {
        [self.pilot, self.plane, self.paris, self.crew]
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let Readable { features, tokens, v, attn, out } = readable();
    let mut shares = Matrix::from_row_slice(1, tokens.len(), &set.weights());
    ensure!(
        shares.max() > 0.0,
        "all four amounts are 0, and so is their sum: they cannot be divided by it"
    );
    shares /= shares.max(); // so that the sum of the smallest is not rounded
    shares /= shares.sum();
    let mixed = weighted_values(&shares, v.as_view()); // [1, 3]
    let (crew_shares, crew) = (attn.rows(3, 1).into_owned(), out.rows(3, 1).into_owned());
    let apart = max_abs_diff(&mixed, &crew)?;
    let is_crew = max_abs_diff(&shares, &crew_shares)? < EVEN;

    let row = |name: &str, shares: &Matrix, out: &Matrix| Blend {
        name: name.to_owned(),
        shares: shares.iter().copied().collect(),
        out: out.iter().copied().collect(),
    };
    let rows =
        [row("a mixed row", &shares, &mixed), row("crew alone", &crew_shares, &crew)];
    // All agent, all object, all place.
    let corners = [[0.0, 0.0], [0.5, 1.0], [1.0, 0.0]];
    let above = [-0.16, 0.12, -0.16, 0.16];
    let place = |nth: usize| -> Place {
        let value = v.row(nth);
        let along = |axis: usize| (0..3).map(|i| value[i] * corners[i][axis]).sum();
        (tokens[nth], [along(0), along(1)], above[nth])
    };
    let places = [0, 1, 2, 3].map(place);
    let (title, features) = (title(apart, is_crew), features.map(str::to_owned));
    let figure = blended::figure(title, &places, &features, set.weights(), &rows)?;
    let words = format!(
        "The row's output is {}, that of crew alone {}. {}",
        listed(&mixed),
        listed(&crew),
        difference_words(apart, is_crew)
    );
    let [shares, output] = [shares, mixed].map(|it| it.as_slice().to_vec());
    Ok(LiveView { figure, words, facts: Facts { shares, output, apart } })
}

fn title(apart: f64, is_crew: bool) -> &'static str {
    match apart < EVEN {
        true if is_crew => "One row twice, and so the same output",
        true => {
            "Other attention weights and the same output: an average forgets its parts"
        }
        false => "Other attention weights and another output",
    }
}

fn difference_words(apart: f64, is_crew: bool) -> String {
    match apart < EVEN {
        true if is_crew => "Both rows are the same.".to_owned(),
        true => "The outputs are equal, and the attention weights are not.".to_owned(),
        false if apart < 0.001 => "They differ by less than 0.001.".to_owned(),
        false => format!("They differ by up to {} in an entry.", written(apart, 3)),
    }
}

fn listed(out: &Matrix) -> String {
    let entries: Vec<String> = out.iter().map(|&entry| written(entry, 3)).collect();
    format!("({})", entries.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::{Row, weighted_sum};

    fn shown(weights: [f64; 4]) -> Result<LiveView<Facts>> {
        let [pilot, plane, paris, crew] = weights;
        draw(&Set { pilot, plane, paris, crew })
    }

    /// The last two rows of the chapter's picture.
    #[test]
    fn the_first_row_has_the_output_of_crew_alone() {
        let LiveView { figure, words, facts } = LIVE.at([]).unwrap();
        insta::assert_snapshot!(words, @"The row's output is (0.8, 0, 0.2), that of crew alone (0.8, 0, 0.2). The outputs are equal, and the attention weights are not.");
        assert_eq!(
            figure.title(),
            "Other attention weights and the same output: an average forgets its parts"
        );
        assert!(facts.apart < EVEN);
    }

    /// Whatever the rows between the two lines, and whatever all weights are divided by.
    #[test]
    fn so_have_all_the_rows_between() {
        for crew in [0.0, 0.25, 0.5, 0.9] {
            for weight in [1.0, 0.5, 1e-300] {
                let rest = 1.0 - crew;
                let row = [0.8 * rest, 0.0, 0.2 * rest, crew].map(|share| share * weight);
                let facts = shown(row).unwrap().facts;
                assert!(facts.apart < EVEN, "{row:?}: {facts:?}");
                assert!((facts.shares[CREW] - crew).abs() < EVEN, "{row:?}: {facts:?}");
            }
        }
        let other = shown([0.8, 0.05, 0.2, 0.0]).unwrap();
        assert_eq!(other.figure.title(), "Other attention weights and another output");
    }

    /// The chapter's loops, at every corner but the one that is refused.
    #[test]
    fn the_output_is_that_of_the_loops() {
        let values: Vec<Row> =
            readable().v.row_iter().map(|row| row.iter().copied().collect()).collect();
        for corner in 1..16_u8 {
            let row = [0, 1, 2, 3].map(|nth| f64::from(corner >> nth & 1));
            let sum: f64 = row.iter().sum();
            let looped = weighted_sum(&row.map(|weight| weight / sum), &values);
            let LiveView { figure, words, facts } = shown(row).unwrap();
            for (entry, expected) in facts.output.iter().zip(looped) {
                assert!((entry - expected).abs() < EVEN, "{row:?}: {facts:?}");
            }
            assert_eq!(words.contains("Both rows"), corner == 8, "{words}");
            assert_eq!(figure.title().starts_with("One row"), corner == 8);
        }
    }

    #[test]
    fn weights_of_nothing_are_refused() {
        insta::assert_snapshot!(shown([0.0; 4]).unwrap_err(), @"all four amounts are 0, and so is their sum: they cannot be divided by it");
    }

    #[test]
    fn a_small_difference_is_not_called_none() {
        let words = shown([0.8, 1e-9, 0.2, 0.0]).unwrap().words;
        assert!(words.ends_with("They differ by less than 0.001."), "{words}");
    }
}
