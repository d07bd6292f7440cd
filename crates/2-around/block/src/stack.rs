//! Blocks on blocks; and a stack that reads what another one gives.

use crate::{Block, BlockOutput, Memory, Norm, Reads};
use attention::{Attended, Mask, Matrix, MultiHeadAttention, Real, Result};
use gradients::Entries;
use std::fmt;

/// Blocks, each reading what the one below wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Stack<A, T: Real = f64> {
    /// The blocks, the first nearest to the tokens.
    pub blocks: Vec<Block<A, T>>,
    /// A norm behind the last block, which blocks with their norms before need.
    pub last_norm: Option<Norm<T>>,
}

gradients::entries!([A: Entries<T>, T: Real] T, Stack<A, T>: blocks, last_norm);

/// What every layer of a stack gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers<T: Real = f64> {
    /// The tokens before the first block and after each, `n_blocks + 1` times
    /// `[n_tokens, d_model]`; the last is behind the last norm.
    pub hidden: Vec<Matrix<T>>,
    /// `attn[l][i]` is the map of head i of block l, `[n_tokens, n_tokens]`.
    pub attn: Vec<Vec<Matrix<T>>>,
    /// `cross[l][i]` is that of its cross-attention, `[n_tokens, n_source]`.
    pub cross: Vec<Vec<Matrix<T>>>,
}

/// Where NaN or infinity begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotFinite {
    /// Before the first block.
    Tokens,
    /// In the attention of a block.
    Maps {
        /// Which, from 0.
        layer: usize,
    },
    /// Behind the attention of a block.
    Hidden {
        /// Which, from 0.
        layer: usize,
    },
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens => write!(f, "in the embeddings"),
            Self::Maps { layer } => write!(f, "in the attention of layer {layer}"),
            Self::Hidden { layer } => {
                write!(f, "behind the attention of layer {layer}, in what it puts out")
            }
        }
    }
}

impl<T: Real> Layers<T> {
    /// The tokens that enter the first block, and no block yet.
    pub fn new(x: Matrix<T>) -> Self {
        Self { hidden: vec![x], attn: Vec::new(), cross: Vec::new() }
    }

    /// The tokens before block `n` and all that comes before it. Maps that were not kept are
    /// none.
    ///
    /// # Panics
    /// If there are fewer blocks.
    pub fn up_to(&self, n: usize) -> Self {
        let first = |maps: &[Vec<Matrix<T>>]| {
            (0..n).map(|l| maps.get(l).cloned().unwrap_or_default()).collect()
        };
        let hidden = self.hidden[..=n].to_vec();
        Self { hidden, attn: first(&self.attn), cross: first(&self.cross) }
    }

    /// Through those of some blocks that are left; `attend` computes each attention, of the
    /// block of that number.
    ///
    /// # Errors
    /// As [`Block::forward_by`].
    pub fn through<A>(
        mut self,
        blocks: &[Block<A, T>],
        mut attend: impl FnMut(usize, Reads, &A, &Matrix<T>) -> Result<Attended<T>>,
    ) -> Result<Self> {
        for (l, block) in blocks.iter().enumerate().skip(self.attn.len()) {
            let by = |reads, attention: &A, x: &_| attend(l, reads, attention, x);
            let BlockOutput { out, attn, cross } = block.forward_by(self.out(), by)?;
            self.hidden.push(out);
            self.attn.push(attn);
            self.cross.push(cross);
        }
        Ok(self)
    }

    /// With a norm behind the last block.
    ///
    /// # Errors
    /// As [`Norm::forward`].
    pub fn behind(mut self, norm: Option<&Norm<T>>) -> Result<Self> {
        if let (Some(norm), Some(last)) = (norm, self.hidden.last_mut()) {
            *last = norm.forward(last)?;
        }
        Ok(self)
    }

    /// The tokens at the end, `[n_tokens, d_model]`.
    pub fn out(&self) -> &Matrix<T> {
        &self.hidden[self.hidden.len() - 1]
    }

    /// Where the first number stands that is NaN or infinite, if there is one.
    pub fn not_finite(&self) -> Option<NotFinite> {
        let is_finite = |matrix: &Matrix<T>| matrix.iter().all(|x| x.is_finite());
        let mut hidden = self.hidden.iter();
        if !hidden.next().is_none_or(is_finite) {
            return Some(NotFinite::Tokens);
        }
        // One map list per block, and the tokens behind it.
        for (layer, (maps, hidden)) in self.attn.iter().zip(hidden).enumerate() {
            if !maps.iter().all(is_finite) {
                return Some(NotFinite::Maps { layer });
            }
            if !is_finite(hidden) {
                return Some(NotFinite::Hidden { layer });
            }
        }
        None
    }
}

impl<A, T: Real> Stack<A, T> {
    /// The same stack around other attentions, each made from the one that is there.
    pub fn with_attention<B>(
        &self,
        mut other: impl FnMut(usize, &A) -> B,
    ) -> Stack<B, T> {
        let blocks = self.blocks.iter().enumerate();
        let blocks = blocks.map(|(l, block)| block.with_attention(|a| other(l, a)));
        Stack { blocks: blocks.collect(), last_norm: self.last_norm.clone() }
    }

    /// All layers, from tokens that are embedded already; `attend` computes the attention of
    /// the block of that number.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`; [`Layers`] gives the shapes that come out.
    ///
    /// # Errors
    /// As `attend` and the parts.
    ///
    /// # Source
    /// Vaswani et al. 2017, section 3.1.
    pub fn forward_by(
        &self,
        x: Matrix<T>,
        attend: impl FnMut(usize, Reads, &A, &Matrix<T>) -> Result<Attended<T>>,
    ) -> Result<Layers<T>> {
        Layers::new(x).through(&self.blocks, attend)?.behind(self.last_norm.as_ref())
    }
}

impl<A: MultiHeadAttention<T>, T: Real> Stack<A, T> {
    /// All layers of a stack that reads no other text.
    ///
    /// # Errors
    /// As [`Block::forward`].
    pub fn forward(&self, x: Matrix<T>, mask: &Mask) -> Result<Layers<T>> {
        self.forward_by(x, |_, reads, a, x| reads.attend(a, x, mask, None))
    }

    /// All layers of a stack that reads another text: the same memory in each block.
    ///
    /// # Errors
    /// As [`Block::forward_reading`].
    pub fn forward_reading(
        &self,
        y: Matrix<T>,
        mask: &Mask,
        memory: Memory<'_, T>,
    ) -> Result<Layers<T>> {
        self.forward_by(y, |_, reads, a, y| reads.attend(a, y, mask, Some(memory)))
    }
}

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
