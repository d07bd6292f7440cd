//! Sensors.

use anyhow::Result;

use super::super::answer::{Answer, Form};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "sensors",
    questions: &[
        Question {
            id: "windows-of-an-engine",
            title: "Windows of an engine",
            section: "The remaining useful life of an engine",
            pose: |seed| {
                let (rows, steps) = of(seed, [(43, 30), (35, 20), (54, 30)]);
                Instance::new(
                    format!(
                        "An engine was read for {rows} cycles, and a window is {steps} cycles in \
                         a row. How many windows has the engine?"
                    ),
                    "Which is the first cycle that a window can end with, and which the last?",
                    Form::Whole,
                    move || windows(rows, steps),
                )
            },
        },
        Question {
            id: "on-the-trainings-scale",
            title: "On the training's scale",
            section: "The remaining useful life of an engine",
            pose: |seed| {
                let (train, test) = of(
                    seed,
                    [
                        ([1.0, 2.0, 3.0], 5.0),
                        ([2.0, 4.0, 6.0], 3.0),
                        ([10.0, 20.0, 30.0], 35.0),
                    ],
                );
                Instance::new(
                    format!(
                        "A sensor read {}, {} and {} in the training, and {test} in the test. \
                         What does the model get for {test}, on the training's scale?",
                        train[0], train[1], train[2]
                    ),
                    "Less the mean, divided by the spread, both of the training; the spread \
                     divides by n.",
                    Form::Decimal { within: 0.02 },
                    move || scaled(train, test),
                )
            },
        },
    ],
};

fn windows(rows: usize, steps: usize) -> Result<Outcome> {
    let cycles: Vec<usize> = (0..rows).collect();
    let all: Vec<&[usize]> = cycles.windows(steps).collect();
    let line = |window: &[usize]| format!("{} to {}", window[0], window[steps - 1]);
    let shown =
        format!("{}\n{}\n…\n{}", line(all[0]), line(all[1]), line(all[all.len() - 1]));
    let why = "Neighbouring windows share all cycles but one at either end. So they are far \
               from independent, and an engine belongs to the training or to the test as a \
               whole.";
    Ok(Outcome::new(Answer::Whole(all.len()), shown, why)
        .slip(Answer::Whole(rows - steps), "That leaves one out: count both ends.")
        .slip(Answer::Whole(rows / steps), "That cuts windows that do not overlap.")
        .slip(
            Answer::Whole(rows),
            "The first cycles have no window that ends with them.",
        ))
}

fn scaled(train: [f64; 3], test: f64) -> Result<Outcome> {
    let mean = train.iter().sum::<f64>() / 3.0;
    let squares: f64 = train.iter().map(|x| (x - mean).powi(2)).sum();
    let spread = (squares / 3.0).sqrt();
    let right = (test - mean) / spread;
    let shown = format!("({test} − {mean}) / {spread:.3} = {right:.3}");
    let all = [train[0], train[1], train[2], test];
    let mean_of_all = all.iter().sum::<f64>() / 4.0;
    let squares_of_all: f64 = all.iter().map(|x| (x - mean_of_all).powi(2)).sum();
    let why = "What a reading becomes does not depend on the test. A test that is measured by \
               itself hides that a whole fleet has drifted.";
    Ok(Outcome::new(Answer::Decimal(right), shown, why)
        .slip(Answer::Decimal(test - mean), "That only subtracts the mean.")
        .slip(
            Answer::Decimal((test - mean) / (squares / 2.0).sqrt()),
            "That divides the squares by n − 1.",
        )
        .slip(
            Answer::Decimal((test - mean_of_all) / (squares_of_all / 4.0).sqrt()),
            "That has the test reading in the mean and the spread.",
        ))
}
