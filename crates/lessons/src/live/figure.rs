//! What a live figure is, and a training that one may show.

use anyhow::Result;

use super::control::Control;
use super::settings::Settings;
use super::shown::Shown;

/// A figure that its reader can change.
pub struct Live {
    /// What a chapter and an address call it.
    pub name: &'static str,
    /// What a reader may ask of it, in a sentence or two.
    pub ask: &'static str,
    /// Whether it needs the trained layer.
    pub needs_layer: bool,
    /// What can be changed, in the order that it is shown in.
    pub controls: fn() -> Vec<Control>,
    /// The figure at these settings.
    pub draw: fn(&Settings) -> Result<Shown>,
    /// How it is trained, if it is: step by step, so that a page can show progress and
    /// stop. At its end it shows what `draw` does.
    pub training: Option<Begin>,
}

/// Begins a training at these settings.
pub type Begin = fn(&Settings) -> Result<Box<dyn Training>>;

/// A training that goes on when it is asked to.
pub trait Training {
    /// Takes up to so many further steps.
    ///
    /// # Errors
    /// A training that diverges.
    fn advance(&mut self, n_steps: usize) -> Result<()>;

    /// Steps taken, and steps in all.
    fn progress(&self) -> [usize; 2];

    /// What there is to see so far. Of the settings only those count that can be changed
    /// [at any time](Control::at_any_time).
    ///
    /// # Errors
    /// A setting that does not fit.
    fn shown(&self, settings: &Settings) -> Result<Shown>;
}

impl Live {
    /// Draws the figure at its first settings, but for these.
    ///
    /// # Errors
    /// A setting that there is not, or that cannot be.
    pub fn at<'a>(
        &self,
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Shown> {
        (self.draw)(&self.settings(pairs)?)
    }

    /// The first settings, but for these.
    ///
    /// # Errors
    /// A setting that there is not, or that cannot be.
    pub fn settings<'a>(
        &self,
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Settings> {
        Settings::new(&(self.controls)(), pairs)
    }
}
