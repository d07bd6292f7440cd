//! A model of `training`, trained live.

use std::sync::OnceLock;

use anyhow::Result;
use attention::Rng;
use training::{Batches, Learner, Schedule, Trainer};

use super::settings::Settings;
use super::training::Training;
use super::view::LiveView;
use crate::kept::kept;

/// What is trained at some settings, and what is shown of it.
pub(crate) trait LiveTraining: Sized + 'static {
    /// Where the controls stand.
    type Set: Settings;
    /// What is found out.
    type Facts;
    /// What learns.
    type Model: Learner;
    /// What it learns from.
    type Task: Batches<Examples = <Self::Model as Learner>::Examples>;

    /// What it learns from.
    fn task() -> Self::Task;

    /// How it is trained.
    fn schedule(set: &Self::Set) -> Schedule;

    /// What it begins with.
    ///
    /// # Errors
    /// Settings that no model has.
    fn begin(
        set: &Self::Set,
        task: &Self::Task,
        rng: &mut Rng,
    ) -> attention::Result<Self::Model>;

    /// Where the training of the first settings is kept.
    fn kept() -> &'static OnceLock<training::Training<Self::Model>>;

    /// A training as it is at a look, which need not be among those that it holds. Of the
    /// settings only those count that can be changed at any time.
    ///
    /// # Errors
    /// A setting that does not fit.
    fn shown(
        set: &Self::Set,
        schedule: &Schedule,
        so_far: &training::Training<Self::Model>,
        now: &<Self::Model as Learner>::Look,
    ) -> Result<LiveView<Self::Facts>>;
}

/// A trainer of a live training.
type TrainerOf<T> = Trainer<<T as LiveTraining>::Model, <T as LiveTraining>::Task>;

fn trainer<T: LiveTraining>(set: &T::Set) -> Result<TrainerOf<T>> {
    let begin = |task: &T::Task, rng: &mut Rng| T::begin(set, task, rng);
    Ok(Trainer::new(T::task(), T::schedule(set), begin)?)
}

/// The training of the first settings, to its end. It takes seconds, and several figures and
/// tests look at it.
///
/// # Errors
/// As [`Trainer::new`].
pub(crate) fn first<T: LiveTraining>() -> Result<&'static training::Training<T::Model>> {
    kept(T::kept(), || Ok(trainer::<T>(&T::Set::first())?.finish()?))
}

/// Trains to the end, and shows that.
pub(crate) fn draw<T: LiveTraining>(set: &T::Set) -> Result<LiveView<T::Facts>> {
    let schedule = T::schedule(set);
    if set.moved().iter().all(|(control, _)| control.at_any_time) {
        let trained = first::<T>()?;
        return T::shown(set, &schedule, trained, trained.last());
    }
    let trained = trainer::<T>(set)?.finish()?;
    T::shown(set, &schedule, &trained, trained.last())
}

/// Begins to train.
pub(crate) fn begin<T: LiveTraining>(
    set: &T::Set,
) -> Result<Box<dyn Training<T::Set, T::Facts>>> {
    Ok(Box::new(Steps::<T>(trainer::<T>(set)?)))
}

/// Step by step.
struct Steps<T: LiveTraining>(TrainerOf<T>);

impl<T: LiveTraining> Training<T::Set, T::Facts> for Steps<T> {
    fn step(&mut self) -> Result<()> {
        self.0.step()?;
        Ok(())
    }

    fn progress(&self) -> [usize; 2] {
        [self.0.so_far().losses.len(), self.0.schedule().n_steps]
    }

    fn shown(&self, set: &T::Set) -> Result<LiveView<T::Facts>> {
        T::shown(set, self.0.schedule(), self.0.so_far(), &self.0.look()?)
    }
}
