//! Whole encoder-decoders: one text is read, and another is written from it.
//!
//! ```text
//! source  →  E[id] + P  →  encoder blocks  →  memory
//! target  →  E[id] + P  →  decoder blocks  →  x Eᵀ  →  logits
//!     encoder block: self-attention,                   feed-forward
//!     decoder block: self-attention, attention to the memory, feed-forward
//! ```
//!
//! Marian, BART, mBART and T5 are that one model. What each calls its tensors, and where its norms
//! stand, is a row of `families.json`; how positions are told and how the feed-forward layer is
//! bent, a function in `families`. The attention is [`variants`]' with the changes that the config asks for, or any
//! other stage ([`Translator::with_attention`]). A block is [`block::Block`], the one that the
//! book builds.
//!
//! The one decision: **what follows from the source alone is computed once.**
//! [`Translator::read_source`] runs the encoder, and makes the keys and values that every
//! block of the decoder will attend to; [`Translator::decode_cached`] reads new target tokens
//! behind a cache that grows, and gives what [`Translator::decode`] gives all at once.
//!
//! Heads of all three kinds have names, [`Head`](crate::Head), and can be
//! [ablated](crate::ablate).
//!
//! What the files have is used, or known to change nothing, or refused by its name.
//!
//! Left out: beams, a last token that is forced, dropout, the backward pass.

mod cached;
mod config;
mod families;
mod family;
mod side;
mod tensors;
mod translator;
mod weights;
mod writer;

#[cfg(test)]
mod tests;

/// A folder as `save_pretrained` writes it.
pub type Files = crate::Files<Config>;

pub use crate::{Error, Result};
pub use block::Layers;
pub use cached::{CacheBytes, Source};
pub use config::{Config, Half, Places};
pub use families::families;
pub use family::{Family, Names};
pub use side::Side;
pub use tensors::{sequences, tensors};
pub use translator::{AsRead, Translator};
pub(crate) use writer::draft;
