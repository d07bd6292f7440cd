//! Chapter 1: an average with shares.

use anyhow::{Error, Result};
use attention::{Matrix, weighted_values};

use super::super::answer::{Answer, Form};
use super::parts::{at, attended, bars, largest};
use super::{Chapter, Outcome, Question};

pub const CHAPTER: Chapter = Chapter {
    number: 1,
    title: "One look is not enough",
    questions: &[
        Question {
            id: "blend",
            title: "An output is an average",
            section: "An average, with shares",
            text: "A query gives a share of 0.75 to a token whose value is (8, 0), and 0.25 \
                   to one whose value is (0, 12). What is the second number of the output?",
            hint: "Each value counts by its share, number by number.",
            form: Form::Decimal { within: 0.01 },
            run: blend,
        },
        Question {
            id: "flew-head-11",
            title: "What flew attends to in head 11",
            section: "Several heads",
            text: "“The pilot flew the plane to Paris.” goes through the trained layer. To \
                   which token does flew give the largest share in head 11?",
            hint: "It is a word, and it stands before flew.",
            form: Form::Token("pilot"),
            run: flew,
        },
    ],
};

fn blend() -> Result<Outcome> {
    let values = Matrix::from_row_slice(2, 2, &[8.0, 0.0, 0.0, 12.0]);
    let output = |shares: [f64; 2]| {
        weighted_values(&Matrix::from_row_slice(1, 2, &shares), values.as_view())
    };
    let shares = [0.75, 0.25];
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
    let why = "The output is the average of the values, each counted by its share. It \
               blends what is there, and lies between them.";
    Ok(Outcome::new(Answer::Decimal(out[(0, 1)]), shown, why)
        .slip(
            Answer::Decimal(output([0.5, 0.5])[(0, 1)]),
            "That counts both values alike, and the shares say how much each counts.",
        )
        .slip(
            Answer::Decimal(output([1.0, 0.0])[(0, 1)]),
            "That takes the value with the larger share alone, and a head blends.",
        ))
}

fn flew() -> Result<Outcome> {
    let layer = pretrained::minilm()?;
    let sentence = layer.sentence("pilot")?;
    let attn = attended(&layer, sentence)?.attn;
    let flew = at(sentence, "flew")?;
    let row = |head: usize| attn[head].row(flew).iter().copied().collect::<Vec<f64>>();
    let most = |head: usize| Ok::<_, Error>(&sentence.tokens[largest(&row(head))?]);
    let head = 11;
    let shown = bars(&format!("flew in head {head}"), &sentence.tokens, &row(head));
    let why = "The row adds up to 1, and one token has more than half of it. Other heads \
               have rows of their own: each is a budget of 1.";
    let mut outcome = Outcome::new(Answer::Choice(most(head)?.clone()), shown, why);
    for other in 0..attn.len() {
        let answer = Answer::Choice(most(other)?.clone());
        let is_told = outcome.slips.iter().any(|slip| slip.answer == answer);
        if answer != outcome.answer && !is_told {
            outcome =
                outcome.slip(answer, format!("That gets the most in head {other}."));
        }
    }
    Ok(outcome)
}
