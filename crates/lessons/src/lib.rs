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

mod args;
pub mod ch01;
pub mod ch02;
pub mod ch03;
pub mod ch04;
pub mod ch05;
pub mod ch06;
pub mod ch07;
pub mod ch08;
pub mod ch09;
pub mod ch10;
pub mod ch11;
pub mod ch12;
pub mod ch13;
pub mod ch14;
pub mod ch15;
pub mod ch17;
pub mod ch18;
pub mod ch19;
pub mod ch20;
pub mod diagrams;
pub mod live;
pub mod numbers;
pub mod plain;
pub mod runs;
mod stages;
pub mod trained;

use anyhow::{Context, Result};
use figures::Figure;

use args::Entry;

pub use args::Args;
pub use stages::every_stage;

const CHAPTERS: [&[Entry]; 19] = [
    &diagrams::FIGURES,
    &ch01::FIGURES,
    &ch02::FIGURES,
    &ch03::FIGURES,
    &ch04::FIGURES,
    &ch05::FIGURES,
    &ch06::FIGURES,
    &ch07::FIGURES,
    &ch09::FIGURES,
    &ch10::FIGURES,
    &ch11::FIGURES,
    &ch12::FIGURES,
    &ch13::FIGURES,
    &ch14::FIGURES,
    &ch15::FIGURES,
    &ch17::FIGURES,
    &ch18::FIGURES,
    &ch19::FIGURES,
    &ch20::FIGURES,
];

/// Draws the figure of this name.
///
/// # Errors
/// An unknown name, with the known ones; arguments that the figure does not take.
pub fn draw(name: &str, args: &Args) -> Result<Figure> {
    if let Ok(live) = live::find(name) {
        return Ok(live.at(args.pairs())?.figure);
    }
    let mut entries = CHAPTERS.iter().copied().flatten();
    let (_, draw) = entries.find(|(known, _)| *known == name).with_context(|| {
        let known: Vec<&str> = names().collect();
        format!("no figure {name}; there are: {}", known.join(", "))
    })?;
    draw(args)
}

/// The names of all figures, in the order of the chapters.
pub fn names() -> impl Iterator<Item = &'static str> {
    let fixed = CHAPTERS.iter().copied().flatten().map(|(name, _)| *name);
    fixed.chain(live::ALL.into_iter().map(|live| live.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The others want arguments; the book draws each figure with those of its place.
    #[test]
    fn figures_that_need_no_arguments_are_drawn() {
        let chapters = [
            &ch11::FIGURES[..],
            &ch15::FIGURES,
            &ch17::FIGURES,
            &ch18::FIGURES,
            &ch19::FIGURES,
            &ch20::FIGURES,
        ];
        for (name, draw) in chapters.concat() {
            let figure = draw(&Args::default()).unwrap();
            assert!(!figure.sketch().is_empty(), "{name}");
        }
    }
}
