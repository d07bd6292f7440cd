//! The tokens that may come next, and which one is drawn: live.

use crate::live::setting::choice;
use crate::live::{LiveFigure, LiveView, Question, Setting, live};
use crate::numbers::{share, written};
use anyhow::{Context, Result};
use attention::{Matrix, softmax_rows};
use figures::WeightRow;
use models::Choice;
use models::decoders::study::Next;

use super::findings;

/// Draws the probabilities of the most likely tokens at a temperature.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("next-token", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "At which temperature is “far” drawn about nine times of ten?",
        is_answered: |set, it| set.prompt == 0 && (it.most - 0.9).abs() < 0.01,
        answer: |set| set.temperature = 0.55,
        found: "At about 0.55. A temperature of 1/2 squares all probabilities before \
                they are divided by their sum.",
    },
    Question {
        ask: "Which text leaves the model undecided even at 0.1?",
        is_answered: |set, it| set.temperature <= 0.1 && it.most < 0.9,
        answer: |set| (set.prompt, set.temperature) = (2, 0.1),
        found: "The beginning of a story, where much may follow: nearly equal \
                probabilities need a very low temperature to come apart.",
    },
    Question {
        ask: "And which has a token that keeps more than 0.85 even at 1.5?",
        is_answered: |set, it| set.temperature >= 1.5 && it.most > 0.85,
        answer: |set| (set.prompt, set.temperature) = (1, 1.5),
        found: "The text that has said the name once already: what can be copied is \
                hardly a guess.",
    },
];

/// So many tokens have a bar.
const SHOWN: usize = 10;
/// So many are drawn.
const DRAWN: usize = 20;

/// The texts. The figure says so if there are no findings.
fn prompts() -> Setting<usize> {
    let prompts = findings().map_or(&[][..], |found| &found.next).iter();
    let prompts = prompts.map(|next| format!("{} …", next.prompt)).collect::<Vec<_>>();
    let prompts = if prompts.is_empty() { vec![String::new()] } else { prompts };
    let option = |(nth, name): (usize, String)| (nth.to_string(), name, nth);
    choice(prompts.into_iter().enumerate().map(option))
}

live! {
    struct Set {
        prompt: usize = "Text", prompts();
        temperature: f64 = "Temperature", number([0.1, 3.0], 0.05, 1.0);
        seed: usize = "Seed", count([0, 99], 1);
    }

    struct Facts {
        /// The probability of the most likely token.
        most: f64,
    }
}

/// softmax(logits / temperature), of the tokens that are kept.
pub fn probabilities(next: &Next, temperature: f64) -> Vec<f64> {
    let row = Matrix::from_row_slice(1, next.logits.len(), &next.logits);
    softmax_rows(row / temperature).iter().copied().collect()
}

fn draw(&Set { prompt, temperature, seed }: &Set) -> Result<LiveView<Facts>> {
    let next = findings()?.next.get(prompt).context("no such text")?;

    let (at_1, at_t) = (probabilities(next, 1.0), probabilities(next, temperature));
    let row = |name: String, shares: &[f64]| WeightRow {
        name,
        shares: shares[..SHOWN].to_vec(),
    };
    let name = format!("temperature {}", written(temperature, 2));
    let rows = [row("temperature 1".to_owned(), &at_1), row(name, &at_t)];
    // At 1 they are the same bars.
    let rows = if temperature == 1.0 { &rows[..1] } else { &rows };
    let title = format!("{} …: the most likely tokens", next.prompt);
    let tokens: Vec<String> = next.pieces[..SHOWN].iter().map(|it| shown(it)).collect();
    let figure = figures::probabilities(title, &tokens, rows)?;

    let mut choice = Choice::sampled(temperature, seed as u64)?;
    let mut drawn = Vec::new();
    for _ in 0..DRAWN {
        drawn.push(choice.of(&next.logits).context("a token")?);
    }
    let words: Vec<String> = drawn.iter().map(|&id| shown(&next.pieces[id])).collect();
    let n_first = drawn.iter().filter(|&&id| id == 0).count();
    let words = format!(
        "At temperature {}, {} has {}, and {} others share the rest. {DRAWN} draws with seed \
         {seed}, {n_first} of them the most likely: {}.",
        written(temperature, 2),
        shown(&next.pieces[0]),
        share(at_t[0]),
        next.pieces.len() - 1,
        words.join(" ")
    );
    Ok(LiveView { figure, words, facts: Facts { most: at_t[0] } })
}

/// A token as it is told: its space before it is left out, and a line's end has a name.
fn shown(piece: &str) -> String {
    match piece.trim() {
        "" => "⏎".to_owned(),
        piece => format!("“{piece}”"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_at_first_and_when_it_is_cold() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"At temperature 1, “far” has .630, and 49 others share the rest. 20 draws with seed 1, 13 of them the most likely: “fast” “close” “far” “close” “far” “far” “...” “far” “far” “far” “quick” “far” “far” “far” “far” “far” “far” “far” “wide” “close”.");
        let cold = [("prompt", "2"), ("temperature", "0.1")];
        insta::assert_snapshot!(LIVE.at(cold).unwrap().words, @"At temperature 0.1, “small” has .783, and 49 others share the rest. 20 draws with seed 1, 16 of them the most likely: “town” “small” “small” “small” “small” “small” “young” “small” “small” “small” “woman” “small” “small” “small” “small” “small” “small” “small” “young” “small”.");
    }

    #[test]
    fn draws_follow_the_probabilities() {
        for next in &findings().unwrap().next {
            for temperature in [0.5, 1.0, 2.0] {
                let expected = probabilities(next, temperature);
                assert!((expected.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let mut choice = Choice::sampled(temperature, 1).unwrap();
                let mut found = vec![0.0; expected.len()];
                for _ in 0..4000 {
                    found[choice.of(&next.logits).unwrap()] += 1.0 / 4000.0;
                }
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found - expected).abs() < 0.04, "{found} {expected}");
                }
            }
        }
    }
}
