//! One side of a model: its blocks, and what stands around them.

use attention::{Attended, Matrix, Real};
use block::{Block, Layers, Norm, Reads};

use crate::Result;

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

impl<A, T: Real> Side<A, T> {
    /// Tokens with their positions, the first at `first`, and normed.
    pub(crate) fn enter(&self, mut x: Matrix<T>, first: usize) -> Result<Matrix<T>> {
        if let Some(positions) = &self.positions {
            let (n_tokens, n_positions) = (first + x.nrows(), positions.nrows());
            if n_tokens > n_positions {
                return Err(attention::Error::TooLong { n_tokens, n_positions }.into());
            }
            x += positions.rows(first, x.nrows());
        }
        Ok(match &self.norm {
            None => x,
            Some(norm) => norm.forward(&x)?,
        })
    }

    /// All blocks; `attend` computes the attention of the block of that number.
    pub(crate) fn forward(
        &self,
        x: Matrix<T>,
        attend: impl FnMut(usize, Reads, &A, &Matrix<T>) -> attention::Result<Attended<T>>,
    ) -> attention::Result<Layers<T>> {
        Layers::new(x).through(&self.blocks, attend)?.behind(self.last_norm.as_ref())
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
