//! A whole decoder: embedding, blocks, last norm, unembedding.

use std::path::Path;

use attention::{Attended, Mask, Matrix, MultiHeadAttention, Real};
use block::{Block, Layers, Norm};
use model_files::Sequence;
use variants::{Cache, VariantAttention};

use crate::caches::expect_seen;
use crate::decoders::Files;
use crate::decoders::config::Config;
use crate::decoders::embedding::{Embedding, Unembedding};
use crate::decoders::weights::Weights;
use crate::{Error, Result};

/// A decoder: each token reads those before it, and at the end stand logits for the token
/// that comes next.
///
/// A is what its attention is: [`VariantAttention`] as it is read, or another stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoder<A, T: Real = f64> {
    /// What its files say.
    pub config: Config,
    /// From ids to vectors.
    pub embedding: Embedding<T>,
    /// From vectors to vectors.
    pub blocks: Vec<Block<A, T>>,
    /// Behind the last block.
    pub last_norm: Norm<T>,
    /// From vectors to logits; `None` in a model that was saved without.
    pub unembedding: Option<Unembedding<T>>,
}

/// A decoder as it is read from its files.
pub type AsRead<T = f64> = Decoder<VariantAttention<T>, T>;

impl<T: Real> AsRead<T> {
    /// The model in a folder or a GGUF file.
    ///
    /// # Errors
    /// As [`Files::open`] and [`read`](Self::read).
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::read(&Files::open(path)?)
    }

    /// The model from what its files hold.
    ///
    /// # Shapes
    /// Every tensor's follows from the config.
    ///
    /// # Errors
    /// [`Error::Files`] or [`Error::Gguf`] for a
    /// tensor that is missing, of another shape, of a kind that is not read or not known:
    /// it is named.
    pub fn read(files: &Files) -> Result<Self> {
        let config = &files.config;
        let weights = Weights::new(config, &files.tensors)?;
        let embedding = weights.embedding()?;
        let blocks = (0..config.n_layers).map(|layer| weights.block(layer));
        let model = Self {
            config: config.clone(),
            blocks: blocks.collect::<Result<_>>()?,
            last_norm: weights.last_norm()?,
            unembedding: weights.unembedding(&embedding)?,
            embedding,
        };
        weights.expect_all_known()?;
        Ok(model)
    }

    /// An empty cache per layer, for one text.
    pub fn caches(&self) -> Vec<Cache<T>> {
        self.blocks.iter().map(|block| block.attention.function.cache()).collect()
    }

    /// New tokens behind those of the caches: hidden states and maps of the new ones alone.
    ///
    /// # Shapes
    /// As [`forward`](Self::forward), with `n_new` tokens; maps are `[n_new, n_cached]`, the
    /// caches holding the new tokens by then.
    ///
    /// # Errors
    /// As [`Embedding::forward`]; [`Error::Sizes`] for caches of another model;
    /// [`Error::Caches`]. The caches are then as they
    /// were.
    pub fn forward_cached(
        &self,
        ids: &[usize],
        caches: &mut [Cache<T>],
    ) -> Result<Layers<T>> {
        let sizes = self.blocks.iter().map(|block| block.attention.function.sizes());
        let n_seen = expect_seen(sizes, caches)?;
        let x = self.embedding.forward(ids, n_seen)?;
        self.through(x, |l, attention, x| attention.forward_cached(x, &mut caches[l]))
    }

    /// All hidden states and maps of a text whose positions may be given: by those of a
    /// table, or by the angles of queries and keys. Which token sees which is as they lie.
    ///
    /// # Shapes and errors
    /// As [`forward`](Self::forward).
    pub fn forward_at(&self, sequence: &Sequence) -> Result<Layers<T>> {
        let Some(places) = &sequence.positions else { return self.forward(sequence) };
        let mask = mask(sequence)?;
        let x = self.embedding.forward_at(&sequence.ids, places)?;
        let places: Vec<i64> = places
            .iter()
            .map(|&place| i64::try_from(place).unwrap_or(i64::MAX))
            .collect();
        self.through(x, |_, attention, x| attention.self_attend_at(x, &places, &mask))
    }
}

