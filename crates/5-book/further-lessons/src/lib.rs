//! The running examples of the chapters on whole models, 14 to 20, as `lessons` has those
//! before them.
//!
//! They stand apart since they ask for more: blocks, variants, decoders, sensors, many
//! machines. Nobody who reads, tests or changes one of the first thirteen chapters
//! compiles them.
//!
//! The one decision is that of [`lessons`]: arguments in, numbers or a figure out; no file,
//! no thread and no clock.

use lessons::Entry;
use lessons::live::Live;

pub mod ch14;
pub mod ch15;
pub mod ch17;
pub mod ch18;
pub mod ch19;
pub mod ch20;

/// The figures of each chapter, by name, in the order of the chapters.
pub const CHAPTERS: [&[Entry]; 6] = [
    &ch14::FIGURES,
    &ch15::FIGURES,
    &ch17::FIGURES,
    &ch18::FIGURES,
    &ch19::FIGURES,
    &ch20::FIGURES,
];

/// The live figures, in the same order.
pub const LIVE: [&Live; 11] = [
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
    use lessons::Args;

    #[test]
    fn every_figure_is_drawn() {
        for (name, draw) in CHAPTERS.concat() {
            let figure = draw(&Args::default()).unwrap();
            assert!(!figure.sketch().is_empty(), "{name}");
        }
    }
}
