//! A whole model: embeddings, and a stack of blocks whose attention is any stage.

use std::path::Path;

use attention::{LayerParameters, Matrix, MultiHeadAttention, Real, RowVector};
use block::{Layers, Stack};
use model_files::Sequence;

use crate::Result;
use crate::encoders::embeddings::Embeddings;
use crate::encoders::weights::Weights;
use crate::encoders::{Config, Files};

/// An encoder.
///
/// A is any stage of multi-head attention.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoder<A, T: Real = f64> {
    /// What its `config.json` says.
    pub config: Config,
    /// From ids to vectors.
    pub embeddings: Embeddings<T>,
    /// From vectors to vectors.
    pub stack: Stack<A, T>,
}

impl<A, T: Real> Encoder<A, T> {
    /// The model in a folder; `stage` makes the attention of each block.
    ///
    /// # Errors
    /// As [`Files::open`] and [`read`](Self::read).
    pub fn load(
        folder: impl AsRef<Path>,
        stage: impl FnMut(&LayerParameters<T>) -> A,
    ) -> Result<Self> {
        Self::read(&Files::open(folder)?, stage)
    }

    /// The model from what its files hold.
    ///
    /// # Shapes
    /// Every tensor's follows from the config; files store weights as `[out, in]`.
    ///
    /// # Errors
    /// [`Error::Tensors`](crate::Error::Tensors) for a tensor that is missing, of another shape,
    /// or not known: it is named.
    pub fn read(
        files: &Files,
        mut stage: impl FnMut(&LayerParameters<T>) -> A,
    ) -> Result<Self> {
        let config = &files.config;
        let weights = Weights::new(config, &files.tensors)?;
        let embeddings = weights.embeddings()?;
        let blocks = (0..config.n_layers).map(|i| weights.block(i, &mut stage));
        let stack = Stack { blocks: blocks.collect::<Result<_>>()?, last_norm: None };
        weights.expect_all_known()?;
        Ok(Self { config: config.clone(), embeddings, stack })
    }

    /// The same model with another attention: `other` makes that of block `i` from the one
    /// that is there. So a model that was read with its parameters as they are can be tried
    /// with every stage, and with heads ablated.
    pub fn with_attention<B>(&self, other: impl FnMut(usize, &A) -> B) -> Encoder<B, T> {
        Encoder {
            config: self.config.clone(),
            embeddings: self.embeddings.clone(),
            stack: self.stack.with_attention(other),
        }
    }
}

impl<A: MultiHeadAttention<T>, T: Real> Encoder<A, T> {
    /// All hidden states and maps of a text.
    ///
    /// # Shapes
    /// `hidden` is `n_layers + 1` times `[n_tokens, d_model]`, `attn` `n_layers` times h
    /// maps `[n_tokens, n_tokens]`. Rows of padding are computed, and mean nothing.
    ///
    /// # Errors
    /// As [`Embeddings::forward`].
    ///
    /// # Source
    /// Devlin et al. 2019, section 3.
    pub fn forward(&self, sequence: &Sequence) -> Result<Layers<T>> {
        let mask = sequence.mask()?;
        Ok(self.stack.forward(self.embeddings.forward(sequence)?, &mask)?)
    }

    /// The text as one vector of length 1: the mean over its real tokens, as sentence
    /// models are trained to be read.
    ///
    /// # Shapes
    /// `[d_model]`.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    ///
    /// # Source
    /// Reimers and Gurevych 2019, section 3.
    pub fn embed(&self, sequence: &Sequence) -> Result<RowVector<T>> {
        Ok(sentence_embedding(self.forward(sequence)?.out(), &sequence.is_real))
    }
}

/// The mean over the rows that are real, divided by its length.
///
/// # Shapes
/// `hidden` is `[n_tokens, d_model]`, `is_real` has `n_tokens` entries; the result is
/// `[d_model]`, zeros where nothing is real.
pub fn sentence_embedding<T: Real>(hidden: &Matrix<T>, is_real: &[bool]) -> RowVector<T> {
    let mut sum = RowVector::zeros(hidden.ncols());
    for (token, _) in hidden.row_iter().zip(is_real).filter(|(_, is_real)| **is_real) {
        sum += token;
    }
    // The number of tokens goes out with the length.
    let length = sum.norm();
    if length > T::zero() { sum / length } else { sum }
}
