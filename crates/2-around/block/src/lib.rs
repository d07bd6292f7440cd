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
//! [`Embedding`] looks tokens up and adds [`Positions`], [`LayerNorm`] or [`RmsNorm`] gives
//! every token the same scale, [`FeedForward`] computes on each token alone, with a gate or
//! without, and [`Sublayer`] is the residual and the [`Norms`] around either. A [`Block`] is
//! two sub-layers, and a [`Stack`] is blocks on blocks. The attention in it is **any**
//! [`MultiHeadAttention`]: a whole model is one more test that all stages agree.
//!
//! ```
//! use attention::{Dims, LayerParameters, Mask, Rng, SeedableRng, random_matrix};
//! use block::{Block, FeedForward, LayerNorm, Norms, Stack, Sublayer};
//! use fused_heads::FusedAttention;
//!
//! let rng = &mut Rng::seed_from_u64(1);
//! let blocks = (0..6).map(|_| {
//!     let parameters = LayerParameters::random(Dims::new(8, 2)?, true, rng);
//!     let attention = FusedAttention::<f64>::new(&parameters);
//!     let norms = || Norms::before(LayerNorm::identity(8));
//!     let feed_forward = Sublayer::new(FeedForward::random(8, 32, rng), norms());
//!     Ok(Block::new(Sublayer::new(attention, norms()), Some(feed_forward)))
//! });
//! let blocks = blocks.collect::<attention::Result<Vec<_>>>()?;
//! let stack = Stack { blocks, last_norm: Some(LayerNorm::identity(8).into()) };
//! let layers = stack.forward(random_matrix(5, 8, 1.0, rng), &Mask::None)?;
//! assert_eq!(layers.out().shape(), (5, 8));
//! assert_eq!((layers.attn.len(), layers.attn[0].len()), (6, 2)); // blocks, heads
//! # Ok::<(), attention::Error>(())
//! ```
//!
//! There is one block. A decoder that reads another text has it with cross-attention between
//! its two sub-layers, and [`EncoderDecoder`] is the whole of both sides; today's decoders
//! have it with an [`RmsNorm`] and a gate. How an attention is computed, with a mask or with a
//! cache, is a closure: [`Block::forward_by`].
//!
//! Every part has its backward pass by hand, and the gradients of a part have the part's type:
//! those of a block are a block. [`StackPass`] goes through a stack of fused layers and back,
//! with `gradients` for the attention in it.
//!
//! The one decision: **the residual and the norms belong to the sub-layer, and can be taken
//! away.** What each is for shows when it is missing.
//!
//! Training may leave outputs of sub-layers out by chance: [`Dropout`]. Left out: dropout of
//! attention maps, since the pass that keeps them has no place for it.
//!
//! [`MultiHeadAttention`]: attention::MultiHeadAttention

mod activation;
mod blocks;
mod dropout;
mod embedding;
mod feed_forward;
mod layer_norm;
mod ledger;
mod norm;
mod pass;
mod stack;
mod stack_pass;
mod sublayer;
#[cfg(test)]
mod tests;

pub use activation::Activation;
pub use blocks::{Block, BlockOutput, Memory, Reads};
pub use dropout::Dropout;
pub use embedding::{Embedding, Positions, sinusoidal};
pub use feed_forward::{FeedForward, Hidden};
pub use layer_norm::{LayerNorm, layer_norm_backward};
pub use ledger::{Ledger, Part};
pub use norm::{Norm, Norms, RmsNorm};
pub use pass::{BlockGradients, BlockPass};
pub use stack::{EncoderDecoder, Layers, NotFinite, Stack};
pub use stack_pass::{StackGradients, StackPass};
pub use sublayer::{Sublayer, SublayerGradients, SublayerPass};
