//! Two layers.

use anyhow::{Context, Result};
use attention::Matrix;

use super::super::answer::{Answer, Form};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "two-layers",
    questions: &[
        Question {
            id: "induction-place",
            title: "Where an induction head looks",
            section: "Induction heads: two heads in two layers",
            pose: |seed| {
                let text = of(seed, ["m f q a m f q", "a b a c d c", "p q r s t p"]);
                Instance::new(
                    format!(
                        "A model has read “{text}”. To which place does an induction head of \
                         its second layer attend from the last token? The first place has the \
                         number 0."
                    ),
                    "Where did the last token stand before? And what does the head want to \
                     know?",
                    Form::Whole,
                    move || induction(text),
                )
            },
        },
        Question {
            id: "through-two-heads",
            title: "Through two heads",
            section: "Induction heads: two heads in two layers",
            pose: |seed| {
                let (first, second) = of(seed, [(0.8, 0.5), (0.9, 0.6), (0.7, 0.4)]);
                Instance::new(
                    format!(
                        "In the first layer, a head at “sat” gives “cat” a share of {first}. \
                         In the second layer, a head at “down” gives “sat” a share of \
                         {second}, and reads what the first head wrote there. How much of the \
                         value of “cat” comes to “down” on this path?"
                    ),
                    "What does the second head weigh: the value, or a part of it?",
                    Form::Decimal { within: 0.01 },
                    move || path(first, second),
                )
            },
        },
    ],
};

/// A map in which each token attends to the one before it.
fn one_back(n: usize) -> Matrix {
    Matrix::from_fn(n, n, |i, j| if i == j + 1 { 1.0 } else { 0.0 })
}

fn induction(text: &str) -> Result<Outcome> {
    let tokens: Vec<&str> = text.split(' ').collect();
    let n = tokens.len();
    let same = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(tokens[i] == tokens[j])));
    // A key has the note of the first layer: which token stands before it.
    let scores = &same * one_back(n).transpose();
    let last = n - 1;
    let place = (0..n).rev().find(|&j| scores[(last, j)] > 0.0);
    let place = place.context("the last token has stood before")?;
    let note = |j: usize| if j == 0 { "–" } else { tokens[j - 1] };
    let line = |of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<String>();
    let shown = format!(
        "token        {}\nbefore it    {}\nlooked for   {}",
        line(&|j| format!("{:>3}", tokens[j])),
        line(&|j| format!("{:>3}", note(j))),
        line(&|j| if j == place { "  ^".into() } else { "   ".into() })
    );
    let before = place - 1;
    let why = "Keys carry the note that the first layer wrote: what stood before me. So the \
               match is one place behind the earlier token, on what came after it.";
    Ok(Outcome::new(Answer::Whole(place), shown, why)
        .slip(Answer::Whole(before), "That is the earlier token itself.")
        .slip(
            Answer::Whole(last),
            "That is the last token itself, which says nothing about what comes next.",
        ))
}

fn path(first: f64, second: f64) -> Result<Outcome> {
    // cat, sat, down.
    let first_map = Matrix::from_row_slice(
        3,
        3,
        &[1.0, 0.0, 0.0, first, 1.0 - first, 0.0, 0.0, 0.0, 1.0],
    );
    let second_map = Matrix::from_row_slice(
        3,
        3,
        &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, second, 1.0 - second],
    );
    let together = (&second_map * &first_map)[(2, 0)];
    let shown = format!("layer 2 times layer 1: {second} · {first} = {together:.3}");
    let why = "A map of the second layer is multiplied with one of the first, as matrices. \
               The two heads are one virtual head, with their product for a map.";
    Ok(Outcome::new(Answer::Decimal(together), shown, why)
        .slip(
            Answer::Decimal(first.min(second)),
            "That is the smaller of the two shares.",
        )
        .slip(Answer::Decimal(f64::midpoint(first, second)), "That is their mean.")
        .slip(
            Answer::Decimal(first + second),
            "That is their sum, and shares are no sum.",
        ))
}
