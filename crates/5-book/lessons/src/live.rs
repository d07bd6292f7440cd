//! Live figures: a figure, the controls that change it, and what it says then.
//!
//! ```text
//! controls ─▶ settings ─▶ draw ─▶ figure, words, facts
//!     ▲                              │
//!     └──────── a reader ◀───────────┘
//! ```
//!
//! The one decision: **a live figure is a figure that takes settings**. The book draws it
//! at its first settings, as it draws every figure; a page that can run this crate draws
//! it anew at whatever its reader sets. It is the same code in both places.
//!
//! A `LiveFigure` has two structs of its own: its settings, and its facts. `live!` writes
//! both, the settings together with their controls. A live figure asks `Question`s, one after
//! the other, and knows when one is answered: the crate looks at the settings and at the
//! facts, by name; no page does. All else has live figures as [`Live`], by texts.

mod control;
mod figure;
mod page;
mod question;
pub(crate) mod setting;
mod settings;
mod texts;
pub(crate) mod trained;
mod training;
mod view;
mod weights;

pub use control::{Control, Kind};
pub use page::{Live, Ongoing, Pairs, Shown};
pub use question::PageQuestion;
pub use weights::Weights;

pub(crate) use figure::LiveFigure;
pub(crate) use question::Question;
pub(crate) use setting::Setting;
pub(crate) use settings::{Settings, key, live};
pub(crate) use training::Training;
pub(crate) use view::LiveView;

#[cfg(test)]
mod tests;
