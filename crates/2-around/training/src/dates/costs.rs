//! What a converter holds, and what a date takes.

use attention::{Linear, Result};
use block::Ledger;
use gradients::Entries;

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
    /// Those of a model with this unembedding, whose blocks take so many multiply-adds.
    pub(super) fn of(
        model: &impl Entries<f32>,
        unembedding: &Linear<f32>,
        of_blocks: u64,
    ) -> Self {
        let multiply_adds = of_blocks + (unembedding.weight.len() * N_TARGET) as u64;
        Self { parameters: model.n_entries(), multiply_adds }
    }
}

impl DateConverter {
    /// What it holds, and what a date takes.
    ///
    /// # Errors
    /// [`attention::Error`] if a `u64` cannot hold a count.
    pub fn costs(&self) -> Result<Costs> {
        let blocks = Ledger::of_both(&self.model, [N_SOURCE, N_TARGET])?;
        Ok(Costs::of(self, &self.unembedding, blocks.multiply_adds()))
    }
}
