//! Whole encoders: a folder as `save_pretrained` writes it becomes a stack of blocks.
//!
//! ```text
//! text  →  ids  →  norm(E[id] + P[position] + S[type])  →  block 0  →  …  →  block L−1
//! ```
//!
//! BERT, RoBERTa, ELECTRA and DistilBERT are one model under different names: what each
//! calls its settings and tensors is a table ([`Family`]), and all else is written once.
//! [`Encoder`] is generic over the stage that is its attention, so a whole model is one
//! more proof that the stages agree, and a fast stage makes a fast model. A [`Study`] says what
//! sentences lose without a head; a [`Pass`] keeps what heads put out, to be put into another,
//! and an [`Ablation`] says what changes on one text, beside random heads; what a head does on
//! a text is for `maps`.
//!
//! The one decision: **the config says every shape.** No tensor is believed: each is
//! compared with the shape that follows from `config.json`, and an error names both.
//!
//! This crate asks for nothing that a page has not but [`Files::open`]: [`Files::of_folder`]
//! takes bytes that came from anywhere. How files are read is `model-files`' matter, and how
//! a text becomes ids.
//!
//! Left out: heads on top (classifiers, masked words), weights in several files, dropout.

mod ablation;
mod config;
mod embeddings;
mod encoder;
mod families;
mod pass;
mod study;
mod weights;

#[cfg(test)]
mod tests;

/// A folder as `save_pretrained` writes it.
pub type Files = crate::Files<Config>;

pub use self::ablation::{Ablation, Effect, Way};
pub use config::Config;
pub use embeddings::Embeddings;
pub use encoder::{Encoder, sentence_embedding};
pub use families::{Counting, Family, Keys, Names, families};
pub use pass::{Pass, Stage};
pub use study::Study;
