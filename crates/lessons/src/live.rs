//! Live figures: a figure, the controls that change it, and what it says then.
//!
//! ```text
//! controls ─▶ settings ─▶ draw ─▶ figure, words, numbers
//!     ▲                              │
//!     └──────── a reader ◀───────────┘
//! ```
//!
//! The one decision: **a live figure is a figure that takes settings**. The book draws it
//! at its first settings, as it draws every figure; a page that can run this crate draws
//! it anew at whatever its reader sets. It is the same code in both places.

mod control;
mod figure;
mod settings;
mod shown;
mod training;
mod weights;

use anyhow::{Context, Result};

pub use control::{Control, Kind};
pub use figure::Live;
pub use settings::Settings;
pub use shown::Shown;
pub use training::{Begin, Begun, Training};
pub use weights::Weights;

use crate::{
    ch01, ch02, ch03, ch04, ch05, ch06, ch07, ch09, ch11, ch12, ch13, ch14, ch15, ch17,
    ch18, ch19, ch20,
};

/// Every live figure, in the order of the chapters.
pub const ALL: [&Live; 24] = [
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

/// The live figure of this name.
///
/// # Errors
/// An unknown name, with the known ones.
pub fn find(name: &str) -> Result<&'static Live> {
    let found = ALL.into_iter().find(|live| live.name == name);
    found.with_context(|| {
        let known = ALL.map(|live| live.name).join(", ");
        format!("no live figure {name}; there are: {known}")
    })
}

#[cfg(test)]
mod tests;
