//! What stands around attention in a Transformer, each part by itself.
//!
//! An attention layer mixes tokens. To make a model of it, four things are put around it,
//! none of which lets one token see another:
//!
//! ```text
//! x₀      = E[ids] + P                    a vector for each token and each position
//! x_a     = x + Attention(norm(x))        a sub-layer: its output is added to x
//! x_next  = x_a + FeedForward(norm(x_a))  the same layer of two projections for each token
//! ```
//!
//! [`Embedding`] looks tokens up and adds [`Positions`], [`LayerNorm`] gives every token
//! the same scale, [`FeedForward`] computes on each token alone, and [`Sublayer`] is the
//! residual and the norm around either. Today's decoders have [`RmsNorm`] and
//! [`GatedFeedForward`] in their places. A [`Block`] is two sub-layers, and a [`Stack`] is
//! blocks on blocks. The attention in it is **any** [`MultiHeadAttention`]: a whole model
//! is one more test that all stages agree.
//!
//! ```
//! use attention::{Dims, LayerParameters, Mask, Rng, SeedableRng, random_matrix};
//! use block::{Block, FeedForward, LayerNorm, Norm, Stack, Sublayer};
//! use fused_heads::FusedAttention;
//!
//! let rng = &mut Rng::seed_from_u64(1);
//! let blocks = (0..6).map(|_| {
//!     let parameters = LayerParameters::random(Dims::new(8, 2)?, true, rng);
//!     let attention = FusedAttention::<f64>::new(&parameters);
//!     let norm = || Norm::Before(LayerNorm::identity(8));
//!     let feed_forward = FeedForward::random(8, 32, rng);
//!     Ok(Block {
//!         attention: Sublayer::new(attention, norm()),
//!         feed_forward: Some(Sublayer::new(feed_forward, norm())),
//!     })
//! });
//! let blocks = blocks.collect::<attention::Result<Vec<_>>>()?;
//! let stack = Stack { blocks, last_norm: Some(LayerNorm::identity(8)) };
//! let layers = stack.forward(random_matrix(5, 8, 1.0, rng), &Mask::None)?;
//! assert_eq!(layers.out().shape(), (5, 8));
//! assert_eq!((layers.attn.len(), layers.attn[0].len()), (6, 2)); // blocks, heads
//! # Ok::<(), attention::Error>(())
//! ```
//!
//! Every part has its backward pass by hand. [`StackPass`] goes through a stack of fused
//! layers and back, with `gradients` for the attention in it.
//!
//! The one decision: **the residual and the norm belong to the sub-layer, and can be taken
//! away.** What each is for shows when it is missing.
//!
//! A decoder that reads another text has a [`DecoderBlock`]: cross-attention stands between
//! its two sub-layers, and its gradients go to both sides. [`EncoderDecoder`] is the whole of
//! both.
//!
//! Left out: dropout, stacks of today's two parts (`decoders` has them).
//!
//! [`MultiHeadAttention`]: attention::MultiHeadAttention

mod activation;
mod blocks;
mod decoder;
mod decoder_pass;
mod embedding;
mod encoder_decoder;
mod error;
mod feed_forward;
mod gated;
mod layer_norm;
mod ledger;
mod pass;
mod positions;
mod rms_norm;
mod stack;
mod sublayer;
#[cfg(test)]
mod tests;

pub use activation::Activation;
pub use blocks::Block;
pub use decoder::{Decoded, DecoderBlock, DecoderLayers, DecoderMasks, DecoderStack};
pub use decoder_pass::{
    BatchMasks, DecoderBlockGradients, DecoderBlockPass, DecoderGradients, DecoderPass,
};
pub use embedding::{Embedding, EmbeddingGradients};
pub use encoder_decoder::{EncoderDecoder, EncoderDecoderGradients};
pub use error::{Error, Result};
pub use feed_forward::{FeedForward, FeedForwardGradients};
pub use gated::{GatedFeedForward, GatedGradients, GatedPass};
pub use layer_norm::{LayerNorm, LayerNormGradients, layer_norm_backward};
pub use ledger::{Ledger, Part};
pub use pass::{BlockGradients, BlockPass, StackGradients, StackPass};
pub use positions::{Positions, sinusoidal};
pub use rms_norm::{RmsNorm, RmsNormGradients};
pub use stack::{Layers, NotFinite, Stack};
pub use sublayer::{Norm, Sublayer, SublayerGradients, SublayerPass};
