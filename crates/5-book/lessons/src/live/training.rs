//! A training that a page shows while it goes on.

use anyhow::Result;

use super::view::LiveView;

/// Begins a training at these settings.
pub(crate) type Begin<S, F> = fn(&S) -> Result<Box<dyn Training<S, F>>>;

/// What can be trained while a reader looks on.
pub(crate) trait Training<S, F> {
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
    fn shown(&self, settings: &S) -> Result<LiveView<F>>;
}
