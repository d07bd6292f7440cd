//! What a converter holds, and what a date takes.

use attention::{Linear, Result};
use block::{Embedding, Ledger};

use super::{DateConverter, N_SOURCE, N_TARGET};

/// Counts of a whole model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    /// How many parameters are learned.
    pub parameters: usize,
    /// Multiply-adds of one date: all letters that can be read and the ten that are written,
    /// once each, as in training, or in writing with what was computed before kept. Pairs
    /// that a mask hides are counted too.
    pub multiply_adds: u64,
}

impl Costs {
    /// What stands before and behind the blocks.
    pub(super) fn around<const N: usize>(
        embeddings: [&Embedding<f32>; N],
        unembedding: &Linear<f32>,
    ) -> Self {
        let of = |embedding: &&Embedding<f32>| {
            let positions = embedding.positions.table().map_or(0, |table| table.len());
            embedding.tokens.len() + positions
        };
        let bias = unembedding.bias.as_ref().map_or(0, |bias| bias.len());
        let weights = unembedding.weight.len();
        Self {
            parameters: embeddings.iter().map(of).sum::<usize>() + weights + bias,
            multiply_adds: (weights * N_TARGET) as u64,
        }
    }

    /// And the blocks.
    pub(super) fn add(&mut self, ledger: &Ledger) {
        self.parameters += ledger.parameters();
        self.multiply_adds += ledger.multiply_adds();
    }
}

impl DateConverter {
    /// What it holds, and what a date takes.
    ///
    /// # Errors
    /// [`attention::Error`] if a `u64` cannot hold a count.
    pub fn costs(&self) -> Result<Costs> {
        let mut costs = Costs::around([&self.source, &self.target], &self.unembedding);
        costs.add(&Ledger::of_both(&self.model, [N_SOURCE, N_TARGET])?);
        Ok(costs)
    }
}
