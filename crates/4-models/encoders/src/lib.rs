//! Whole encoders: a folder as `save_pretrained` writes it becomes a stack of blocks, and a
//! text becomes ids.
//!
//! ```text
//! text  →  ids  →  norm(E[id] + P[position] + S[type])  →  block 0  →  …  →  block L−1
//! ```
//!
//! BERT, RoBERTa, ELECTRA and DistilBERT are one model under different names: what each
//! calls its settings and tensors is a table ([`Family`]), and all else is written once.
//! [`Encoder`] is generic over the stage that is its attention, so a whole model is one
//! more proof that the stages agree, and a fast stage makes a fast model. [`Glance`] and [`links`]
//! say in a few numbers what a head does, each next to its control, and [`removed`] takes a
//! head away.
//!
//! The one decision: **the config says every shape.** No tensor is believed: each is
//! compared with the shape that follows from `config.json`, and an error names both.
//!
//! With the feature `text` a `tokenizer.json` is read too. Without it this crate asks for
//! nothing that a page has not but [`Folder::open`], and [`Encoder::read`] takes bytes that
//! came from anywhere.
//!
//! [`Settings`], [`Sequence`] and the text are what `decoders` reads its folders with.
//!
//! Left out: heads on top (classifiers, masked words), weights in several files, dropout.

mod config;
mod embeddings;
mod encoder;
mod error;
mod families;
mod folder;
mod heads;
mod removal;
mod sequences;
mod settings;
mod shown;
mod study;
#[cfg(feature = "text")]
mod text;
mod weights;

#[cfg(test)]
mod tests;

pub use config::Config;
pub use embeddings::Embeddings;
pub use encoder::{Encoder, sentence_embedding, to_tensors};
pub use error::{Error, Result};
pub use families::{Counting, FAMILIES, Family, Keys, Names};
pub use folder::{Folder, settings_in, weights_in};
pub use heads::{Glance, Kind, Link, causal_links, links};
pub use removal::{head_output, output_without, removed};
pub use sequences::Sequence;
pub use settings::Settings;
pub use shown::{MOST_SHOWN, shown};
pub use study::{Removal, Study};
#[cfg(feature = "text")]
pub use text::{Long, Pieces, Text};
