//! How a [`Model`] learns.

use std::ops::ControlFlow;

use attention::{Matrix, Result, Rng};
use gradients::{Adam, Optimiser, linear_backward};

use crate::one_layer::{Examples, Model, Task, mean};
use crate::{Learner, Schedule, Step, Trainer, Training};

/// A look at the test set.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// The number of steps taken so far.
    pub step: usize,
    /// The mean loss of the steps since the last look; at first, that of the test set.
    pub loss: f64,
    /// The score of each target.
    pub scores: Vec<f64>,
    /// The mean share that head i's asking row gives to the keys that hold target r's
    /// answer, `[n_heads, n_targets]`.
    pub focus: Matrix,
    /// The asking row of each head in the test set's first example,
    /// `[n_heads, n_tokens]`.
    pub rows: Matrix,
}

/// Trains a layer of so many heads on a task; after each step `on_step` may end it.
///
/// # Errors
/// As [`Model::random`], [`Trainer::new`] and [`Trainer::step`].
pub fn train(
    task: &impl Task,
    n_heads: usize,
    schedule: &Schedule,
    mut on_step: impl FnMut(Step) -> ControlFlow<()>,
) -> Result<Training> {
    let begin = |task: &_, rng: &mut Rng| Model::random(task, n_heads, rng);
    let mut trainer = Trainer::new(task.clone(), schedule.clone(), begin)?;
    while let Some(step) = trainer.step()? {
        if on_step(step).is_break() {
            break;
        }
    }
    trainer.stop()
}

impl Learner for Model {
    type Examples = Examples;
    type Look = Look;

    fn descend(&mut self, examples: &Examples, adam: &mut Adam<f32>) -> Result<f32> {
        let pass = self.pass(examples)?;
        let loss = examples.answers.loss(&self.readout.forward(pass.out())?)?;

        let d_readout = linear_backward(&self.readout, pass.out(), &loss.gradient)?;
        let d_layer = pass.backward(&d_readout.d_x)?;
        adam.step_entries(self, &(d_layer, d_readout.d_linear))?;
        Ok(loss.value)
    }

    fn look(&self, test: &Examples, losses: &[f64], since: usize) -> Result<Look> {
        let said = self.say(test)?;
        let loss = match &losses[since..] {
            [] => f64::from(test.answers.loss(&said.answers)?.value),
            lately => mean(lately),
        };
        let n_tokens = test.tokens.n_tokens();
        Ok(Look {
            step: losses.len(),
            loss,
            scores: test.answers.scores(&said.answers),
            focus: focus(&said.rows, &test.planted),
            rows: Matrix::from_fn(said.rows.len(), n_tokens, |i, t| said.rows[i][(0, t)]),
        })
    }

    fn score(look: &Look) -> f64 {
        look.score()
    }
}

impl Look {
    /// The mean score of all targets.
    pub fn score(&self) -> f64 {
        mean(&self.scores)
    }
}

/// The mean share that each head's asking row gives to what is planted for each target.
///
/// # Shapes
/// `rows` has an entry a head and `planted` one a target, each `[n_examples, n_tokens]`;
/// the result is `[n_heads, n_targets]`.
fn focus(rows: &[Matrix], planted: &[Matrix]) -> Matrix {
    Matrix::from_fn(rows.len(), planted.len(), |i, r| {
        let seen = rows[i].iter().zip(planted[r].iter());
        let seen = seen.filter(|(_, there)| **there > 0.0);
        seen.map(|(share, _)| share).sum::<f64>() / rows[i].nrows() as f64
    })
}
