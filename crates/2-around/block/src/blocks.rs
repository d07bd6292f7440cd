//! The block: attention, perhaps to another text too, and a feed-forward layer.

use attention::{Attended, Error, Mask, Matrix, MultiHeadAttention, Real, Result};
use gradients::Entries;

use crate::{FeedForward, Sublayer};

/// One block: tokens mix, then each computes by itself.
///
/// The paper's encoder has blocks of two sub-layers, and its decoder puts a third between
/// them, which reads another text. A is any stage of multi-head attention.
///
/// # Source
/// Vaswani et al. 2017, section 3.1; Black et al. 2022, section 2.1 (side by side).
#[derive(Debug, Clone, PartialEq)]
pub struct Block<A, T: Real = f64> {
    /// Tokens look at one another.
    pub attention: Sublayer<A, T>,
    /// Cross-attention, in a block that reads another text: the tokens' queries meet the keys
    /// and values of the memory. Its norm is of the tokens alone: the memory comes as the
    /// encoder gives it.
    pub cross: Option<Sublayer<A, T>>,
    /// Each token by itself; a model can be without.
    pub feed_forward: Option<Sublayer<FeedForward<T>, T>>,
    /// Whether attention and the feed-forward layer both read what entered the block, side by
    /// side (GPT-NeoX).
    pub parallel: bool,
}

gradients::entries!([A: Entries<T>, T: Real] T, Block<A, T>: attention, cross, feed_forward);

/// What an attention reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// The tokens' own text.
    Itself,
    /// The other text.
    Memory,
}

/// The other text, as the encoder gives it.
#[derive(Debug, Clone, Copy)]
pub struct Memory<'a, T: Real = f64> {
    /// Its tokens, `[n_source, key_width]`.
    pub tokens: &'a Matrix<T>,
    /// Which of them may be seen: those that are no padding.
    pub mask: &'a Mask,
}

impl Reads {
    /// What a stage makes of tokens that read their own text behind a mask, or the memory.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`.
    ///
    /// # Errors
    /// As the stage; [`Error::Length`] if the memory is to be read and there is none.
    pub fn attend<A: MultiHeadAttention<T>, T: Real>(
        self,
        attention: &A,
        x: &Matrix<T>,
        mask: &Mask,
        memory: Option<Memory<'_, T>>,
    ) -> Result<Attended<T>> {
        match (self, memory) {
            (Self::Itself, _) => attention.self_attend(x, mask),
            (Self::Memory, Some(Memory { tokens, mask })) => {
                attention.forward(x, tokens, tokens, mask)
            }
            (Self::Memory, None) => Err(no_memory()),
        }
    }
}

/// What a block gives.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockOutput<T: Real = f64> {
    /// The tokens behind the block, `[n_tokens, d_model]`.
    pub out: Matrix<T>,
    /// A map per head, `[n_tokens, n_tokens]`.
    pub attn: Vec<Matrix<T>>,
    /// A map per head of the cross-attention, `[n_tokens, n_source]`.
    pub cross: Vec<Matrix<T>>,
}

impl<A, T: Real> Block<A, T> {
    /// Attention, then perhaps a feed-forward layer. No other text is read.
    pub fn new(
        attention: Sublayer<A, T>,
        feed_forward: Option<Sublayer<FeedForward<T>, T>>,
    ) -> Self {
        Self { attention, cross: None, feed_forward, parallel: false }
    }

    /// The same block around other attentions, each made from the one that is there.
    pub fn with_attention<B>(&self, mut other: impl FnMut(&A) -> B) -> Block<B, T> {
        let mut around = |it: &Sublayer<A, T>| it.with(other(&it.function));
        Block {
            attention: around(&self.attention),
            cross: self.cross.as_ref().map(around),
            feed_forward: self.feed_forward.clone(),
            parallel: self.parallel,
        }
    }

    /// The tokens after this block, and the maps of its heads; `attend` computes each
    /// attention: with a mask, or with a cache.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`; [`BlockOutput`] has the shapes that come out.
    ///
    /// # Errors
    /// As `attend` and the parts.
    pub fn forward_by(
        &self,
        x: &Matrix<T>,
        mut attend: impl FnMut(Reads, &A, &Matrix<T>) -> Result<Attended<T>>,
    ) -> Result<BlockOutput<T>> {
        let mut attend = |reads, attention: &A, x: &Matrix<T>| {
            attend(reads, attention, x).map(|Attended { out, attn }| (out, attn))
        };
        let own = self.attention.forward(x, |a, x| attend(Reads::Itself, a, x))?;
        let (mut out, attn, mut cross) = (own.out, own.kept, Vec::new());
        if let Some(sublayer) = &self.cross {
            let read = sublayer.forward(&out, |a, x| attend(Reads::Memory, a, x))?;
            (out, cross) = (read.out, read.kept);
        }
        if let Some(sublayer) = &self.feed_forward {
            let read = if self.parallel { x } else { &out };
            let ffn = |ffn: &FeedForward<T>, x: &_| Ok((ffn.forward(x)?, ()));
            out = sublayer.forward_beside(read, &out, ffn)?.out;
        }
        Ok(BlockOutput { out, attn, cross })
    }
}

impl<A: MultiHeadAttention<T>, T: Real> Block<A, T> {
    /// The tokens after a block that reads no other text.
    ///
    /// # Errors
    /// As the parts; [`Error::Length`] for a block that reads another text.
    pub fn forward(&self, x: &Matrix<T>, mask: &Mask) -> Result<BlockOutput<T>> {
        self.forward_by(x, |reads, attention, x| reads.attend(attention, x, mask, None))
    }

    /// The tokens after this block, which reads another text too.
    ///
    /// # Errors
    /// As the parts.
    ///
    /// # Source
    /// Vaswani et al. 2017, section 3.2.3.
    pub fn forward_reading(
        &self,
        y: &Matrix<T>,
        mask: &Mask,
        memory: Memory<'_, T>,
    ) -> Result<BlockOutput<T>> {
        let memory = Some(memory);
        self.forward_by(y, |reads, attention, y| reads.attend(attention, y, mask, memory))
    }
}

/// The error of a block that has cross-attention and nothing to read.
pub(crate) fn no_memory() -> Error {
    Error::Length { what: "the list of texts to read".into(), expected: 1, found: 0 }
}
