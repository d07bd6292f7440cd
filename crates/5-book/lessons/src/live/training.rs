//! A training that a page shows while it goes on.

use anyhow::{Error, Result, bail};

use super::settings::Settings;
use super::view::LiveView;

/// Begins a training at these settings.
pub type Begin = fn(&Settings) -> Result<Box<dyn Training>>;

/// What can be trained while a reader looks on.
pub trait Training {
    /// Takes a step, if one is left.
    ///
    /// # Errors
    /// A training that diverges.
    fn step(&mut self) -> Result<()>;

    /// Steps taken, and steps in all.
    fn progress(&self) -> [usize; 2];

    /// What there is to see so far. Of the settings only those count that can be changed
    /// [at any time](super::Control::at_any_time).
    ///
    /// # Errors
    /// A setting that does not fit.
    fn shown(&self, settings: &Settings) -> Result<LiveView>;
}

/// A training that goes on when it is asked to. One that has failed has nothing to show but
/// its error.
pub struct OngoingTraining {
    training: Box<dyn Training>,
    failed: Option<String>,
}

impl OngoingTraining {
    pub(super) fn new(training: Box<dyn Training>) -> Self {
        Self { training, failed: None }
    }

    /// Takes up to so many further steps.
    ///
    /// # Errors
    /// As [`Training::step`].
    pub fn advance(&mut self, n_steps: usize) -> Result<()> {
        let failed = (0..n_steps).try_for_each(|_| self.training.step());
        failed.inspect_err(|error: &Error| self.failed = Some(format!("{error:#}")))
    }

    /// Steps taken, and steps in all.
    pub fn progress(&self) -> [usize; 2] {
        self.training.progress()
    }

    /// What there is to see so far.
    ///
    /// # Errors
    /// As [`Training::shown`]; what it failed with.
    pub fn shown(&self, settings: &Settings) -> Result<LiveView> {
        match &self.failed {
            Some(failed) => bail!("{failed}"),
            None => self.training.shown(settings),
        }
    }
}
