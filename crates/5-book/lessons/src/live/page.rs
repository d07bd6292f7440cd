//! A live figure as pages, tools and tests have it: by texts, whatever its types.

use anyhow::{Context, Error, Result, bail};
use serde::Serialize;
use serde_json::{Value, json};

use figures::Figure;

use super::control::Control;
use super::figure::LiveFigure;
use super::question::{PageQuestion, Question};
use super::settings::Settings;
use super::training::Training;
use super::view::LiveView;
use super::weights::Weights;

/// Keys, and the texts that their controls are set to; the others stand where they stand
/// first.
pub type Pairs<'a> = [(&'a str, &'a str)];

/// A live figure.
pub trait Live: Sync {
    /// What a chapter and an address call it.
    fn name(&self) -> &'static str;

    /// The weights that it draws from, if any.
    fn weights(&self) -> Option<Weights>;

    /// Whether it is trained.
    fn is_trained(&self) -> bool;

    /// What can be changed, in the order that it is shown in.
    fn controls(&self) -> Vec<Control>;

    /// What it asks its reader, one after the other.
    fn questions(&self) -> Vec<PageQuestion>;

    /// The figure at these settings.
    ///
    /// # Errors
    /// A setting that there is not, or that cannot be.
    fn draw(&self, pairs: &Pairs) -> Result<Shown>;

    /// The figure as it stands on paper.
    ///
    /// # Errors
    /// As [`Live::draw`].
    fn still(&self) -> Result<Shown>;

    /// Begins its training.
    ///
    /// # Errors
    /// If it has none; settings that cannot be trained with.
    fn begin(&self, pairs: &Pairs) -> Result<Box<dyn Ongoing>>;
}

/// A training under way.
pub trait Ongoing {
    /// Takes up to so many further steps.
    ///
    /// # Errors
    /// A training that diverges.
    fn advance(&mut self, n_steps: usize) -> Result<()>;

    /// Steps taken, and steps in all.
    fn progress(&self) -> [usize; 2];

    /// What there is to see so far.
    ///
    /// # Errors
    /// A setting that does not fit; what it failed with.
    fn shown(&self, pairs: &Pairs) -> Result<Shown>;
}

/// What a page shows of a live figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The figure.
    pub figure: Figure,
    /// What came out.
    pub words: String,
    /// What they were made from, by name, which tests look at and no page. A number that is
    /// none, or infinite, is null.
    #[cfg(test)]
    pub facts: Value,
    /// Which of the questions it answers.
    pub answered: Vec<bool>,
}

impl Shown {
    fn new<S: Settings, F: Serialize>(
        questions: &[Question<S, F>],
        settings: &S,
        view: LiveView<F>,
    ) -> Self {
        let LiveView { figure, words, facts } = view;
        let answered = questions.iter().map(|it| (it.is_answered)(settings, &facts));
        let answered = answered.collect();
        Self {
            figure,
            words,
            answered,
            #[cfg(test)]
            facts: json!(facts),
        }
    }

    /// The same as a page reads it.
    pub fn to_json(&self) -> Value {
        let Self { figure, words, answered, .. } = self;
        json!({ "figure": figure.to_page(), "words": words, "answered": answered })
    }
}

impl<S: Settings, F: Serialize> LiveFigure<S, F> {
    fn shown(&self, settings: &S) -> Result<Shown> {
        Ok(Shown::new(self.questions, settings, (self.draw)(settings)?))
    }
}

impl<S: Settings, F: Serialize> Live for LiveFigure<S, F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn weights(&self) -> Option<Weights> {
        self.weights
    }

    fn is_trained(&self) -> bool {
        self.begin.is_some()
    }

    fn controls(&self) -> Vec<Control> {
        S::controls()
    }

    fn questions(&self) -> Vec<PageQuestion> {
        self.questions.iter().map(Question::on_page).collect()
    }

    fn draw(&self, pairs: &Pairs) -> Result<Shown> {
        self.shown(&S::read(pairs.iter().copied())?)
    }

    fn still(&self) -> Result<Shown> {
        let mut settings = S::first();
        if let Some(at) = self.still {
            at(&mut settings);
        }
        self.shown(&settings)
    }

    fn begin(&self, pairs: &Pairs) -> Result<Box<dyn Ongoing>> {
        let begin = self.begin.context("this figure is not trained")?;
        let settings = S::read(pairs.iter().copied())?;
        let (training, questions) = (begin(&settings)?, self.questions);
        Ok(Box::new(OngoingTraining { training, questions, failed: None }))
    }
}

/// A training that goes on when it is asked to. One that has failed has nothing to show but
/// its error.
struct OngoingTraining<S: 'static, F: 'static> {
    training: Box<dyn Training<S, F>>,
    questions: &'static [Question<S, F>],
    failed: Option<String>,
}

impl<S: Settings, F: Serialize> Ongoing for OngoingTraining<S, F> {
    fn advance(&mut self, n_steps: usize) -> Result<()> {
        let failed = (0..n_steps).try_for_each(|_| self.training.step());
        failed.inspect_err(|error: &Error| self.failed = Some(format!("{error:#}")))
    }

    fn progress(&self) -> [usize; 2] {
        self.training.progress()
    }

    fn shown(&self, pairs: &Pairs) -> Result<Shown> {
        if let Some(failed) = &self.failed {
            bail!("{failed}");
        }
        let settings = S::read(pairs.iter().copied())?;
        let view = self.training.shown(&settings)?;
        Ok(Shown::new(self.questions, &settings, view))
    }
}
