//! The loop, for whatever learns.

use attention::Rng;
use gradients::Adam;

use crate::schedule::Streams;
use crate::{Error, Result, Schedule};

/// What can be trained.
pub trait Learner: Sized {
    /// What it learns from.
    type Task;
    /// What a task draws.
    type Examples;

    /// So many fresh examples.
    ///
    /// # Errors
    /// As the task.
    fn draw(task: &Self::Task, n: usize, rng: &mut Rng) -> Result<Self::Examples>;

    /// Takes a step on some examples; gives the loss before it.
    ///
    /// # Errors
    /// Examples of another size.
    fn descend(&mut self, examples: &Self::Examples, adam: &mut Adam<f32>)
    -> Result<f32>;
}

/// A training at its end.
#[derive(Debug, Clone)]
pub struct Learned<L: Learner> {
    /// What learned.
    pub learner: L,
    /// The loss of each step.
    pub losses: Vec<f64>,
    /// Examples that it never saw.
    pub test: L::Examples,
}

/// Trains a learner that is made with the first of the seed's random streams, to the end.
///
/// # Errors
/// As the learner; [`Error::Rate`]; [`Error::Diverged`] if the loss is no number.
pub fn learn<L: Learner>(
    begin: impl FnOnce(&mut Rng) -> Result<L>,
    task: &L::Task,
    schedule: &Schedule,
) -> Result<Learned<L>> {
    schedule.check()?;
    let Schedule { n_steps, batch, rate, seed, n_test, .. } = *schedule;
    let Streams { mut parameters, mut batches, mut test } = Streams::of(seed);
    let mut learner = begin(&mut parameters)?;
    let test = L::draw(task, n_test, &mut test)?;
    let (mut adam, mut losses) = (Adam::new(rate), Vec::with_capacity(n_steps));
    for step in 0..n_steps {
        adam.lr = schedule.rate_at(step);
        let examples = L::draw(task, batch, &mut batches)?;
        let loss = f64::from(learner.descend(&examples, &mut adam)?);
        let first = *losses.first().unwrap_or(&loss);
        if !loss.is_finite() {
            return Err(Error::Diverged { step, loss, first, rate });
        }
        losses.push(loss);
    }
    Ok(Learned { learner, losses, test })
}
