//! Training, however the gradients are computed.

use attention::{Error, Matrix, Result, Rng};
use block::Dropout;
use gradients::{Adam, Optimiser, clip_norm};
use rand::seq::IndexedRandom;

use crate::architecture::check_names;
use crate::scalars::BATCH;
use crate::{Architecture, Gradients, Rung, blocks};

/// How long, how fast, and on how many names a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// The number of steps.
    pub n_steps: usize,
    /// Names a step, drawn anew each time.
    pub batch: usize,
    /// The learning rate: how far a step of Adam goes at most.
    pub rate: f64,
    /// Warm-up: over so many steps, the rate rises to that in a straight line.
    pub warm_up: usize,
    /// Whether the rate then falls to 0, in a straight line too.
    pub decay: bool,
    /// Clipping: a gradient whose norm is larger than this is scaled down to it.
    pub clip: Option<f64>,
}

impl Schedule {
    /// With warm-up, decay and clipping: what [`Architecture::SMALL`] takes.
    pub const SMALL: Self = Self {
        n_steps: 1000,
        batch: BATCH,
        rate: 0.01,
        warm_up: 50,
        decay: true,
        clip: Some(1.0),
    };

    /// What [`Architecture::LARGER`] takes: half as many steps, on four times as many names.
    pub const LARGER: Self = Self { n_steps: 500, batch: 32, ..Self::SMALL };

    /// Twice as many steps of the small model, on twice as many names: what a page trains.
    pub const PAGE: Self = Self { n_steps: 2000, batch: 16, ..Self::SMALL };

    /// That of [`scalars::train`](crate::scalars::train): steps of one length, on 8 names.
    pub fn small(n_steps: usize) -> Self {
        Self { n_steps, batch: BATCH, rate: 0.01, warm_up: 0, decay: false, clip: None }
    }

    /// The learning rate after so many steps.
    pub fn rate_at(&self, step: usize) -> f64 {
        let Self { n_steps, rate, warm_up, decay, .. } = *self;
        match step < warm_up {
            true => rate * (step + 1) as f64 / (warm_up + 1) as f64,
            false if decay => {
                rate * n_steps.saturating_sub(step) as f64 / (n_steps - warm_up) as f64
            }
            false => rate,
        }
    }

    fn check(&self) -> Result<()> {
        Error::expect_positive("the number of names a step", self.batch)?;
        Error::expect_above_zero("the rate", self.rate)?;
        Error::expect_above_zero("the norm to be clipped to", self.clip.unwrap_or(1.0))
    }
}

/// A training that is taken step by step.
///
/// ```
/// use attention::{Rng, SeedableRng};
/// use gpt::{Architecture, NAMES, Rung, Schedule, Training, scalars};
///
/// let names: Vec<Vec<usize>> = NAMES.lines().map(scalars::ids).collect();
/// let (small, schedule) = (Architecture::SMALL, Schedule::small(10));
/// let rng = &mut Rng::seed_from_u64(1);
/// let mut training = Training::new(Rung::BATCH, small, schedule, rng)?;
/// assert!(training.step(&names, rng)?.is_some());
/// assert_eq!(training.run(&names, rng)?.len(), 9); // the losses of the others
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Training {
    rung: Rung,
    architecture: Architecture,
    schedule: Schedule,
    adam: Adam,
    /// One row.
    parameters: Matrix,
    /// Parts that are zeros, and stay so.
    left_out: Vec<&'static str>,
    dropout: Option<Dropout>,
    n_taken: usize,
}

impl Training {
    /// With random parameters.
    ///
    /// # Errors
    /// As [`from`](Self::from).
    pub fn new(
        rung: Rung,
        architecture: Architecture,
        schedule: Schedule,
        rng: &mut Rng,
    ) -> Result<Self> {
        Self::from(rung, architecture, schedule, &architecture.parameters(rng))
    }

