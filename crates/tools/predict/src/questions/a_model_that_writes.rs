//! A model that writes.

use anyhow::Result;
use attention::{Matrix, softmax_rows};
use gradients::cross_entropy;

use super::super::answer::{Answer, Form};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "a-model-that-writes",
    questions: &[
        Question {
            id: "temperature",
            title: "What a temperature does",
            section: "Choosing the next token",
            pose: |seed| {
                let (times, temperature) = of(seed, [(9, 2.0), (4, 0.5), (16, 2.0)]);
                Instance::new(
                    format!(
                        "One token has a logit that is ln {times} above another's. At a \
                         temperature of {temperature}, how many times as likely is it?"
                    ),
                    "Logits are divided by the temperature before softmax.",
                    Form::Decimal { within: 0.05 },
                    move || at_temperature(times, temperature),
                )
            },
        },
        Question {
            id: "perplexity",
            title: "The perplexity of a text",
            section: "How good is a guess?",
            pose: |seed| {
                let chances = of(seed, [[0.5, 0.125], [0.25, 0.0625], [0.2, 0.8]]);
                Instance::new(
                    format!(
                        "A model gave what came next a probability of {}, and what came after \
                         that one of {}. What is its perplexity on these two tokens?",
                        chances[0], chances[1]
                    ),
                    "It is the exponential of the mean loss, and a loss is minus a logarithm.",
                    Form::Decimal { within: 0.05 },
                    move || perplexity(chances),
                )
            },
        },
    ],
};

fn at_temperature(times: u32, temperature: f64) -> Result<Outcome> {
    let logit = f64::from(times).ln();
    let ratio = |temperature: f64| {
        let shares =
            softmax_rows(Matrix::from_row_slice(1, 2, &[logit / temperature, 0.0]));
        shares[0] / shares[1]
    };
    let at = ratio(temperature);
    let shown =
        format!("at 1    {:.3} to 1\nat {temperature:<4} {at:.3} to 1", ratio(1.0));
    let why = "e to the quotient is the ratio to the power of 1 / T. A temperature above 1 \
               brings tokens together, one below 1 drives them apart.";
    Ok(Outcome::new(Answer::Decimal(at), shown, why)
        .slip(Answer::Decimal(ratio(1.0)), "That is at a temperature of 1.")
        .slip(
            Answer::Decimal(ratio(1.0 / temperature)),
            "That multiplies logits by the temperature.",
        )
        .slip(
            Answer::Decimal(f64::from(times) / temperature),
            "That divides the ratio, and logits are divided before the exponential.",
        ))
}

fn perplexity(chances: [f64; 2]) -> Result<Outcome> {
    let logits = chances.map(|chance| [chance.ln(), (1.0 - chance).ln()]);
    let loss =
        cross_entropy(&Matrix::from_row_slice(2, 2, &logits.concat()), &[0, 0])?.value;
    let shown = format!(
        "−ln {}  {:.3}\n−ln {}  {:.3}\nmean  {loss:.3}, and e to it is {:.3}",
        chances[0],
        -chances[0].ln(),
        chances[1],
        -chances[1].ln(),
        loss.exp()
    );
    let mean = chances.iter().sum::<f64>() / 2.0;
    let inverse = chances.iter().map(|chance| 1.0 / chance).sum::<f64>() / 2.0;
    let why = "A model with this perplexity guesses as well as one that is sure of nothing but \
               that so many tokens are equally likely.";
    Ok(Outcome::new(Answer::Decimal(loss.exp()), shown, why)
        .slip(Answer::Decimal(loss), "That is the mean loss in nats.")
        .slip(
            Answer::Decimal(1.0 / mean),
            "That averages probabilities, and losses are averaged.",
        )
        .slip(
            Answer::Decimal(inverse),
            "That averages the two tokens' own perplexities, after the exponential.",
        ))
}
