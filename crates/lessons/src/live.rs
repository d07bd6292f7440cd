//! Live figures: a figure, the controls that change it, and what it says then.
//!
//! ```text
//! controls ─▶ settings ─▶ draw ─▶ figure, words, numbers
//!     ▲                              │
//!     └──────── a reader ◀───────────┘
//! ```
//!
//! The one decision: **a live figure is a figure that takes settings**. The book draws it
//! at its first settings, as it draws every figure; a page that can run this crate draws
//! it anew at whatever its reader sets. It is the same code in both places.

mod control;
mod settings;
mod shown;

use anyhow::{Context, Result};

pub use control::{Control, Kind};
pub use settings::Settings;
pub use shown::Shown;

use crate::{ch01, ch02, ch03, ch04, ch05, ch06, ch07, ch09, ch11, ch12, ch13};

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

/// Every live figure, in the order of the chapters.
pub const ALL: [&Live; 13] = [
    &ch01::other_parts::LIVE,
    &ch02::arrows::LIVE,
    &ch02::scale::LIVE,
    &ch03::words_head::LIVE,
    &ch04::disturbed::LIVE,
    &ch04::free::LIVE,
    &ch05::view::LIVE,
    &ch06::ledger::LIVE,
    &ch07::painted::LIVE,
    &ch09::nudge::LIVE,
    &ch11::training_now::LIVE,
    &ch12::without::LIVE,
    &ch13::online::LIVE,
];

/// The live figure of this name.
///
/// # Errors
/// An unknown name, with the known ones.
pub fn find(name: &str) -> Result<&'static Live> {
    let found = ALL.into_iter().find(|live| live.name == name);
    found.with_context(|| {
        let known = ALL.map(|live| live.name).join(", ");
        format!("no live figure {name}; there are: {known}")
    })
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

#[cfg(test)]
mod tests;
