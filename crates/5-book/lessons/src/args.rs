//! What a figure is asked for, and what is known by a figure's name.

use anyhow::Result;
use figures::Figure;
use runs::Run;

/// What a chapter says of a figure behind its name: `key=value` pairs. With them, the
/// reader's own benchmark where there is one.
#[derive(Debug, Default)]
pub struct Args<'a> {
    pairs: Vec<(&'a str, &'a str)>,
    run: Option<&'a Run>,
}

impl<'a> Args<'a> {
    /// The value of `key=value`, if it was given.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// Every key that was given, with its value.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.pairs.iter().copied()
    }

    /// Every key that was given.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.pairs().map(|(key, _)| key)
    }

    /// The same, with what the reader's own benchmark found.
    pub fn with_run(self, run: Option<&'a Run>) -> Self {
        Self { run, ..self }
    }

    /// What the reader's own benchmark found.
    pub fn run(&self) -> Option<&'a Run> {
        self.run
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Args<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        Self { pairs: pairs.into_iter().collect(), run: None }
    }
}

/// A name, and how the figure is drawn.
pub type Entry = (&'static str, fn(&Args) -> Result<Figure>);
