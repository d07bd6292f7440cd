//! What a live figure is.

use anyhow::Result;
use serde::Serialize;

use super::question::Question;
use super::settings::Settings;
use super::training::Begin;
use super::view::LiveView;
use super::weights::Weights;

/// A figure that its reader can change, with settings `S` and facts `F`.
pub struct LiveFigure<S: 'static, F: 'static> {
    pub(super) name: &'static str,
    pub(super) draw: fn(&S) -> Result<LiveView<F>>,
    pub(super) questions: &'static [Question<S, F>],
    pub(super) weights: Option<Weights>,
    pub(super) begin: Option<Begin<S, F>>,
    pub(super) still: Option<fn(&mut S)>,
}

impl<S: Settings, F: Serialize> LiveFigure<S, F> {
    /// What a chapter and an address call it, what draws it at its settings, and what it asks
    /// its reader, one after the other.
    pub(crate) const fn new(
        name: &'static str,
        draw: fn(&S) -> Result<LiveView<F>>,
        questions: &'static [Question<S, F>],
    ) -> Self {
        Self { name, draw, questions, weights: None, begin: None, still: None }
    }

    /// The same, drawn from weights.
    pub(crate) const fn drawn_from(self, weights: Weights) -> Self {
        Self { weights: Some(weights), ..self }
    }

    /// The same, trained step by step, so that a page can show progress and stop. At its end
    /// it shows what is drawn.
    pub(crate) const fn trained(self, begin: Begin<S, F>) -> Self {
        Self { begin: Some(begin), ..self }
    }

    /// The same, which on paper, and where nothing runs, is drawn at these settings: what is
    /// played begins with nothing, and is looked at when it has come to its end.
    pub(crate) const fn still(self, at: fn(&mut S)) -> Self {
        Self { still: Some(at), ..self }
    }

    /// Draws the figure at its first settings, but for these.
    ///
    /// # Errors
    /// A setting that there is not, or that cannot be.
    #[cfg(test)]
    pub(crate) fn at<'a>(
        &self,
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<LiveView<F>> {
        (self.draw)(&S::read(pairs)?)
    }
}
