//! Learning.

use anyhow::Result;
use attention::{Linear, Matrix};
use gradients::{Adam, Optimiser, Sgd, cross_entropy};

use super::super::answer::{Answer, Form};
use super::parts::listed;
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "learning",
    questions: &[
        Question {
            id: "descent-step",
            title: "One step of gradient descent",
            section: "From gradients to steps",
            pose: |seed| {
                let numbers @ (theta, gradient, rate) =
                    of(seed, [(3.0, 0.5, 0.1), (-1.0, 2.0, 0.25), (2.0, -4.0, 0.05)]);
                Instance::new(
                    format!(
                        "A parameter is {theta}, its gradient is {gradient}, and the rate is \
                         {rate}. What is the parameter after one step of gradient descent?"
                    ),
                    "The gradient says in which direction the loss grows.",
                    Form::Decimal { within: 0.001 },
                    move || descent_step(numbers),
                )
            },
        },
        Question {
            id: "adam-step",
            title: "The first step of Adam",
            section: "From gradients to steps",
            pose: |seed| {
                let gradients = of(seed, [[0.001, 5.0], [0.02, 300.0], [0.004, 0.5]]);
                Instance::new(
                    format!(
                        "Two parameters have gradients of {} and {}. Adam takes its first \
                         step. How many times as far as the first parameter does the second \
                         move?",
                        gradients[0], gradients[1]
                    ),
                    "The step is the rate times m / √v. What are m and v when only one \
                     gradient has been seen?",
                    Form::Decimal { within: 0.01 },
                    move || adam_step(gradients),
                )
            },
        },
        Question {
            id: "cross-entropy",
            title: "The loss of a class",
            section: "When the answer is a class",
            pose: |seed| {
                let shares = of(seed, [[0.25, 0.75], [0.5, 0.5], [0.1, 0.9]]);
                Instance::new(
                    format!(
                        "Softmax makes the shares {} and {} of the logits of a token. The \
                         first class is right. What is the cross-entropy of this token?",
                        shares[0], shares[1]
                    ),
                    "It is minus the natural logarithm of one of the shares.",
                    Form::Decimal { within: 0.01 },
                    move || loss_of(shares),
                )
            },
        },
        Question {
            id: "logit-gradient",
            title: "The gradient of the right logit",
            section: "When the answer is a class",
            pose: |seed| {
                let (shares, right, which) = of(
                    seed,
                    [
                        ([0.7, 0.2, 0.1], 1, "second"),
                        ([0.6, 0.3, 0.1], 2, "third"),
                        ([0.4, 0.1, 0.5], 0, "first"),
                    ],
                );
                Instance::new(
                    format!(
                        "Softmax makes the shares {} of the logits of a token. The {which} \
                         class is right. What is the gradient of the cross-entropy with \
                         respect to its logit?",
                        listed(&shares.map(|share| share.to_string()))
                    ),
                    "The loss falls when this logit rises. And all gradients of the row sum \
                     to 0.",
                    Form::Decimal { within: 0.01 },
                    move || logit_gradient(shares, right),
                )
            },
        },
    ],
};

/// Where a parameter stands after one step.
fn stepped(mut by: impl Optimiser, theta: f64, gradient: f64) -> Result<f64> {
    let linear = |x| Linear::new(Matrix::from_element(1, 1, x), None);
    let mut parameter = linear(theta)?;
    by.step(&mut [&mut parameter], &[&linear(gradient)?])?;
    Ok(parameter.weight[0])
}

fn descent_step((theta, gradient, lr): (f64, f64, f64)) -> Result<Outcome> {
    let after = stepped(Sgd { lr }, theta, gradient)?;
    let up = stepped(Sgd { lr: -lr }, theta, gradient)?;
    let shown = format!("{theta} − {lr} · {gradient} = {after:.3}").replace("− -", "+ ");
    let why = "A gradient says where the loss grows. So a step goes against it, by the rate \
               times the gradient.";
    Ok(Outcome::new(Answer::Decimal(after), shown, why)
        .slip(Answer::Decimal(up), "That goes uphill: the loss grows.")
        .slip(
            Answer::Decimal(stepped(Sgd { lr: 1.0 }, theta, gradient)?),
            "That is a step with a rate of 1.",
        ))
}

fn adam_step([small, large]: [f64; 2]) -> Result<Outcome> {
    const RATE: f64 = 0.01;
    let moved = |gradient: f64| -> Result<[f64; 2]> {
        let adam = stepped(Adam::new(RATE), 0.0, gradient)?;
        Ok([adam.abs(), stepped(Sgd { lr: RATE }, 0.0, gradient)?.abs()])
    };
    let (one, other) = (moved(small)?, moved(large)?);
    let times = [0, 1].map(|at| other[at] / one[at]);
    let shown = format!(
        "with a rate of {RATE}    Adam     descent\n\
         gradient {small:<10}  {:>8.5}  {:>8.5}\n\
         gradient {large:<10}  {:>8.5}  {:>8.5}",
        one[0], one[1], other[0], other[1]
    );
    let why = "In the first step m / √v is the gradient divided by its own size: 1 or −1. \
               So each parameter moves by the rate, however small its gradient is.";
    Ok(Outcome::new(Answer::Decimal(times[0]), shown, why)
        .slip(Answer::Decimal(times[1]), "That is so in gradient descent.")
        .slip(
            Answer::Decimal(times[1].sqrt()),
            "There is a root, and it is taken of the square of the gradient.",
        ))
}

fn loss_of(shares: [f64; 2]) -> Result<Outcome> {
    let logits = Matrix::from_row_slice(1, 2, &shares.map(f64::ln));
    let loss = cross_entropy(&logits, &[0])?.value;
    let shown = format!("−ln {} = {loss:.4}", shares[0]);
    let why = "The loss is 0 only for a share of 1, and it has no upper end: a class that \
               was given almost nothing costs almost without limit.";
    Ok(Outcome::new(Answer::Decimal(loss), shown, why)
        .slip(
            Answer::Decimal(1.0 - shares[0]),
            "That is what is missing from the share to 1.",
        )
        .slip(Answer::Decimal(-shares[0].log2()), "That is the logarithm to base 2.")
        .slip(Answer::Decimal(-shares[0].log10()), "That is the logarithm to base 10."))
}

fn logit_gradient(shares: [f64; 3], right: usize) -> Result<Outcome> {
    let logits = Matrix::from_row_slice(1, 3, &shares.map(f64::ln));
    let gradient = cross_entropy(&logits, &[right])?.gradient;
    let line = |name: &str, numbers: &[f64]| {
        let numbers = numbers.iter().map(|number| format!("{number:>8.3}"));
        format!("{name:<10}{}\n", numbers.collect::<String>())
    };
    let shown = line("shares", &shares) + &line("gradient", gradient.as_slice());
    let why = "It is the share minus 1 for the right class, and the share itself for the \
               others: what was predicted minus what is right.";
    let p = shares[right];
    Ok(Outcome::new(Answer::Decimal(gradient[right]), shown, why)
        .slip(Answer::Decimal(p), "That would be so for a class that is wrong.")
        .slip(Answer::Decimal(1.0 - p), "That has the wrong sign: the loss would grow.")
        .slip(
            Answer::Decimal(-1.0 / p),
            "That is the gradient of the share, before the step back through softmax.",
        ))
}
