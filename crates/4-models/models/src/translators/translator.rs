//! A whole encoder-decoder: both sides, and the logits.

use std::path::Path;

use crate::decoders::{Embedding, Unembedding};
use attention::{Mask, Matrix, MultiHeadAttention, Real, RowVector};
use block::{Layers, Memory};
use model_files::Sequence;
use variants::VariantAttention;

use crate::Result;
use crate::translators::Files;
use crate::translators::config::Config;
use crate::translators::side::Side;
use crate::translators::weights::Weights;

/// An encoder-decoder.
///
/// A is what its attention is: [`VariantAttention`] as it is read, or another stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Translator<A, T: Real = f64> {
    /// What its files say.
    pub config: Config,
    /// The encoder's tokens.
    pub source: Embedding<T>,
    /// The decoder's, where they are others.
    pub target: Option<Embedding<T>>,
    /// What reads.
    pub encoder: Side<A, T>,
    /// What writes.
    pub decoder: Side<A, T>,
    /// From vectors to logits; `None` in a model that was saved without.
    pub unembedding: Option<Unembedding<T>>,
    /// What is added to the logits, `[n_target_vocabulary]`.
    pub logits_bias: Option<RowVector<T>>,
}

/// A model as it is read from its files.
pub type AsRead<T = f64> = Translator<VariantAttention<T>, T>;

impl<T: Real> AsRead<T> {
    /// The model in a folder.
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
    /// [`Error::Tensors`](crate::Error::Tensors) for a tensor that is missing, of another shape,
    /// or not known: it is named.
    pub fn read(files: &Files) -> Result<Self> {
        let config = &files.config;
        let weights = Weights::new(config, &files.tensors)?;
        let (source, target) = weights.embeddings()?;
        let family = config.family;
        let of_target = target.as_ref().unwrap_or(&source);
        let model = Self {
            encoder: weights.side(&family.encoder, config.encoder, false)?,
            decoder: weights.side(&family.decoder, config.decoder, true)?,
            unembedding: weights.unembedding(&of_target.tokens)?,
            logits_bias: weights.logits_bias()?,
            config: config.clone(),
            source,
            target,
        };
        weights.expect_all_known()?;
        Ok(model)
    }
}

impl<A, T: Real> Translator<A, T> {
    /// The same model with another attention: `other` makes each from the one that is there.
    pub fn with_attention<B>(&self, mut other: impl FnMut(&A) -> B) -> Translator<B, T> {
        Translator {
            config: self.config.clone(),
            source: self.source.clone(),
            target: self.target.clone(),
            encoder: self.encoder.with_attention(&mut other),
            decoder: self.decoder.with_attention(&mut other),
            unembedding: self.unembedding.clone(),
            logits_bias: self.logits_bias.clone(),
        }
    }

    /// The decoder's tokens.
    pub fn target(&self) -> &Embedding<T> {
        self.target.as_ref().unwrap_or(&self.source)
    }

    /// A logit per token of the vocabulary, from the decoder's last hidden states.
    ///
    /// # Shapes
    /// `hidden` is `[n_tokens, d_model]`, the result `[n_tokens, n_target_vocabulary]`.
    ///
    /// # Errors
    /// [`Error::NoHead`](crate::Error::NoHead) in a model that was saved without;
    /// [`Error::Sizes`](crate::Error::Sizes) for another width.
    pub fn logits(&self, hidden: &Matrix<T>) -> Result<Matrix<T>> {
        let unembedding =
            self.unembedding.as_ref().ok_or_else(|| self.config.no_head())?;
        let scaled = hidden * T::of(self.config.logits_scale);
        let mut logits = unembedding.forward(&scaled, self.target())?;
        if let Some(bias) = &self.logits_bias {
            logits.row_iter_mut().for_each(|mut row| row += bias);
        }
        Ok(logits)
    }
}

impl<A: MultiHeadAttention<T>, T: Real> Translator<A, T> {
    /// All hidden states and maps of a source.
    ///
    /// # Shapes
    /// `hidden` is `n_layers + 1` times `[n_source, d_model]`, the last behind the last norm;
    /// `attn` is `n_layers` times h maps `[n_source, n_source]`. Rows of padding are computed,
    /// and mean nothing.
    ///
    /// # Errors
    /// [`Error::Sizes`](crate::Error::Sizes) for no tokens, too many, or one that the
    /// vocabulary has not; [`Error::Files`](crate::Error::Files) unless there is one flag per
    /// token.
    pub fn encode(&self, source: &Sequence) -> Result<Layers<T>> {
        let mask = source.mask()?;
        let x = self.encoder.enter(self.source.forward(&source.ids, 0)?, 0)?;
        Ok(self.encoder.forward(x, |_, reads, a, x| reads.attend(a, x, &mask, None))?)
    }

    /// All hidden states and maps of a target, each token reading those before it, and the
    /// source; `memory` is what [`encode`](Self::encode) gave of that, its last hidden state.
    ///
    /// # Shapes
    /// `memory` is `[n_source, d_model]`; the rest as [`encode`](Self::encode), with
    /// `n_target` tokens.
    ///
    /// # Errors
    /// As [`encode`](Self::encode); [`Error::Sizes`](crate::Error::Sizes) for the memory of
    /// another source.
    pub fn decode(
        &self,
        target: &Sequence,
        memory: &Matrix<T>,
        source: &Sequence,
    ) -> Result<Layers<T>> {
        let of_source = source.mask()?;
        let mask = match target.mask()? {
            Mask::None => Mask::Causal,
            padding => Mask::All(vec![Mask::Causal, padding]),
        };
        let x = self.decoder.enter(self.target().forward(&target.ids, 0)?, 0)?;
        let memory = Some(Memory { tokens: memory, mask: &of_source });
        Ok(self.decoder.forward(x, |_, reads, a, x| reads.attend(a, x, &mask, memory))?)
    }
}
