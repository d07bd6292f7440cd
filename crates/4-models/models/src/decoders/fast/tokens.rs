//! From ids to vectors and back, with one matrix where the two are tied.

use std::ops::AddAssign;

use attention::{Linear, Matrix};
use cached::Product;
use tiles::Instructions;
use variants::SoftCap;

use super::few_bits::joined;
use crate::Result;
use crate::decoders::embedding::{Embedding, Unembedding, expect_ids};
use crate::decoders::weights::Weights;

/// Both ends of a decoder.
#[derive(Debug)]
pub(super) struct Tokens {
    /// The unembedding, whose rows are the tokens where it is the embedding too.
    logits: Product,
    /// The embedding, where it is another; its rows are the tokens.
    apart: Option<Product>,
    scale: f32,
    positions: Option<Matrix<f32>>,
    n_positions: usize,
    soft_cap: Option<SoftCap>,
}

impl Tokens {
    pub(super) fn new(embedding: Embedding<f32>, unembedding: Unembedding<f32>) -> Self {
        let Embedding { tokens, scale, positions, n_positions } = embedding;
        let Unembedding { tokens: apart, soft_cap } = unembedding;
        let product = |weight| {
            Product::of_linear(&Linear { weight, bias: None }, Instructions::best())
        };
        let (logits, apart) = match apart {
            None => (product(tokens), None),
            Some(unembedding) => (product(unembedding), Some(product(tokens))),
        };
        let n_rows = positions.as_ref().map_or(n_positions, Matrix::nrows);
        let n_positions = n_positions.min(n_rows);
        let scale = scale as f32;
        Self { logits, apart, scale, positions, n_positions, soft_cap }
    }

    /// The same from a file, of whose tables none is ever decoded if they are in few bits.
    pub(super) fn read(weights: &Weights<'_>) -> Result<Self> {
        let config = weights.config;
        let Some((tokens, head)) = weights.tables()? else {
            let embedding = weights.embedding()?;
            let unembedding = weights.unembedding(&embedding)?;
            return Ok(Self::new(
                embedding,
                unembedding.ok_or_else(|| config.no_head())?,
            ));
        };
        let product = |levels| -> Result<Product> {
            let weight = joined(&[levels], config.dims().d_model())?;
            Ok(Product::of_levels(weight, Instructions::best()))
        };
        let (logits, apart) = match head {
            None => (product(tokens)?, None),
            Some(head) => (product(head)?, Some(product(tokens)?)),
        };
        let (scale, n_positions) = (config.embedding_scale as f32, config.n_positions);
        let (positions, soft_cap) = (weights.positions()?, config.last_soft_cap);
        Ok(Self { logits, apart, scale, positions, n_positions, soft_cap })
    }

    pub(super) fn compute_with(&mut self, instructions: Instructions) {
        self.logits.compute_with(instructions);
    }

    pub(super) fn bytes(&self) -> usize {
        self.logits.bytes()
    }

    /// Tokens of a text from a place on.
    pub(super) fn embed(&self, ids: &[usize], first: usize) -> Result<Matrix<f32>> {
        attention::Error::expect_positive("the number of tokens", ids.len())?;
        expect_ids(ids, self.logits.d_out())?;
        let (n_tokens, n_positions) = (first.saturating_add(ids.len()), self.n_positions);
        if n_tokens > n_positions {
            return Err(attention::Error::TooLong { n_tokens, n_positions }.into());
        }
        let width = self.logits.d_in();
        let mut x = Matrix::zeros(ids.len(), width);
        let mut token = vec![0.0; width];
        for (row, &id) in ids.iter().enumerate() {
            match &self.apart {
                Some(tokens) => tokens.row(id, &mut token)?,
                None => self.logits.row(id, &mut token)?,
            }
            for (feature, entry) in token.iter().enumerate() {
                x[(row, feature)] = self.scale * entry;
            }
            if let Some(positions) = &self.positions {
                x.row_mut(row).add_assign(&positions.row(first + row));
            }
        }
        Ok(x)
    }

    /// `[n, n_vocabulary]`
    pub(super) fn logits(&mut self, x: &Matrix<f32>) -> Result<Matrix<f32>> {
        let mut logits = Matrix::zeros(x.nrows(), self.logits.d_out());
        self.logits.of(x, &mut logits)?;
        Ok(match &self.soft_cap {
            None => logits,
            Some(cap) => cap.apply(logits),
        })
    }
}
