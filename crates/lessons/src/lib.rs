//! The running example of each chapter, once, and the figures that show it.
//!
//! A chapter follows one example through its formulas: some words, their matrices, the
//! numbers that come out. It lives in the chapter's module here, and all who show it are
//! views of it: the book's figures ([`draw`]), the numbers that the book quotes (the
//! snapshots in `tests`), and the notebook.
//!
//! The one decision: **a lesson is arguments in, numbers or a figure out**. No file, no
//! thread and no clock is used here, so that the same code can run in a page. What comes
//! from files (a reader's own benchmark) is handed in, in [`Args`].

mod ch01;
mod ch02;
mod ch03;
mod ch04;
mod ch05;
mod ch06;
mod ch07;
pub mod ch08;
mod ch09;
mod ch10;
pub mod ch11;
mod stages;

use anyhow::{Context, Result};
use figures::Figure;
use record::Run;

pub use stages::every_stage;

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
type Entry = (&'static str, fn(&Args) -> Result<Figure>);

const CHAPTERS: [&[Entry]; 11] = [
    &ch01::FIGURES,
    &ch02::FIGURES,
    &ch03::FIGURES,
    &ch04::FIGURES,
    &ch05::FIGURES,
    &ch06::FIGURES,
    &ch07::FIGURES,
    &ch08::FIGURES,
    &ch09::FIGURES,
    &ch10::FIGURES,
    &ch11::FIGURES,
];

/// Draws the figure of this name.
///
/// # Errors
/// An unknown name, with the known ones; arguments that the figure does not take.
pub fn draw(name: &str, args: &Args) -> Result<Figure> {
    let mut entries = CHAPTERS.iter().copied().flatten();
    let (_, draw) = entries.find(|(known, _)| *known == name).with_context(|| {
        let known: Vec<&str> = names().collect();
        format!("no figure {name}; there are: {}", known.join(", "))
    })?;
    draw(args)
}

/// The names of all figures, in the order of the chapters.
pub fn names() -> impl Iterator<Item = &'static str> {
    CHAPTERS.iter().copied().flatten().map(|(name, _)| *name)
}
