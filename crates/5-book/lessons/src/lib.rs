//! The running example of each chapter, once, and the figures that show it.
//!
//! A chapter follows one example through its formulas: some words, their matrices, the
//! numbers that come out. It lives in the module of the chapter's topic here, and all who
//! show it are views of it: the book's figures ([`CHAPTERS`], [`LIVE`], by name in
//! [`gallery`]), the numbers that the book quotes (the snapshots in `tests`), and the
//! notebook. What every lesson is written with is here, too: [`Args`], [`live`], and small
//! readings of numbers and runs.
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
pub mod gallery;
pub mod live;
pub mod numbers;
pub mod plain;
pub mod seeds;
mod stages;
pub mod trained;

pub use args::{Args, Entry};
pub use stages::every_stage;

/// The figures of each topic, by name.
pub const CHAPTERS: &[&[Entry]] = &[
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

/// The live figures, in the same order.
pub const LIVE: &[&live::Live] = &[
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
    &ch14::places::LIVE,
    &ch14::deep::LIVE,
    &ch15::together::LIVE,
    &ch17::rotated::LIVE,
    &ch17::seen::LIVE,
    &ch18::next::LIVE,
    &ch18::patterns::LIVE,
    &ch19::engine::LIVE,
    &ch19::reach::LIVE,
    &ch19::heads::LIVE,
    &ch20::explore::LIVE,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The others want arguments; the book draws each figure with those of its place.
    #[test]
    fn figures_that_need_no_arguments_are_drawn() {
        let without_arguments = [
            &ch11::FIGURES[..],
            &ch14::FIGURES,
            &ch15::FIGURES,
            &ch17::FIGURES,
            &ch18::FIGURES,
            &ch19::FIGURES,
            &ch20::FIGURES,
        ];
        for (name, draw) in without_arguments.concat() {
            let figure = draw(&Args::default()).unwrap();
            assert!(!figure.sketch().is_empty(), "{name}");
        }
    }
}
