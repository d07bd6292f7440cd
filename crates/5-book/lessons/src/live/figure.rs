//! What a live figure is, and a training that one may show.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::control::Control;
use super::question::Question;
use super::settings::Settings;
use super::training::{Begin, OngoingTraining};
use super::view::LiveView;
use super::weights::Weights;

/// A figure that its reader can change.
pub struct Live {
    /// What a chapter and an address call it.
    pub name: &'static str,
    /// What it asks its reader, one after the other.
    pub questions: &'static [Question],
    /// The weights that it draws from, if any.
    pub weights: Option<Weights>,
    /// What can be changed, in the order that it is shown in.
    pub controls: fn() -> Vec<Control>,
    /// The figure at these settings.
    pub draw: fn(&Settings) -> Result<LiveView>,
    /// How it is trained, if it is: step by step, so that a page can show progress and
    /// stop. At its end it shows what `draw` does.
    pub training: Option<Begin>,
}

impl Live {
    /// Draws the figure at its first settings, but for these.
    ///
    /// # Errors
    /// A setting that there is not, or that cannot be.
    pub fn at<'a>(
        &self,
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<LiveView> {
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

    /// What a page shows of a view at these settings: figure, words and numbers, and which
    /// of the questions it answers.
    ///
    /// # Errors
    /// A question about what the view does not have.
    pub fn to_json(&self, settings: &Settings, view: &LiveView) -> Result<Value> {
        let answered = |question: &Question| (question.is_answered)(settings, view);
        let answered: Vec<bool> =
            self.questions.iter().map(answered).collect::<Result<_>>()?;
        let mut json = view.to_json();
        json["answered"] = json!(answered);
        Ok(json)
    }

    /// Begins its training.
    ///
    /// # Errors
    /// If it has none; settings that cannot be trained with.
    pub fn begin(&self, settings: &Settings) -> Result<OngoingTraining> {
        let begin = self.training.context("this figure is not trained")?;
        Ok(OngoingTraining::new(begin(settings)?))
    }
}
