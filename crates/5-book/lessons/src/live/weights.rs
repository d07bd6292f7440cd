//! The names of trained weights that a live figure draws from.

use anyhow::{Context, Result};

/// A file of weights. A page's module is built without it, and is given it when the first
/// figure asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// The trained layer of language, and its sentences.
    Layer,
    /// That layer's queries and keys of its sentences.
    QueriesKeys,
    /// The model of engines.
    Engines,
    /// The converter of dates.
    Dates,
}

impl Weights {
    /// Every file.
    pub const ALL: [Self; 4] =
        [Self::Layer, Self::QueriesKeys, Self::Engines, Self::Dates];

    /// What a page calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Layer => "layer",
            Self::QueriesKeys => "queries-keys",
            Self::Engines => "engines",
            Self::Dates => "dates",
        }
    }

    /// The file of this name.
    ///
    /// # Errors
    /// An unknown name.
    pub fn find(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|weights| weights.name() == name);
        found.with_context(|| format!("no weights are called {name}"))
    }
}
