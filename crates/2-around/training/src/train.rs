//! The loop: draw, answer, compare, walk back, step.

use std::ops::ControlFlow;

use attention::{Mask, Matrix, Rng};
use gradients::{Adam, Optimiser, Pass, linear_backward};

use crate::schedule::Streams;
use crate::{Error, Examples, Model, Result, Schedule, Task};

/// How long, how fast, and from which seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The number of heads.
    pub n_heads: usize,
    /// The number of steps.
    pub n_steps: usize,
    /// Examples a step. They are drawn anew each time: no example is seen twice.
    pub batch: usize,
    /// How far a step of Adam goes at first; it falls to 0 in a straight line.
    pub rate: f64,
    /// Where all random numbers come from: parameters, batches and the test set, each
    /// from a stream of its own.
    pub seed: u64,
    /// Examples of the test set, on which every score is measured.
    pub n_test: usize,
    /// How many times the test set is looked at along the way.
    pub n_looks: usize,
}

impl From<&Settings> for Schedule {
    fn from(settings: &Settings) -> Self {
        let Settings { n_steps, batch, rate, seed, n_test, n_looks, .. } = *settings;
        Self { n_steps, batch, rate, seed, n_test, n_looks }
    }
}

/// A step that was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Which, from 0.
    pub step: usize,
    /// The loss on this step's examples, before the step.
    pub loss: f64,
    /// The mean score of all targets when the test set was last looked at.
    pub score: f64,
}

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

/// A training that was run to its end, or to where it was told to stop.
#[derive(Debug, Clone)]
pub struct Trained {
    /// What it began with.
    pub before: Model,
    /// What it ended with.
    pub model: Model,
    /// The examples of the scores.
    pub test: Examples,
    /// The looks at the test set, the first before any step, the last after the last.
    pub looks: Vec<Look>,
    /// The loss of each step taken.
    pub losses: Vec<f64>,
}

/// A training that is taken step by step.
///
/// ```
/// use training::{Lookups, Settings, Trainer};
///
/// let settings = Settings { n_steps: 5, ..Lookups::settings(3, 1) };
/// let mut trainer = Trainer::new(Lookups::default(), settings)?;
/// while let Some(step) = trainer.step()? {
///     println!("step {}: loss {:.3}", step.step, step.loss);
/// }
/// assert_eq!(trainer.finish()?.last().step, 5);
/// # Ok::<(), training::Error>(())
/// ```
#[derive(Debug)]
pub struct Trainer<T> {
    task: T,
    settings: Settings,
    schedule: Schedule,
    batches: Rng,
    /// Of the layer, and of the readout.
    adams: [Adam<f32>; 2],
    so_far: Trained,
}

impl<T: Task> Trainer<T> {
    /// Random parameters, and a first look at the test set.
    ///
    /// # Errors
    /// [`Error::Sizes`] if the heads cannot share the task's `d_model`, or for 0 steps or
    /// examples; [`Error::Rate`].
    pub fn new(task: T, settings: Settings) -> Result<Self> {
        let schedule = Schedule::from(&settings);
        schedule.check()?;
        let mut streams = Streams::of(settings.seed);
        let before = Model::random(&task, settings.n_heads, &mut streams.parameters)?;
        let test = task.draw(settings.n_test, &mut streams.test)?;
        let (model, batches) = (before.clone(), streams.batches);
        let looks = vec![Look::at(&model, &test, &[], 0)?];
        let adams = [Adam::new(settings.rate), Adam::new(settings.rate)];
        let so_far = Trained { before, model, test, looks, losses: Vec::new() };
        Ok(Self { task, settings, schedule, batches, adams, so_far })
    }

    /// Takes a step, and looks at the test set if a look is due; none is left at the end.
    ///
    /// # Errors
    /// [`Error::Diverged`] if the loss is no number, or over a hundred times the first.
    pub fn step(&mut self) -> Result<Option<Step>> {
        let Settings { n_steps, batch, rate, .. } = self.settings;
        let Trained { model, losses, .. } = &mut self.so_far;
        let step = losses.len();
        if step == n_steps {
            return Ok(None);
        }
        let now = self.schedule.rate_at(step);
        self.adams.iter_mut().for_each(|adam| adam.lr = now);

        let examples = self.task.draw(batch, &mut self.batches)?;
        let loss = f64::from(descend(model, &examples, &mut self.adams)?);
        check_loss(step, loss, *losses.first().unwrap_or(&loss), rate)?;
        losses.push(loss);

        if self.schedule.is_look_due(step + 1) {
            self.so_far.looks.push(self.look()?);
        }
        Ok(Some(Step { step, loss, score: self.so_far.last().score() }))
    }

