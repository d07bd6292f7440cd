//! Many machines.

use anyhow::Result;
use attention::{Linear, Matrix, RowVector, thousands};

use super::super::answer::{Answer, Form};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "many-machines",
    questions: &[
        Question {
            id: "bias-on-every-rank",
            title: "b^O on every rank",
            section: "Heads apart: tensor parallelism",
            pose: |seed| {
                let (ranks, bias) = of(seed, [(6, 0.5), (4, 0.25), (8, -0.5)]);
                Instance::new(
                    format!(
                        "The heads of a layer are on {ranks} ranks. Each adds b^O to its part, \
                         and an all-reduce sums the parts. An entry of b^O is {bias}. By how \
                         much is that column of the output off?"
                    ),
                    "How often is b^O in the sum, and how often should it be?",
                    Form::Decimal { within: 0.01 },
                    move || bias_on_every_rank(ranks, bias),
                )
            },
        },
        Question {
            id: "all-reduce-in-a-ring",
            title: "What a rank sends in an all-reduce",
            section: "Heads apart: tensor parallelism",
            pose: |seed| {
                let (ranks, n) = of(seed, [(4, 8_000), (8, 16_000), (5, 15_000)]);
                Instance::new(
                    format!(
                        "{ranks} ranks stand in a ring, and each has {} numbers. They are summed \
                         in parts: once around to add the parts up, and once more to hand the \
                         sums on. How many numbers does each rank send?",
                        thousands(n)
                    ),
                    "Each time it sends one part, and no part has to return to where it began.",
                    Form::Whole,
                    move || ring(ranks, n),
                )
            },
        },
    ],
};

fn bias_on_every_rank(ranks: usize, bias: f64) -> Result<Outcome> {
    let w_o = Linear::new(Matrix::zeros(1, 1), Some(RowVector::from_element(1, bias)))?;
    let nothing = Matrix::zeros(1, 1);
    let right = w_o.forward(&nothing)?;
    let mut sum = Matrix::zeros(1, 1);
    for _ in 0..ranks {
        sum += w_o.forward(&nothing)?;
    }
    let off = (sum - right)[0];
    let shown = format!("{ranks} · {bias} less {bias} = {off}");
    let why = "b^O belongs to the layer and to no rank, so one of them adds it, or it is added \
               behind the sum. With a bias of 0, as a fresh layer has it, nothing shows.";
    Ok(Outcome::new(Answer::Decimal(off), shown, why)
        .slip(
            Answer::Decimal(ranks as f64 * bias),
            "That is what the sum has of it, and once is right.",
        )
        .slip(Answer::Decimal(bias), "That would be so with two ranks.")
        .slip(Answer::Decimal(0.0), "It would be off by nothing if one rank added it."))
}

/// A ring all-reduce, counted: what each rank sends, and whether all have the sum.
fn ring(ranks: usize, n: usize) -> Result<Outcome> {
    let part = n / ranks;
    let mut held: Vec<Vec<f64>> =
        (0..ranks).map(|rank| vec![rank as f64; ranks]).collect();
    let mut sent = 0;
    for step in 0..2 * (ranks - 1) {
        let before = held.clone();
        for (rank, held) in held.iter_mut().enumerate() {
            let from = (rank + ranks - 1) % ranks;
            let at = (from + 2 * ranks - step) % ranks;
            match step < ranks - 1 {
                true => held[at] += before[from][at],
                false => held[at] = before[from][at],
            }
        }
        sent += part;
    }
    let total = (0..ranks).map(|rank| rank as f64).sum::<f64>();
    anyhow::ensure!(held.iter().flatten().all(|&sum| sum == total), "no all-reduce");
    let shown = format!(
        "to add up    {} times {}\nto hand on   {} times {}",
        ranks - 1,
        thousands(part),
        ranks - 1,
        thousands(part)
    );
    let why = "It is 2 (p − 1) / p of what a rank has, so hardly more with many ranks than \
               with few.";
    Ok(Outcome::new(Answer::Whole(sent), shown, why)
        .slip(Answer::Whole(n * (ranks - 1)), "That sends all of it to every other rank.")
        .slip(Answer::Whole(2 * n), "That goes all the way around, both times.")
        .slip(Answer::Whole(sent / 2), "That is one of the two rounds."))
}
