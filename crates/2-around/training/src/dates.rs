//! Dates as people write them become "2031-03-12", letter by letter.
//!
//! A model that translates has heads that look from the text that it writes into the text
//! that it reads. Here it is known where they must look: each letter that is written comes
//! from the year, the month or the day of what is read, and where that stands depends on the
//! form.
//!
//! ```text
//! read     mar. 12 2031  ──▶ encoder ──▶ memory
//!                                          ▲ cross-attention
//! written  2031-03-12    ◀── decoder ◀─────┘  a letter at a time
//! ```
//!
//! [`Dates`] draws the dates in one of six [`Form`]s, [`DateConverter`] is an encoder and a
//! decoder that a [`Trainer`](crate::Trainer) trains, and [`PartShares`] says how much of
//! each head's attention falls on which part, to be compared with a [`Truth`] by
//! [`criteria`] that were fixed before.
//!
//! Controls stand beside it. [`DateAblation`] removes heads, and random directions;
//! [`MovedConverter`] is trained with what its letters read moved among them; and
//! [`JoinedConverter`] has one text in place of two. A trained model comes with the crate,
//! [`DateConverter::trained`], and reads a text of your own: [`DateTexts::of_text`].
//!
//! No date of the test is ever trained on, in whatever form; a date of the training can come
//! back.

mod ablation;
mod converter;
pub mod criteria;
mod file;
mod forms;
mod free_text;
mod joined;
mod moved;
mod report;
mod shares;
mod task;
#[cfg(test)]
mod tests;

pub use self::ablation::DateAblation;
pub use converter::{Costs, DateArchitecture, DateConverter, DateLook};
pub use file::FILE;
pub use forms::{Date, DateText, Form, Part};
pub use joined::JoinedConverter;
pub use moved::MovedConverter;
pub use report::DateReport;
pub use shares::{PartShares, Truth};
pub use task::{DateTexts, Dates, N_SOURCE, N_TARGET};

/// Dates from one text to another on ten seeds, with what each control of the trained models
/// gave, as `seeds -- dates` measured them.
pub const DATES: &str = include_str!("../data/dates.json");

/// The same, trained with the output of the cross-attention moved among the letters, as
/// `seeds -- dates-moved` measured it.
pub const DATES_MOVED: &str = include_str!("../data/dates-moved.json");

/// Both texts joined in one, at equal parameters, as `seeds -- dates-joined` measured it.
pub const DATES_JOINED: &str = include_str!("../data/dates-joined.json");

/// The small setting on five seeds, with four heads and with one, as `seeds -- dates-small`
/// measured it.
pub const DATES_SMALL: &str = include_str!("../data/dates-small.json");

/// Dates of four centuries on ten seeds, as `seeds -- centuries` measured them.
pub const CENTURIES: &str = include_str!("../data/centuries.json");
