//! Whole decoders: files become a stack of blocks in which each token reads those before
//! it, and which can go on writing.
//!
//! ```text
//! ids  →  E[id] (+ P[position])  →  block 0  →  …  →  block L−1  →  norm  →  x Eᵀ  →  logits
//!                block: x + Attention(norm(x)),  then  x + FeedForward(norm(x))
//! ```
//!
//! GPT-2, GPT-NeoX, Llama, Mistral, Qwen2, Qwen3, Gemma 2 and Gemma 3 are that one model. What each
//! calls its tensors is a row of `families.json`, and what it changes a function in `families`:
//! the attention is [`variants`]' with the changes that the config asks for. [`Files`] opens a folder as `save_pretrained` writes
//! it, or a [`Gguf`](model_files::Gguf) file of Llama's, Qwen's or Gemma's family, whose
//! numbers may be of 4 to 8 bits.
//!
//! A block is [`block::Block`], the one that the book builds; a whole text or a cache is how
//! its attention is computed.
//!
//! The one decision: **there is one way to read a token, and two to ask for it.**
//! [`Decoder::forward`] reads a whole text, [`Decoder::forward_cached`] what comes behind
//! the caches; both go through the same blocks, and give the same numbers. A
//! [`Writer`](crate::Writer) asks a [`Reader`] for one token after the other.
//!
//! What a model's heads do, and what it loses without them, is asked by [`study`] and
//! [`Decoder::losses`]; what each adds to a token's logit, by [`attribution`].
//!
//! With the feature `text` a vocabulary is read too, of a `tokenizer.json` or of a GGUF
//! file. Nothing here looks at a clock; only [`Files`] reads files, and only the feature `fast`
//! uses threads, those of the pool that the caller is in.
//!
//! What the files have is used, or known to change nothing, or refused by its name; whether
//! there is an unembedding, the tensors decide.
//!
//! [`Decoder`] is generic over the attention; `FastDecoder`, of the feature `fast`, is the same
//! model for one attention. Left out: mixtures of experts, quantisations
//! other than those of GGUF files, dropout.

pub mod attribution;
mod config;
mod decoder;
mod embedding;
mod families;
mod family;
#[cfg(feature = "fast")]
mod fast;
mod looks;
mod pass;
mod reader;
pub mod study;
mod weights;

#[cfg(test)]
pub(crate) mod tests;

/// A folder as `save_pretrained` writes it, or a GGUF file.
pub type Files = crate::Files<Config>;

#[cfg(feature = "fast")]
pub use cached::Precision;
pub use config::{Biases, Config};
pub use decoder::{AsRead, Decoder};
pub use embedding::{Embedding, Unembedding};
pub use families::families;
pub use family::{Family, Layers, Names, Projections};
#[cfg(feature = "fast")]
pub use fast::{FastDecoder, MapRows, PackedCaches};
pub use looks::Looks;
pub use pass::Pass;
pub use reader::{CachedDecoder, Reader};
