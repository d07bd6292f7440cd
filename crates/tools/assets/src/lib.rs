//! The scripts, style sheets and licences that pages with figures load.
//!
//! ```text
//! figures/        what draws every figure of a page
//! live/           controls; the worker that runs the crates' module
//! explorer/       all heads of a text, one of them large
//! first-look/     a sentence as text, and where its words look
//! own-sentence/   a reader's own model: files in, maps out
//! wrong-layer/    a reader's own layer: a file in, the mistake out
//! answers/        exercises in any language: numbers in, the verdict out
//! predict/        questions, figures that the reader draws first, what is remembered
//! ```
//!
//! Texts alone: what a page is made of is for `pages` to say, and what is drawn for the
//! crates.

pub mod answers;
mod asset;
pub mod explorer;
pub mod figures;
pub mod first_look;
pub mod live;
pub mod own_sentence;
pub mod predict;
pub mod wrong_layer;

pub use asset::{Asset, address, versioned};
