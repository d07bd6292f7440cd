//! The block.

use anyhow::Result;
use attention::{Matrix, Rng, SeedableRng};
use block::{FeedForward, LayerNorm};
use gradients::Entries;

use super::super::answer::{Answer, Form};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "the-block",
    questions: &[
        Question {
            id: "normed-entry",
            title: "An entry after layer norm",
            section: "Layer norm and RMSNorm",
            pose: |seed| {
                let token =
                    of(seed, [[1.0, 2.0, 6.0], [10.0, 20.0, 60.0], [9.0, 3.0, 0.0]]);
                Instance::new(
                    format!(
                        "The token ({}, {}, {}) goes through a layer norm with a gain that \
                         changes nothing, no bias, and next to no eps. What is its last \
                         entry?",
                        token[0], token[1], token[2]
                    ),
                    "Subtract the mean, and divide by the root of the mean squared distance \
                     from it.",
                    Form::Decimal { within: 0.02 },
                    move || normed(token),
                )
            },
        },
        Question {
            id: "feed-forward-parameters",
            title: "Parameters of a feed-forward",
            section: "What a block costs",
            pose: |seed| {
                let (d_model, d_ff) = of(seed, [(64, 256), (128, 512), (96, 384)]);
                Instance::new(
                    format!(
                        "A block has a d_model of {d_model} and a feed-forward of two \
                         matrices, {d_ff} wide between them, with biases. How many \
                         parameters has the feed-forward?"
                    ),
                    "One matrix there and one back, and a bias behind each.",
                    Form::Whole,
                    move || feed_forward(d_model, d_ff),
                )
            },
        },
    ],
};

fn normed(token: [f64; 3]) -> Result<Outcome> {
    let x = Matrix::from_row_slice(1, 3, &token);
    let out = LayerNorm::identity(3).forward(&x)?;
    let mean = x.row(0).sum() / 3.0;
    let squares: f64 = token.iter().map(|entry| (entry - mean).powi(2)).sum();
    let last = token[2] - mean;
    let shown = format!(
        "the token        {:?}\nless its mean    {:?}\nand divided by   {:.3}\n\
         normed           [{:.3}, {:.3}, {:.3}]",
        token,
        token.map(|entry| entry - mean),
        (squares / 3.0).sqrt(),
        out[0],
        out[1],
        out[2]
    );
    let root_mean_square =
        (token.iter().map(|entry| entry * entry).sum::<f64>() / 3.0).sqrt();
    let why = "What is left says how far an entry lies from the token's own mean, in units of \
               the token's own spread. A token ten times as large comes out the same.";
    Ok(Outcome::new(Answer::Decimal(out[2]), shown, why)
        .slip(Answer::Decimal(last), "That subtracts the mean and divides by nothing.")
        .slip(
            Answer::Decimal(last / (squares / 2.0).sqrt()),
            "That divides the squares by n − 1, and a norm divides by n.",
        )
        .slip(
            Answer::Decimal(token[2] / root_mean_square),
            "That is RMSNorm, which subtracts no mean.",
        ))
}

fn feed_forward(d_model: usize, d_ff: usize) -> Result<Outcome> {
    let layer = FeedForward::<f64>::random(d_model, d_ff, &mut Rng::seed_from_u64(1));
    let n = layer.n_entries();
    let shown = format!(
        "W_1  {d_model} x {d_ff}   b_1  {d_ff}\nW_2  {d_ff} x {d_model}   b_2  {d_model}"
    );
    let why = "Both matrices are d_model times d_ff, and the biases are as wide as what comes \
               out. In most models this is twice as much as attention has.";
    let matrix = d_model * d_ff;
    Ok(Outcome::new(Answer::Whole(n), shown, why)
        .slip(Answer::Whole(2 * matrix), "That leaves the biases out.")
        .slip(Answer::Whole(matrix + d_ff), "That is the first matrix with its bias.")
        .slip(
            Answer::Whole(2 * (matrix + d_ff)),
            "The second bias is as wide as a token, and not as wide as the middle.",
        ))
}