impl<A, T: Real> Decoder<A, T> {
    /// A logit per token of the vocabulary, from the last hidden states.
    ///
    /// # Shapes
    /// `hidden` is `[n_tokens, d_model]`, the result `[n_tokens, n_vocabulary]`.
    ///
    /// # Errors
    /// [`Error::NoHead`] in a model that was saved without; [`Error::Sizes`] for another
    /// width.
    pub fn logits(&self, hidden: &Matrix<T>) -> Result<Matrix<T>> {
        let unembedding =
            self.unembedding.as_ref().ok_or_else(|| self.config.no_head())?;
        Ok(unembedding.forward(hidden, &self.embedding)?)
    }

    /// The logits of some tokens alone.
    ///
    /// # Shapes
    /// `hidden` is `[n_tokens, d_model]`, the result `[n_tokens, n]` for n ids.
    ///
    /// # Errors
    /// As [`logits`](Self::logits).
    ///
    /// # Panics
    /// For an id that the vocabulary does not have.
    pub fn logits_of(&self, hidden: &Matrix<T>, ids: &[usize]) -> Result<Matrix<T>> {
        let columns = self.unembedding_of(ids)?;
        let expected = (hidden.nrows(), columns.nrows());
        let what = "the input of the unembedding";
        attention::Error::expect_shape(what, expected, hidden.shape())?;
        let logits = hidden * columns;
        let cap = self.unembedding.as_ref().and_then(|it| it.soft_cap);
        Ok(match cap {
            None => logits,
            Some(cap) => cap.apply(logits),
        })
    }

    /// The unembedding of some tokens, `[d_model, n]`.
    pub(crate) fn unembedding_of(&self, ids: &[usize]) -> Result<Matrix<T>> {
        let unembedding =
            self.unembedding.as_ref().ok_or_else(|| self.config.no_head())?;
        Ok(unembedding.of(ids, &self.embedding))
    }

    /// All layers; `attend` computes the attention of the block of that number.
    pub(crate) fn through(
        &self,
        x: Matrix<T>,
        attend: impl FnMut(usize, &A, &Matrix<T>) -> attention::Result<Attended<T>>,
    ) -> Result<Layers<T>> {
        self.go_on(Layers::new(x), attend)
    }

    /// The layers that are left after some.
    pub(crate) fn go_on(
        &self,
        layers: Layers<T>,
        mut attend: impl FnMut(usize, &A, &Matrix<T>) -> attention::Result<Attended<T>>,
    ) -> Result<Layers<T>> {
        let layers = layers.through(&self.blocks, |l, _, a, x| attend(l, a, x))?;
        Ok(layers.behind(Some(&self.last_norm))?)
    }
}

impl<A: MultiHeadAttention<T>, T: Real> Decoder<A, T> {
    /// All hidden states and maps of a text; [`logits`](Self::logits) go on from the last.
    ///
    /// # Shapes
    /// `hidden` is `n_layers + 1` times `[n_tokens, d_model]`, the last behind the last
    /// norm; `attn` is `n_layers` times h maps `[n_tokens, n_tokens]`. Padding stands on the
    /// right: its rows are computed, and mean nothing.
    ///
    /// # Errors
    /// As [`Embedding::forward`]; [`Error::Files`] unless there is
    /// one flag per token.
    ///
    /// # Source
    /// Radford et al. 2018, section 3.1.
    pub fn forward(&self, sequence: &Sequence) -> Result<Layers<T>> {
        let mask = mask(sequence)?;
        let x = match &sequence.positions {
            None => self.embedding.forward(&sequence.ids, 0)?,
            // Where attention rotates by them, it is asked to: `AsRead::forward_at`.
            Some(_) if self.embedding.positions.is_none() => {
                return Err(Error::Positions);
            }
            Some(places) => self.embedding.forward_at(&sequence.ids, places)?,
        };
        self.through(x, |_, attention, x| attention.self_attend(x, &mask))
    }
}

fn mask(sequence: &Sequence) -> Result<Mask> {
    Ok(match sequence.mask()? {
        Mask::None => Mask::Causal,
        padding => Mask::All(vec![Mask::Causal, padding]),
    })
}
