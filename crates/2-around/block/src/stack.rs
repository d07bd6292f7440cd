//! Blocks on blocks.

use std::fmt;

use attention::{Mask, Matrix, MultiHeadAttention, Real, Result};

use crate::{Block, LayerNorm};

/// Blocks, each reading what the one below wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Stack<A, T: Real = f64> {
    /// The blocks, the first nearest to the tokens.
    pub blocks: Vec<Block<A, T>>,
    /// A norm behind the last block, which blocks with their norms before need.
    pub last_norm: Option<LayerNorm<T>>,
}

/// What every layer of a stack gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers<T: Real = f64> {
    /// The tokens before the first block and after each, `n_blocks + 1` times
    /// `[n_tokens, d_model]`; the last is behind the last norm.
    pub hidden: Vec<Matrix<T>>,
    /// `attn[l][i]` is the map of head i of block l, `[n_tokens, n_tokens]`.
    pub attn: Vec<Vec<Matrix<T>>>,
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

impl<A: MultiHeadAttention<T>, T: Real> Stack<A, T> {
    /// All layers, from tokens that are embedded already.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`; [`Layers`] gives the shapes that come out.
    ///
    /// # Errors
    /// As the parts.
    ///
    /// # Source
    /// Vaswani et al. 2017, section 3.1, the encoder.
    // ANCHOR: forward
    pub fn forward(&self, x: Matrix<T>, mask: &Mask) -> Result<Layers<T>> {
        let mut layers = Layers { hidden: vec![x], attn: Vec::new() };
        for block in &self.blocks {
            let attended = block.forward(layers.out(), mask)?;
            layers.hidden.push(attended.out);
            layers.attn.push(attended.attn);
        }
        if let (Some(norm), Some(last)) = (&self.last_norm, layers.hidden.last_mut()) {
            *last = norm.forward(last)?;
        }
        Ok(layers)
    }
    // ANCHOR_END: forward
}
