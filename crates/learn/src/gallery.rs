//! Every figure of the book, drawn from the crates: one module a chapter.
//!
//! A notebook draws the same figures with the same functions of `figures`, on numbers
//! that its reader may change.

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

use anyhow::{Context, Result};
use figures::Figure;

/// What a chapter says of a figure behind its name: `key=value` pairs.
#[derive(Debug, Default)]
pub struct Args<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Args<'a> {
    /// The value of `key=value`, if it was given.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Args<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
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
