//! A reader's own files in a page of the book: a sentence in all heads of a model, a text that
//! a model writes, also from another that it reads, and what is wrong with a layer.
//!
//! ```text
//! encoder.js ───────▶ worker.js ──▶ this module ──▶ encoders
//!   files, a sentence   a thread      bytes in,       maps, glances
//!   maps                              bytes out
//! writer.js ────────▶ worker.js ──▶ this module ──▶ decoders, translators
//!   a prompt            a thread      token by token  chances, looks
//! wrong-layer.js ───▶ worker.js ──▶ this module ──▶ diagnosis
//!   a file              a thread      bytes in,       the mistake, maps
//!                                     JSON out
//! ```
//!
//! The files of the model come from the book's own host, or are chosen from disk and stay on
//! the reader's machine: the page hands them to the worker part by part, and this module to
//! `encoders`, `decoders` or `translators`, as the files say what they are of. It is another
//! module than that of the live figures, fetched only when a model is loaded, since it brings a
//! whole tokenizer.
//!
//! The one decision: **the page computes nothing and this crate holds no algorithm**. A
//! `Reading` becomes a `Model`, which gives `TextHeads`, and what changes without some heads,
//! beside random ones: what `cargo learn look` shows too. Or its `Writing` goes on step by step,
//! as `cargo learn write` does, behind a prompt or behind a source. The one random number
//! that is asked for, a seed of the tokenizer's hash maps, comes from the page
//! (`--cfg getrandom_backend="custom"`).
//!
//! Left out: threads, and for encoders fast stages and texts of more than
//! `model_files::MOST_SHOWN` tokens.

mod error;
mod layer;
mod model;
#[cfg(target_arch = "wasm32")]
mod module;
mod names;
mod reading;
mod steps;
#[cfg(test)]
mod tests;

pub use error::Error;
pub use layer::{layer, overrides};
pub use model::{Model, SentenceHeads};
pub use names::NamesTest;
pub use reading::{Reading, SelectedFiles};
pub use steps::{Request, Step, Writing};
