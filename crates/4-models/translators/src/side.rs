//! One side of a model: its blocks, and what stands around them.

use attention::{Attended, Matrix, Real, Result as SizeResult};
use block::{Error as TokenError, Layers};

use crate::blocks::Block;
use crate::{Norm, Result};

/// One side: what follows the look-up of its tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Side<A, T: Real = f64> {
    /// P, `[n_positions, d_model]`, in a model that has such a table.
    pub positions: Option<Matrix<T>>,
    /// A norm of what enters the first block.
    pub norm: Option<Norm<T>>,
    /// The blocks.
    pub blocks: Vec<Block<A, T>>,
    /// Behind the last block.
    pub last_norm: Option<Norm<T>>,
}

/// What a decoder gave of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded<T: Real = f64> {
    /// Hidden states, and the maps of attention to the text itself.
    pub layers: Layers<T>,
    /// `cross[l][i]` is the map of head i of block l on the source, `[n_target, n_source]`.
    pub cross: Vec<Vec<Matrix<T>>>,
}

impl<A, T: Real> Side<A, T> {
    /// Tokens with their positions, the first at `first`, and normed.
    pub(crate) fn enter(&self, mut x: Matrix<T>, first: usize) -> Result<Matrix<T>> {
        if let Some(positions) = &self.positions {
            let (n_tokens, n_positions) = (first + x.nrows(), positions.nrows());
            if n_tokens > n_positions {
                return Err(TokenError::TooLong { n_tokens, n_positions }.into());
            }
            x += positions.rows(first, x.nrows());
        }
        Ok(match &self.norm {
            None => x,
            Some(norm) => norm.forward(&x)?,
        })
    }

    /// All blocks; `attend` and `cross` say how the attention of a block is asked.
    pub(crate) fn forward(
        &self,
        x: Matrix<T>,
        mut attend: impl FnMut(usize, &A, &Matrix<T>) -> SizeResult<Attended<T>>,
        mut cross: impl FnMut(usize, &A, &Matrix<T>) -> SizeResult<Attended<T>>,
    ) -> SizeResult<Decoded<T>> {
        let layers = Layers { hidden: vec![x], attn: Vec::new() };
        let mut found = Decoded { layers, cross: Vec::new() };
        for (layer, block) in self.blocks.iter().enumerate() {
            let (attended, to_source) = block.forward(
                found.layers.out(),
                |a, x| attend(layer, a, x),
                |a, x| cross(layer, a, x),
            )?;
            found.layers.hidden.push(attended.out);
            found.layers.attn.push(attended.attn);
            found.cross.push(to_source);
        }
        if let (Some(norm), Some(last)) =
            (&self.last_norm, found.layers.hidden.last_mut())
        {
            *last = norm.forward(last)?;
        }
        Ok(found)
    }

    pub(crate) fn with_attention<B>(&self, mut other: impl FnMut(&A) -> B) -> Side<B, T> {
        let blocks = self.blocks.iter().map(|block| block.with_attention(&mut other));
        Side {
            positions: self.positions.clone(),
            norm: self.norm.clone(),
            blocks: blocks.collect(),
            last_norm: self.last_norm.clone(),
        }
    }
}
