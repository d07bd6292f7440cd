//! From one sequence to another: an encoder, and a decoder that reads what it gives.

use attention::{Batch, Mask, Matrix, MultiHeadAttention, Real, Result};
use fused_heads::FusedAttention;
use gradients::Entries;

use crate::{Layers, Memory, Stack, StackGradients, StackPass};

/// An encoder and a decoder.
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
/// let read = model.encode(source, &Mask::None)?;
/// let memory = Memory { tokens: read.out(), mask: &Mask::FirstKeys(6) };
/// let target = random_matrix(3, 8, 1.0, rng);
/// let decoded = model.decode(target, &Mask::Causal, memory)?;
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

impl<A: MultiHeadAttention<T>, T: Real> EncoderDecoder<A, T> {
    /// The source through the encoder. Its last tokens are the memory.
    ///
    /// # Shapes
    /// As [`Stack::forward`].
    ///
    /// # Errors
    /// As [`Stack::forward`].
    pub fn encode(&self, source: Matrix<T>, mask: &Mask) -> Result<Layers<T>> {
        self.encoder.forward(source, mask)
    }

    /// The target through the decoder.
    ///
    /// # Shapes
    /// As [`Stack::forward_reading`].
    ///
    /// # Errors
    /// As [`Stack::forward_reading`].
    pub fn decode(
        &self,
        target: Matrix<T>,
        mask: &Mask,
        memory: Memory<'_, T>,
    ) -> Result<Layers<T>> {
        self.decoder.forward_reading(target, mask, memory)
    }
}

/// The gradients of an encoder and a decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct EncoderDecoderGradients<T: Real = f64> {
    /// Of the encoder; its `d_x` goes on to the source's embedding.
    pub encoder: StackGradients<T>,
    /// Of the decoder; its `d_x` goes on to the target's embedding.
    pub decoder: StackGradients<T>,
}

gradients::entries!([T: Real] T, EncoderDecoderGradients<T>: encoder, decoder);

impl<T: Real> EncoderDecoder<FusedAttention<T>, T> {
    /// One pass of a batch, and back: `d_of` makes of what came out, `[n_sequences · n_target,
    /// d_model]`, its gradient.
    ///
    /// # Shapes
    /// `source` is `[n_sequences · n_source, d_model]`, `target` `[n_sequences · n_target,
    /// d_model]`; of each, one mask for all sequences, or one each. The source's masks are
    /// the memory's too.
    ///
    /// # Errors
    /// As the passes, and as `d_of`; [`Error::Length`](attention::Error::Length) for a decoder
    /// that reads nothing.
    // ANCHOR: gradients
    pub fn gradients(
        &self,
        (source, source_masks): (&Batch<T>, &[Mask]),
        (target, target_masks): (&Batch<T>, &[Mask]),
        d_of: impl FnOnce(&Matrix<T>) -> Result<Matrix<T>>,
    ) -> Result<EncoderDecoderGradients<T>> {
        let encoded = StackPass::forward(&self.encoder, source, source_masks)?;
        let memory = Batch::new(source.n_sequences(), encoded.out().clone())?;
        let memory = (&memory, source_masks);
        let decoded =
            StackPass::forward_reading(&self.decoder, target, target_masks, memory)?;
        let d_out = d_of(decoded.out())?;
        let decoder = decoded.backward(&d_out)?;
        let encoder = encoded.backward(decoder.d_memory()?)?;
        Ok(EncoderDecoderGradients { encoder, decoder })
    }
    // ANCHOR_END: gradients
}
