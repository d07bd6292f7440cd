//! Whole encoders: a folder as `save_pretrained` writes it becomes a stack of blocks.
//!
//! ```text
//! text  →  ids  →  norm(E[id] + P[position] + S[type])  →  block 0  →  …  →  block L−1
//! ```
//!
//! BERT, RoBERTa, ELECTRA and DistilBERT are one model under different names: what each
//! calls its settings and tensors is a table ([`Family`]), and all else is written once.
//! [`Encoder`] is generic over the stage that is its attention, so a whole model is one
//! more proof that the stages agree, and a fast stage makes a fast model. [`Glance`] and [`links`]
//! say in a few numbers what a head does, each next to its control, and a [`Study`] what
//! sentences lose without it; a [`Pass`] keeps what heads put out, to be put into another. [`TextHeads`] is a text in all heads, for a terminal as for a
//! page.
//!
//! The one decision: **the config says every shape.** No tensor is believed: each is
//! compared with the shape that follows from `config.json`, and an error names both.
//!
//! This crate asks for nothing that a page has not but [`Folder::open`]: [`Encoder::read`]
//! takes bytes that came from anywhere. How files are read is `model-files`' matter, and how
//! a text becomes ids.
//!
//! Left out: heads on top (classifiers, masked words), weights in several files, dropout.

mod config;
mod embeddings;
mod encoder;
mod error;
mod families;
mod folder;
mod heads;
mod replaced;
mod study;
mod text_heads;
mod weights;

#[cfg(test)]
mod tests;

pub use config::Config;
pub use embeddings::Embeddings;
pub use encoder::{Encoder, finite, sentence_embedding, to_tensors};
pub use error::{Error, Result};
pub use families::{Counting, FAMILIES, Family, Keys, Names};
pub use folder::Folder;
pub use heads::{Glance, Kind, Link, links};
pub use replaced::Pass;
pub use study::Study;
pub use text_heads::TextHeads;
