//! From one sequence to another: an encoder, and a decoder that reads what it gives.

use attention::Real;
use gradients::Entries;

use crate::Stack;

/// An encoder and a decoder. The encoder's last tokens are the decoder's memory; back, the
/// decoder's [`d_memory`](crate::StackGradients::d_memory) goes through the encoder.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix};
/// use block::{Block, EncoderDecoder, Memory, Norms, Stack, Sublayer};
/// use fused_heads::FusedAttention;
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let dims = Dims::new(8, 2)?;
/// let mut attention = || {
///     let layer = FusedAttention::<f64>::new(&LayerParameters::random(dims, true, rng));
///     Sublayer::new(layer, Norms::none())
/// };
/// let encoder = Stack { blocks: vec![Block::new(attention(), None)], last_norm: None };
/// let block = Block { cross: Some(attention()), ..Block::new(attention(), None) };
/// let decoder = Stack { blocks: vec![block], last_norm: None };
/// let model = EncoderDecoder { encoder, decoder };
///
/// let source: Matrix = random_matrix(7, 8, 1.0, rng);
/// let read = model.encoder.forward(source, &Mask::None)?;
/// let memory = Memory { tokens: read.out(), mask: &Mask::FirstKeys(6) };
/// let target = random_matrix(3, 8, 1.0, rng);
/// let decoded = model.decoder.forward_reading(target, &Mask::Causal, memory)?;
/// assert_eq!(decoded.out().shape(), (3, 8));
/// assert_eq!(decoded.cross[0][1].shape(), (3, 7)); // who reads what
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Vaswani et al. 2017, section 3.1.
#[derive(Debug, Clone, PartialEq)]
pub struct EncoderDecoder<A, T: Real = f64> {
    /// Reads the source.
    pub encoder: Stack<A, T>,
    /// Reads the target so far, and what the encoder gives: its blocks have cross-attention.
    pub decoder: Stack<A, T>,
}

gradients::entries!([A: Entries<T>, T: Real] T, EncoderDecoder<A, T>: encoder, decoder);
