//! The loop over the whole model: embedding, blocks and unembedding learn together.

use attention::{Matrix, Rng};
use gradients::{Adam, Optimiser, cross_entropy, linear_backward};

use super::predictor::largest;
use super::{Architecture, HeadShares, Predictor, Repeats, Sequences};
use crate::schedule::Streams;
use crate::{Error, Result, Schedule};

/// A look at the test set.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictorLook {
    /// The number of steps taken so far.
    pub step: usize,
    /// The loss of the last step; none before the first.
    pub loss: Option<f64>,
    /// The share of right answers among those that can be known.
    pub score: f64,
    /// Where the heads look.
    pub shares: HeadShares,
    /// `maps[l][i]` is the map of head i of block l on the first test sequence,
    /// `[n_tokens, n_tokens]`.
    pub maps: Vec<Vec<Matrix>>,
}

/// A training of a predictor, as far as it went.
#[derive(Debug, Clone)]
pub struct PredictorTraining {
    /// What it began with.
    pub before: Predictor,
    /// The model as it is now.
    pub model: Predictor,
    /// What scores are measured on.
    pub test: Sequences,
    /// The looks at the test set.
    pub looks: Vec<PredictorLook>,
    /// The loss of each step taken.
    pub losses: Vec<f64>,
}

/// A training that is taken step by step.
///
/// ```
/// use training::{Architecture, PredictorTrainer, Repeats, Schedule};
///
/// let schedule = Schedule { n_steps: 3, batch: 4, n_test: 4, ..Schedule::usual(1) };
/// let mut trainer =
///     PredictorTrainer::new(Architecture::TWO_LAYERS, Repeats::default(), schedule)?;
/// while let Some(loss) = trainer.step()? {
///     println!("loss {loss:.3}");
/// }
/// assert_eq!(trainer.so_far().losses.len(), 3);
/// # Ok::<(), training::Error>(())
/// ```
#[derive(Debug)]
pub struct PredictorTrainer {
    task: Repeats,
    schedule: Schedule,
    batches: Rng,
    adam: Adam<f32>,
    so_far: PredictorTraining,
}

impl PredictorTrainer {
    /// Random parameters, and a first look at the test set.
    ///
    /// # Errors
    /// [`Error::Sizes`] for a size of 0; [`Error::Rate`].
    pub fn new(built: Architecture, task: Repeats, schedule: Schedule) -> Result<Self> {
        schedule.check()?;
        let mut streams = Streams::of(schedule.seed);
        let before = Predictor::random(built, &task, &mut streams.parameters)?;
        let test = task.draw(schedule.n_test, &mut streams.test)?;
        let looks = vec![PredictorLook::at(&before, &test, &[])?];
        let model = before.clone();
        let so_far = PredictorTraining { before, model, test, looks, losses: Vec::new() };
        let (batches, adam) = (streams.batches, Adam::new(schedule.rate));
        Ok(Self { task, schedule, batches, adam, so_far })
    }

    /// Takes a step and gives the loss before it, or none at the end.
    ///
    /// # Errors
    /// [`Error::Diverged`] if the loss is no number.
    pub fn step(&mut self) -> Result<Option<f64>> {
        let Schedule { n_steps, batch, rate, .. } = self.schedule;
        let step = self.so_far.losses.len();
        if step == n_steps {
            return Ok(None);
        }
        self.adam.lr = self.schedule.rate_at(step);
        let read = self.task.draw(batch, &mut self.batches)?;
        let loss = descend(&mut self.so_far.model, &read, &mut self.adam)?;
        let first = *self.so_far.losses.first().unwrap_or(&loss);
        if !loss.is_finite() {
            return Err(Error::Diverged { step, loss, first, rate });
        }
        self.so_far.losses.push(loss);
        if self.schedule.is_look_due(step + 1) {
            self.so_far.looks.push(self.look()?);
        }
        Ok(Some(loss))
    }

    /// The schedule that it was begun with.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Looks at the test set as the model is now.
    ///
    /// # Errors
    /// None that [`new`](Self::new) would not have had.
    pub fn look(&self) -> Result<PredictorLook> {
        let PredictorTraining { model, test, losses, .. } = &self.so_far;
        let last = self.so_far.last();
        if last.step == losses.len() {
            return Ok(last.clone());
        }
        PredictorLook::at(model, test, losses)
    }

    /// The training as it is now; its last look may be some steps old.
    pub fn so_far(&self) -> &PredictorTraining {
        &self.so_far
    }

    /// Takes all steps that are left.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn finish(mut self) -> Result<PredictorTraining> {
        while self.step()?.is_some() {}
        Ok(self.so_far)
    }
}

/// One step; gives the loss before it. Every token is asked what comes next, also where
/// that cannot be known.
// ANCHOR: descend
fn descend(model: &mut Predictor, read: &Sequences, adam: &mut Adam<f32>) -> Result<f64> {
    let pass = model.pass(read)?;
    let logits = model.unembedding.forward(pass.out())?;
    let loss = cross_entropy(&logits, &read.next)?;

    let d_out = linear_backward(&model.unembedding, pass.out(), &loss.gradient)?;
    let d_stack = pass.backward(&d_out.d_x)?;
    let d_embedding = model.embedding.backward(&read.ids, read.n_tokens, &d_stack.d_x)?;

    let gradients = d_embedding.entries().into_iter();
    let gradients = gradients.chain(d_stack.entries()).chain(d_out.d_linear.entries());
    let parameters = model.embedding.entries_mut().into_iter();
    let parameters = parameters.chain(model.stack.entries_mut());
    let parameters = parameters.chain(model.unembedding.entries_mut());
    adam.update(&mut parameters.zip(gradients).collect::<Vec<_>>())?;
    Ok(f64::from(loss.value))
}
// ANCHOR_END: descend

impl PredictorLook {
    fn at(model: &Predictor, test: &Sequences, losses: &[f64]) -> Result<Self> {
        let pass = model.pass(test)?;
        let logits = model.unembedding.forward(pass.out())?;
        let of_first = |attn: &[Vec<Matrix<f32>>]| {
            attn[0].iter().map(|map| map.map(f64::from)).collect()
        };
        Ok(Self {
            step: losses.len(),
            loss: losses.last().copied(),
            score: test.score(&largest(&logits)),
            shares: HeadShares::in_pass(&pass, test),
            maps: pass.blocks().iter().map(|pass| of_first(pass.attn())).collect(),
        })
    }
}

impl PredictorTraining {
    /// The last look.
    pub fn last(&self) -> &PredictorLook {
        &self.looks[self.looks.len() - 1]
    }
}