    /// The settings that it was begun with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The training as it is now; its last look may be some steps old.
    pub fn so_far(&self) -> &Trained {
        &self.so_far
    }

    /// Looks at the test set as the model is now.
    ///
    /// # Errors
    /// None that [`new`](Self::new) would not have had.
    pub fn look(&self) -> Result<Look> {
        let Trained { model, test, losses, .. } = &self.so_far;
        let last = self.so_far.last();
        if last.step == losses.len() {
            return Ok(last.clone());
        }
        Look::at(model, test, losses, last.step)
    }

    /// The training as far as it went, with a last look at its end.
    ///
    /// # Errors
    /// As [`look`](Self::look).
    pub fn finish(mut self) -> Result<Trained> {
        if self.so_far.last().step < self.so_far.losses.len() {
            self.so_far.looks.push(self.look()?);
        }
        Ok(self.so_far)
    }
}

/// Trains a layer on a task; after each step `on_step` may end it.
///
/// The same settings give the same numbers to the last bit on one machine: there are no
/// threads, and every sum has its order. On another machine the products may be rounded
/// otherwise, and what is learned is the same.
///
/// # Errors
/// As [`Trainer::new`] and [`Trainer::step`].
pub fn train(
    task: &impl Task,
    settings: &Settings,
    mut on_step: impl FnMut(Step) -> ControlFlow<()>,
) -> Result<Trained> {
    let mut trainer = Trainer::new(task, settings.clone())?;
    while let Some(step) = trainer.step()? {
        if on_step(step).is_break() {
            break;
        }
    }
    trainer.finish()
}

/// One step; gives the loss before it.
fn descend(
    model: &mut Model,
    examples: &Examples,
    [of_layer, of_readout]: &mut [Adam<f32>; 2],
) -> Result<f32> {
    let Examples { asking, tokens, answers, .. } = examples;
    let pass = Pass::forward_batch(&model.layer, asking, tokens, tokens, &[Mask::None])?;
    let loss = answers.loss(&model.readout.forward(pass.out())?)?;

    let d_readout = linear_backward(&model.readout, pass.out(), &loss.gradient)?;
    let d_layer = pass.backward(&d_readout.d_x)?;
    of_layer.step_layer(&mut model.layer, &d_layer)?;
    of_readout.step(&mut [&mut model.readout], &[&d_readout.d_linear])?;
    Ok(loss.value)
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

impl Look {
    /// Looks at the test set after `losses.len()` steps, the last look having been after
    /// `since`.
    fn at(model: &Model, test: &Examples, losses: &[f64], since: usize) -> Result<Self> {
        let said = model.say(test)?;
        let loss = match &losses[since..] {
            [] => f64::from(test.answers.loss(&said.answers)?.value),
            lately => lately.iter().sum::<f64>() / lately.len() as f64,
        };
        let n_tokens = test.tokens.n_tokens();
        Ok(Self {
            step: losses.len(),
            loss,
            scores: test.answers.scores(&said.answers),
            focus: focus(&said.rows, &test.planted),
            rows: Matrix::from_fn(said.rows.len(), n_tokens, |i, t| said.rows[i][(0, t)]),
        })
    }

    /// The mean score of all targets.
    pub fn score(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }
}

/// The mean share that each head's asking row gives to what is planted for each target.
///
/// # Shapes
/// `rows` has an entry a head and `planted` one a target, each `[n_examples, n_tokens]`;
/// the result is `[n_heads, n_targets]`.
pub fn focus(rows: &[Matrix], planted: &[Matrix]) -> Matrix {
    Matrix::from_fn(rows.len(), planted.len(), |i, r| {
        let seen = rows[i].iter().zip(planted[r].iter());
        let seen = seen.filter(|(_, there)| **there > 0.0);
        seen.map(|(share, _)| share).sum::<f64>() / rows[i].nrows() as f64
    })
}

impl Trained {
    /// The last look at the test set.
    pub fn last(&self) -> &Look {
        &self.looks[self.looks.len() - 1]
    }
}