    /// From these parameters on.
    ///
    /// # Errors
    /// [`Error::Length`] for a list of another length; [`Error::ZeroSize`] and
    /// [`Error::NotPositive`] for a schedule that has no step to take.
    pub fn from(
        rung: Rung,
        architecture: Architecture,
        schedule: Schedule,
        parameters: &[f64],
    ) -> Result<Self> {
        schedule.check()?;
        architecture.check(parameters)?;
        let parameters = Matrix::from_row_slice(1, parameters.len(), parameters);
        Ok(Self {
            rung,
            architecture,
            schedule,
            adam: Adam::new(schedule.rate),
            parameters,
            left_out: Vec::new(),
            dropout: None,
            n_taken: 0,
        })
    }

    /// The same without these parts, in every block: they are zeros, and are not learned.
    /// Without `w_o` and `b_o` nothing of attention is left, and without `positions` no letter
    /// knows where it stands.
    pub fn without(mut self, parts: &[&'static str]) -> Self {
        self.left_out = parts.to_vec();
        let list = self.parameters.as_mut_slice();
        clear(self.architecture, list, &self.left_out);
        self
    }

    /// The same with dropout behind each sub-layer, whatever the rung: its gradients are those
    /// of the book's block.
    ///
    /// # Errors
    /// [`Error::NotBelowOne`] for a chance that is not at least 0 and below 1.
    pub fn with_dropout(self, p: f64, rng: Rng) -> Result<Self> {
        Ok(Self { dropout: Some(Dropout::new(p, rng)?), ..self })
    }

    /// The loss of some names and its gradient, with dropout if there is any.
    ///
    /// # Errors
    /// As [`Rung::gradients`].
    pub fn gradients(&mut self, names: &[Vec<usize>]) -> Result<Gradients> {
        let list = self.parameters.as_slice();
        let (loss, mut d) = match &mut self.dropout {
            None => self.rung.gradients(self.architecture, list, names)?,
            dropout => {
                check_names(names, self.architecture.n_positions)?;
                let (sizes, dropout) = (self.architecture, dropout.as_mut());
                blocks::gradients(sizes, list, names, names.len(), dropout)?
            }
        };
        clear(self.architecture, &mut d, &self.left_out);
        Ok((loss, d))
    }

    /// Takes a step on some of these names, drawn at random, and gives the loss before it; none
    /// is left at the end of the schedule.
    ///
    /// # Errors
    /// As [`Rung::gradients`].
    pub fn step(&mut self, names: &[Vec<usize>], rng: &mut Rng) -> Result<Option<f64>> {
        let Schedule { n_steps, batch, clip, .. } = self.schedule;
        if self.n_taken == n_steps {
            return Ok(None);
        }
        let drawn: Vec<_> =
            (0..batch).filter_map(|_| names.choose(rng).cloned()).collect();
        let (loss, d) = self.gradients(&drawn)?;
        let mut d = Matrix::from_vec(1, d.len(), d);
        if let Some(most) = clip {
            clip_norm(&mut d, most);
        }
        self.adam.lr = self.schedule.rate_at(self.n_taken);
        self.adam.step_entries(&mut self.parameters, &d)?;
        self.n_taken += 1;
        Ok(Some(loss))
    }

    /// The parameters as they are now, in the order of [`Architecture::parts`].
    pub fn parameters(&self) -> &[f64] {
        self.parameters.as_slice()
    }

    /// How many steps have been taken.
    pub fn n_taken(&self) -> usize {
        self.n_taken
    }

    /// The sizes of what is trained.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Takes all steps that are left, and gives their losses.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn run(&mut self, names: &[Vec<usize>], rng: &mut Rng) -> Result<Vec<f64>> {
        std::iter::from_fn(|| self.step(names, rng).transpose()).collect()
    }
}

/// Zeros for the parts of these names.
fn clear(architecture: Architecture, list: &mut [f64], left_out: &[&str]) {
    for (part, entries) in architecture.parts().iter().zip(architecture.cut_mut(list)) {
        if left_out.contains(&part.name) {
            entries.fill(0.0);
        }
    }
}
