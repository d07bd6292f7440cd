//! An average with shares.

use anyhow::{Error, Result};
use attention::{Matrix, weighted_values};

use super::super::answer::{Answer, Form};
use super::parts::{at, attended, bars, largest, sentence};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "one-look-is-not-enough",
    questions: &[
        Question {
            id: "blend",
            title: "An output is an average",
            section: "An average, with attention weights",
            pose: |seed| {
                let sets = [
                    ([0.75, 0.25], [8.0, 12.0]),
                    ([0.4, 0.6], [10.0, 20.0]),
                    ([0.8, 0.2], [6.0, 45.0]),
                ];
                let (shares, values) = of(seed, sets);
                Instance::new(
                    format!(
                        "A query gives a share of {} to a token whose value is ({}, 0), and \
                         {} to one whose value is (0, {}). What is the second number of the \
                         output?",
                        shares[0], values[0], shares[1], values[1]
                    ),
                    "Each value counts by its share, number by number.",
                    Form::Decimal { within: 0.01 },
                    move || blend(shares, values),
                )
            },
        },
        Question {
            id: "flew-head-11",
            title: "What a word attends to most",
            section: "Several heads",
            pose: |seed| {
                let sets = [
                    ("pilot", "flew", 11, "before"),
                    ("bank_loan", "bank", 7, "after"),
                    ("pilot", "plane", 3, "after"),
                ];
                let (name, word, head, side) = of(seed, sets);
                Instance::new(
                    format!(
                        "“{}” goes through the trained layer. To which token does “{word}” \
                         attend most in head {head}?",
                        sentence(name)
                    ),
                    format!("It is a word, and it stands {side} “{word}”."),
                    Form::Token(name),
                    move || most(name, word, head),
                )
            },
        },
    ],
};

fn blend(shares: [f64; 2], [first, second]: [f64; 2]) -> Result<Outcome> {
    let values = Matrix::from_row_slice(2, 2, &[first, 0.0, 0.0, second]);
    let output = |shares: [f64; 2]| {
        weighted_values(&Matrix::from_row_slice(1, 2, &shares), values.as_view())
    };
    let out = output(shares);
    let value = |row: usize| format!("({}, {})", values[(row, 0)], values[(row, 1)]);
    let shown = format!(
        "{} · {} + {} · {} = ({}, {})",
        shares[0],
        value(0),
        shares[1],
        value(1),
        out[(0, 0)],
        out[(0, 1)]
    );
    let larger = if shares[0] > shares[1] { [1.0, 0.0] } else { [0.0, 1.0] };
    let why = "The output is the average of the values, each counted by its share. It \
               blends what is there, and lies between them.";
    Ok(Outcome::new(Answer::Decimal(out[(0, 1)]), shown, why)
        .slip(
            Answer::Decimal(output([0.5, 0.5])[(0, 1)]),
            "That counts both values alike, and the shares say how much each counts.",
        )
        .slip(
            Answer::Decimal(output(larger)[(0, 1)]),
            "That takes the value with the larger share alone, and a head blends.",
        ))
}

fn most(name: &str, word: &str, head: usize) -> Result<Outcome> {
    let layer = model_files::minilm()?;
    let sentence = layer.sentence(name)?;
    let attn = attended(&layer, sentence)?.attn;
    let query = at(sentence, word)?;
    let row = |head: usize| attn[head].row(query).iter().copied().collect::<Vec<f64>>();
    let most = |head: usize| Ok::<_, Error>(&sentence.tokens[largest(&row(head))?]);
    let shown = bars(&format!("{word} in head {head}"), &sentence.tokens, &row(head));
    let why = "The row sums to 1, and one token has the most of it. Other heads have rows \
               of their own: each is a budget of 1.";
    let mut outcome = Outcome::new(Answer::Choice(most(head)?.clone()), shown, why);
    for other in 0..attn.len() {
        let answer = Answer::Choice(most(other)?.clone());
        let is_listed = outcome.slips.iter().any(|slip| slip.answer == answer);
        if answer != outcome.answer && !is_listed {
            outcome =
                outcome.slip(answer, format!("That gets the most in head {other}."));
        }
    }
    Ok(outcome)
}
