//! From one sequence to another: an encoder, and a decoder that reads what it gives.

use attention::{Batch, Mask, Matrix, MultiHeadAttention, Real, Result};
use fused_heads::FusedAttention;

use crate::{
    BatchMasks, DecoderGradients, DecoderLayers, DecoderMasks, DecoderPass, DecoderStack,
    Layers, Stack, StackGradients, StackPass,
};

/// An encoder and a decoder.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix};
/// use block::{DecoderBlock, DecoderMasks, DecoderStack, EncoderDecoder, Norm, Sublayer};
/// use fused_heads::FusedAttention;
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let dims = Dims::new(8, 2)?;
/// let mut attention = || {
///     let layer = FusedAttention::<f64>::new(&LayerParameters::random(dims, true, rng));
///     Sublayer::new(layer, Norm::None)
/// };
/// let block = block::Block { attention: attention(), feed_forward: None };
/// let encoder = block::Stack { blocks: vec![block], last_norm: None };
/// let block = DecoderBlock {
///     attention: attention(),
///     cross_attention: attention(),
///     feed_forward: None,
/// };
/// let decoder = DecoderStack { blocks: vec![block], last_norm: None };
/// let model = EncoderDecoder { encoder, decoder };
///
/// let source: Matrix = random_matrix(7, 8, 1.0, rng);
/// let memory = model.encode(source, &Mask::None)?;
/// let masks = DecoderMasks { own: &Mask::Causal, memory: &Mask::FirstKeys(6) };
/// let target = random_matrix(3, 8, 1.0, rng);
/// let decoded = model.decode(target, memory.out(), masks)?;
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
    /// Reads the target so far, and what the encoder gives.
    pub decoder: DecoderStack<A, T>,
}

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
    /// As [`DecoderStack::forward`].
    ///
    /// # Errors
    /// As [`DecoderStack::forward`].
    pub fn decode(
        &self,
        target: Matrix<T>,
        memory: &Matrix<T>,
        masks: DecoderMasks<'_>,
    ) -> Result<DecoderLayers<T>> {
        self.decoder.forward(target, memory, masks)
    }
}

/// The gradients of an encoder and a decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct EncoderDecoderGradients<T: Real = f64> {
    /// Of the encoder; its `d_x` goes on to the source's embedding.
    pub encoder: StackGradients<T>,
    /// Of the decoder; its `d_y` goes on to the target's embedding.
    pub decoder: DecoderGradients<T>,
}

impl<T: Real> EncoderDecoder<FusedAttention<T>, T> {
    /// One pass of a batch, and back: `d_of` makes of what came out, `[n_sequences · n_target,
    /// d_model]`, its gradient.
    ///
    /// # Shapes
    /// `source` is `[n_sequences · n_source, d_model]`, `target` `[n_sequences · n_target,
    /// d_model]`; one mask for all sequences, or one each.
    ///
    /// # Errors
    /// As the passes, and as `d_of`.
    // ANCHOR: gradients
    pub fn gradients(
        &self,
        [source, target]: [&Batch<T>; 2],
        source_masks: &[Mask],
        masks: BatchMasks<'_>,
        d_of: impl FnOnce(&Matrix<T>) -> Result<Matrix<T>>,
    ) -> Result<EncoderDecoderGradients<T>> {
        let encoded = StackPass::forward(&self.encoder, source, source_masks)?;
        let memory = Batch::new(source.n_sequences(), encoded.out().clone())?;
        let decoded = DecoderPass::forward(&self.decoder, target, &memory, masks)?;
        let d_out = d_of(decoded.out())?;
        let decoder = decoded.backward(&d_out)?;
        let encoder = encoded.backward(&decoder.d_memory)?;
        Ok(EncoderDecoderGradients { encoder, decoder })
    }
    // ANCHOR_END: gradients

    /// What is learned, to be changed in place: the encoder, then the decoder.
    pub fn entries_mut(&mut self) -> Vec<&mut [T]> {
        let mut all = self.encoder.entries_mut();
        all.extend(self.decoder.entries_mut());
        all
    }
}

impl<T: Real> EncoderDecoderGradients<T> {
    /// The gradients, in the order of [`EncoderDecoder::entries_mut`].
    pub fn entries(&self) -> Vec<&[T]> {
        let mut all = self.encoder.entries();
        all.extend(self.decoder.entries());
        all
    }
}
