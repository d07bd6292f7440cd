//! Every figure of the book, by its name.
//!
//! The book asks by name and a page asks by name; here is the one list. It draws nothing
//! itself.

use crate::from_one_sequence_to_another as dates;
use crate::live::{Live, Weights};
use crate::trained_heads::at_once;
use crate::{Args, CHAPTERS, Entry, LIVE, sensors, trained};
use anyhow::{Context, Result};
use figures::Figure;

/// Draws the figure of this name.
///
/// # Errors
/// An unknown name, with the known ones; arguments that the figure does not take.
pub fn draw(name: &str, args: &Args) -> Result<Figure> {
    if let Ok(live) = find(name) {
        let pairs: Vec<_> = args.pairs().collect();
        let shown = if pairs.is_empty() { live.still()? } else { live.draw(&pairs)? };
        return Ok(shown.figure);
    }
    let (_, draw) = fixed().find(|(known, _)| *known == name).with_context(|| {
        let known: Vec<&str> = names().collect();
        format!("no figure {name}; there are: {}", known.join(", "))
    })?;
    draw(args)
}

/// The names of all figures: those that stand still in the order of the chapters, and then
/// the live ones.
pub fn names() -> impl Iterator<Item = &'static str> {
    fixed().map(|(name, _)| *name).chain(live().map(|live| live.name()))
}

fn fixed() -> impl Iterator<Item = &'static Entry> {
    CHAPTERS.iter().copied().flatten()
}

/// Every live figure, in the order of the chapters.
pub fn live() -> impl Iterator<Item = &'static dyn Live> {
    LIVE.iter().copied()
}

/// The live figure of this name.
///
/// # Errors
/// An unknown name, with the known ones.
pub fn find(name: &str) -> Result<&'static dyn Live> {
    live().find(|live| live.name() == name).with_context(|| {
        let known: Vec<&str> = live().map(|live| live.name()).collect();
        format!("no live figure {name}; there are: {}", known.join(", "))
    })
}

/// The bytes of trained weights, for the tools that send them to a page.
pub fn file(weights: Weights) -> &'static [u8] {
    match weights {
        Weights::Layer => trained::FILE,
        Weights::QueriesKeys => at_once::FILE,
        Weights::Engines => sensors::model::FILE,
        Weights::Dates => dates::model::FILE,
    }
}

/// Takes the bytes of trained weights, where they did not come with the program.
///
/// # Errors
/// If they are another file's.
pub fn give(weights: Weights, bytes: Vec<u8>) -> Result<()> {
    match weights {
        Weights::Layer => trained::give(bytes),
        Weights::QueriesKeys => at_once::give(bytes),
        Weights::Engines => sensors::model::give(bytes),
        Weights::Dates => dates::model::give(bytes),
    }
}

#[cfg(test)]
pub(crate) mod tests;
