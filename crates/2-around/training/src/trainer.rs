//! The loop, for whatever learns: draw, step, and look at the test set now and then.

use std::fmt::Debug;

use attention::{Error, Result, Rng};
use gradients::Adam;

use crate::Schedule;
use crate::one_layer::{Examples, Model, Task};
use crate::schedule::streams;

/// What batches of examples are drawn from.
pub trait Batches {
    /// What a batch holds.
    type Examples;

    /// So many fresh examples.
    ///
    /// # Errors
    /// [`Error`] for none.
    fn batch(&self, n_examples: usize, rng: &mut Rng) -> Result<Self::Examples>;

    /// So many examples to test with: as a batch, where nothing is ever drawn twice.
    ///
    /// # Errors
    /// As [`batch`](Self::batch).
    fn test(&self, n_examples: usize, rng: &mut Rng) -> Result<Self::Examples> {
        self.batch(n_examples, rng)
    }
}

impl<T: Task> Batches for T {
    type Examples = Examples;

    fn batch(&self, n_examples: usize, rng: &mut Rng) -> Result<Examples> {
        self.draw(n_examples, rng)
    }
}

/// What can be trained.
pub trait Learner: Clone {
    /// What it learns from.
    type Examples: Debug;
    /// What there is to see of it.
    type Look: Clone + Debug;

    /// Takes a step on some examples; gives the loss before it.
    ///
    /// # Errors
    /// Examples of another size.
    fn descend(&mut self, examples: &Self::Examples, adam: &mut Adam<f32>)
    -> Result<f32>;

    /// Looks at the test set after steps of these losses, of which `since` had been taken
    /// when it was last looked at.
    ///
    /// # Errors
    /// Examples of another size.
    fn look(
        &self,
        test: &Self::Examples,
        losses: &[f64],
        since: usize,
    ) -> Result<Self::Look>;

    /// The score that a look found, the mean of all of them if there are several.
    fn score(look: &Self::Look) -> f64;
}

/// A training, as far as it went.
#[derive(Debug, Clone)]
pub struct Training<L: Learner = Model> {
    /// What it began with.
    pub before: L,
    /// The model as it is now.
    pub model: L,
    /// The examples of the scores, which it never learns from.
    pub test: L::Examples,
    /// The looks at the test set, the first before any step.
    pub looks: Vec<L::Look>,
    /// The loss of each step taken.
    pub losses: Vec<f64>,
}

impl<L: Learner> Training<L> {
    /// The last look at the test set.
    pub fn last(&self) -> &L::Look {
        &self.looks[self.looks.len() - 1]
    }
}

/// A step that was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Which, from 0.
    pub step: usize,
    /// The loss on this step's examples, before the step.
    pub loss: f64,
    /// The [score](Learner::score) when the test set was last looked at.
    pub score: f64,
}

/// A training that is taken step by step.
///
/// The same schedule gives the same numbers to the last bit on one machine: there are no
/// threads, and every sum has its order. On another machine the products may be rounded
/// otherwise, and what is learned is the same.
///
/// ```
/// use training::repeats::{Architecture, Predictor, Repeats};
/// use training::{Schedule, Trainer};
///
/// let schedule = Schedule { n_steps: 3, batch: 4, n_test: 4, ..Schedule::usual(1) };
/// let mut trainer = Trainer::new(Repeats::default(), schedule, |task, rng| {
///     Predictor::random(Architecture::TWO_LAYERS, task, rng)
/// })?;
/// while let Some(step) = trainer.step()? {
///     println!("step {}: loss {:.3}", step.step, step.loss);
/// }
/// assert_eq!(trainer.finish()?.last().step, 3);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug)]
pub struct Trainer<L: Learner, T> {
    task: T,
    schedule: Schedule,
    batches: Rng,
    adam: Adam<f32>,
    so_far: Training<L>,
    /// How many steps had been taken at the last look.
    looked_at: usize,
}

impl<L: Learner, T: Batches<Examples = L::Examples>> Trainer<L, T> {
    /// What `begin` makes with random parameters, and a first look at the test set.
    ///
    /// # Errors
    /// As `begin`; [`Error`] for 0 steps or examples; [`Error::NotPositive`].
    pub fn new(
        task: T,
        schedule: Schedule,
        begin: impl FnOnce(&T, &mut Rng) -> Result<L>,
    ) -> Result<Self> {
        schedule.check()?;
        let [mut parameters, batches, mut test] = streams(schedule.seed);
        let before = begin(&task, &mut parameters)?;
        let test = task.test(schedule.n_test, &mut test)?;
        let looks = vec![before.look(&test, &[], 0)?];
        let model = before.clone();
        let so_far = Training { before, model, test, looks, losses: Vec::new() };
        let adam = Adam::new(schedule.rate);
        Ok(Self { task, schedule, batches, adam, so_far, looked_at: 0 })
    }

    /// Takes a step, and looks at the test set if a look is due; none is left at the end.
    ///
    /// # Errors
    /// [`Error::Diverged`] if the loss is no number, or over a hundred times the first.
    pub fn step(&mut self) -> Result<Option<Step>> {
        let Schedule { n_steps, batch, rate, .. } = self.schedule;
        let Training { model, losses, .. } = &mut self.so_far;
        let step = losses.len();
        if step == n_steps {
            return Ok(None);
        }
        self.adam.lr = self.schedule.rate_at(step);

        let examples = self.task.batch(batch, &mut self.batches)?;
        let loss = f64::from(model.descend(&examples, &mut self.adam)?);
        check_loss(step, loss, *losses.first().unwrap_or(&loss), rate)?;
        losses.push(loss);

        if self.schedule.is_look_due(step + 1) {
            self.keep_look()?;
        }
        Ok(Some(Step { step, loss, score: L::score(self.so_far.last()) }))
    }

    /// The schedule that it was begun with.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The training as it is now; its last look may be some steps old.
    pub fn so_far(&self) -> &Training<L> {
        &self.so_far
    }

    /// Looks at the test set as the model is now.
    ///
    /// # Errors
    /// None that [`new`](Self::new) would not have had.
    pub fn look(&self) -> Result<L::Look> {
        let Training { model, test, losses, .. } = &self.so_far;
        if self.looked_at == losses.len() {
            return Ok(self.so_far.last().clone());
        }
        model.look(test, losses, self.looked_at)
    }

    /// Takes all steps that are left.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn finish(mut self) -> Result<Training<L>> {
        while self.step()?.is_some() {}
        self.stop()
    }

    /// The training as far as it went, with a last look at its end.
    ///
    /// # Errors
    /// As [`look`](Self::look).
    pub fn stop(mut self) -> Result<Training<L>> {
        if self.looked_at < self.so_far.losses.len() {
            self.keep_look()?;
        }
        Ok(self.so_far)
    }

    fn keep_look(&mut self) -> Result<()> {
        let look = self.look()?;
        self.so_far.looks.push(look);
        self.looked_at = self.so_far.losses.len();
        Ok(())
    }
}

/// A loss this many times the first has exploded: it does not come back from there.
const EXPLODED: f64 = 100.0;

fn check_loss(step: usize, loss: f64, first: f64, rate: f64) -> Result<()> {
    // A NaN is below nothing.
    if loss.is_finite() && loss <= EXPLODED * first.max(1.0) {
        return Ok(());
    }
    Err(Error::Diverged { step, loss, first, rate })
}
