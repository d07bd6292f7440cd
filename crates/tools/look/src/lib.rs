//! Whole models in the terminal, a command for each purpose ([`Command`]): your own sentence
//! through all heads of a trained model, maps of any framework from a file, two texts side by
//! side, many texts, heads switched off, what heads add to a logit and what they carry; any
//! model of the families on any ids, and a model that goes on with a text. Trained models are
//! fetched when the reader says so ([`fetch`]).

mod ablate;
mod args;
mod commands;
mod compare;
pub mod fetch;
pub mod few_bits;
mod habits;
mod logits;
mod map_file;
mod model;
mod page;
mod patch;
mod png;
mod prose;
mod report;
mod rows;
mod save;
mod sentence;
mod shown;
mod sizes;
mod source;
mod study;
pub mod texts;
mod translate;
mod view;
mod write;

#[cfg(test)]
mod tests;

pub use commands::{Command, renamed};
