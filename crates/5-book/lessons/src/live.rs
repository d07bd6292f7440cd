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
//!
//! A live figure asks [`Question`]s, one after the other, and knows when one is answered:
//! the crate looks at the settings and at the numbers, no page does.

mod control;
mod figure;
mod question;
mod settings;
mod training;
mod view;
mod weights;

pub use control::{Control, Kind};
pub use figure::Live;
pub use question::Question;
pub use settings::Settings;
pub use training::{Begin, OngoingTraining, Training};
pub use view::LiveView;
pub use weights::Weights;

#[cfg(test)]
mod tests;
