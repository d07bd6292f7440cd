//! The tokens that may come next, and which one is drawn: live.

use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::numbers::{share, written};
use anyhow::{Context, Result};
use attention::{Matrix, softmax_rows};
use figures::WeightRow;
use models::Choice;
use models::decoders::study::Next;

use super::findings;

/// Draws the probabilities of the most likely tokens at a temperature.
pub const LIVE: Live = Live {
    name: "next-token",
    questions: &[
        Question {
            ask: "At which temperature is “far” drawn about nine times of ten?",
            is_answered: |settings, view| {
                let is_animal = settings.choice("prompt")? == "0";
                Ok(is_animal && (view.number(MOST)? - 0.9).abs() < 0.01)
            },
            answer: &[("temperature", "0.55")],
            found: "At about 0.55. A temperature of 1/2 squares all probabilities before \
                   they are divided by their sum.",
        },
        Question {
            ask: "Which text leaves the model undecided even at 0.1?",
            is_answered: |settings, view| {
                Ok(settings.number("temperature")? <= 0.1 && view.number(MOST)? < 0.9)
            },
            answer: &[("prompt", "2"), ("temperature", "0.1")],
            found: "The beginning of a story, where much may follow: nearly equal \
                    probabilities need a very low temperature to come apart.",
        },
        Question {
            ask: "And which has a token that keeps more than 0.85 even at 1.5?",
            is_answered: |settings, view| {
                Ok(settings.number("temperature")? >= 1.5 && view.number(MOST)? > 0.85)
            },
            answer: &[("prompt", "1"), ("temperature", "1.5")],
            found: "The text that has said the name once already: what can be copied is \
                    hardly a guess.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

/// Where the numbers hold the probability of the most likely token.
const MOST: usize = 0;
/// So many tokens have a bar.
const SHOWN: usize = 10;
/// So many are drawn.
const DRAWN: usize = 20;

fn controls() -> Vec<Control> {
    // The figure says so if there are no findings.
    let prompts = findings().map_or(&[][..], |found| &found.next);
    let options = prompts.iter().enumerate();
    let options =
        options.map(|(nth, next)| (nth.to_string(), format!("{} …", next.prompt)));
    let temperature = Kind::Number { range: [0.1, 3.0], step: 0.05, first: 1.0 };
    vec![
        Control::new("prompt", "Text", Kind::choice(options)),
        Control::new("temperature", "Temperature", temperature),
        Control::new("seed", "Seed", Kind::Count { range: [0, 99], first: 1 }),
    ]
}

/// softmax(logits / temperature), of the tokens that are kept.
pub fn probabilities(next: &Next, temperature: f64) -> Vec<f64> {
    let row = Matrix::from_row_slice(1, next.logits.len(), &next.logits);
    softmax_rows(row / temperature).iter().copied().collect()
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let nth: usize = settings.choice("prompt")?.parse()?;
    let next = findings()?.next.get(nth).context("no such text")?;
    let temperature = settings.number("temperature")?;
    let seed = settings.count("seed")?;

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
    let numbers = at_t.into_iter().chain(drawn.into_iter().map(|id| id as f64)).collect();
    Ok(LiveView { figure, words, numbers })
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
