//! Tensors become parts, by the names that the family gives them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use attention::{Linear, Matrix, Real, RowVector};
use block::{Block, FeedForward, LayerNorm, Norm, Norms, RmsNorm, Sublayer};
#[cfg(feature = "fast")]
use model_files::Levels;
use model_files::{Gguf, Unused, expect_layers, harmless, refuse_packed, refuse_unread};
use tensors::TensorFile;
use variants::{Changes, QkNorm, VariantAttention};

use crate::Result;
use crate::decoders::config::Config;
use crate::decoders::embedding::{Embedding, Unembedding};
use crate::decoders::families::TENSORS;
use crate::decoders::family::{Layers, NormKind, Projections};

/// A file of weights.
#[derive(Debug, Clone)]
pub(crate) enum Tensors {
    Safetensors(TensorFile),
    Gguf(Gguf),
}

impl Tensors {
    fn contains(&self, name: &str) -> bool {
        match self {
            Self::Safetensors(file) => file.contains(name),
            Self::Gguf(file) => file.contains(name),
        }
    }

    fn numbers<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        match self {
            Self::Safetensors(file) => {
                let tensor = file.tensor(name)?;
                tensor.expect_shape(shape)?;
                Ok(tensor.numbers_as()?)
            }
            Self::Gguf(file) => Ok(file.numbers(name, shape)?),
        }
    }
}

/// The tensors that are known to be no part of a decoder, and where the settings say that
/// the embedding is the unembedding, and the file that it is not.
pub(crate) fn leftover_tensors(config: &Config, file: &TensorFile) -> Vec<Unused> {
    let mut unused = harmless(file, config.family.prefix, TENSORS);
    let names = &config.family.names;
    let has = |name: &str| file.contains(&format!("{name}.weight"));
    let prefix = file.prefix(config.family.prefix);
    if config.tied && has(names.unembedding) && has(&format!("{prefix}{}", names.tokens))
    {
        let why = "the file has an unembedding, which is used";
        unused.push(Unused { name: "tie_word_embeddings".into(), why });
    }
    unused
}

/// A file of weights, with what says how to read it.
pub(crate) struct Weights<'a> {
    pub config: &'a Config,
    tensors: &'a Tensors,
    /// What stands before every name: the family's prefix, or nothing.
    prefix: &'static str,
    read: RefCell<BTreeSet<String>>,
}

impl<'a> Weights<'a> {
    /// # Errors
    /// [`model_files::Error::Layers`] for a file of another number of layers.
    pub fn new(config: &'a Config, tensors: &'a Tensors) -> Result<Self> {
        let family = config.family;
        let prefix = match tensors {
            Tensors::Safetensors(file) => file.prefix(config.family.prefix),
            Tensors::Gguf(_) => family.prefix,
        };
        if let Tensors::Safetensors(file) = tensors {
            let block = format!("{prefix}{}", family.names.block);
            refuse_packed(file)?;
            expect_layers(file, &block, config.n_layers)?;
        }
        Ok(Self { config, tensors, prefix, read: RefCell::default() })
    }

    /// Refuses what was not read and is not known to be harmless.
    pub fn expect_all_known(&self) -> Result<()> {
        let Tensors::Safetensors(file) = self.tensors else { return Ok(()) };
        let is_read = |name: &str| self.read.borrow().contains(name);
        Ok(refuse_unread(file, is_read, self.prefix, TENSORS)?)
    }

    pub fn embedding<T: Real>(&self) -> Result<Embedding<T>> {
        let Config { n_vocabulary, n_positions, embedding_scale, .. } = *self.config;
        let d_model = self.config.dims().d_model();
        let tokens = match self.embedding_is_the_head() {
            true => self.head(),
            false => self.tokens(),
        };
        Ok(Embedding {
            tokens: self.stored_out_in(&tokens, d_model, n_vocabulary)?,
            scale: embedding_scale,
            positions: self.positions()?,
            n_positions,
        })
    }

    /// The table of positions, in a model that has one.
    pub fn positions<T: Real>(&self) -> Result<Option<Matrix<T>>> {
        let shape = [self.config.n_positions, self.config.dims().d_model()];
        let table = |name: &str| -> Result<Matrix<T>> {
            let numbers = self.numbers(&format!("{name}.weight"), &shape)?;
            Ok(Matrix::from_row_slice(shape[0], shape[1], &numbers))
        };
        self.config.family.names.positions.map(table).transpose()
    }

    /// The unembedding: the file's own, whatever the settings say; or else the embedding,
    /// where they are tied; or none, in a model that was saved without it.
    pub fn unembedding<T: Real>(
        &self,
        embedding: &Embedding<T>,
    ) -> Result<Option<Unembedding<T>>> {
        let (d_model, n) = (self.config.dims().d_model(), self.config.n_vocabulary);
        let of = |tokens| Unembedding { tokens, soft_cap: self.config.last_soft_cap };
        if self.embedding_is_the_head() {
            return Ok(Some(of(None)));
        }
        if !self.tensors.contains(&self.head()) {
            return Ok(self.config.tied.then(|| of(None)));
        }
        let tokens = self.stored_out_in(&self.head(), d_model, n)?;
        // A copy of the embedding is not kept twice.
        Ok(Some(of((tokens != embedding.tokens).then_some(tokens))))
    }

    fn tokens(&self) -> String {
        self.named(self.config.family.names.tokens, "weight")
    }

    fn head(&self) -> String {
        format!("{}.weight", self.config.family.names.unembedding)
    }

    /// Whether the only table has the name of the unembedding, which of two names for one
    /// tensor can be the one that is kept.
    fn embedding_is_the_head(&self) -> bool {
        let tokens = self.tokens();
        let Tensors::Safetensors(file) = self.tensors else { return false };
        let is_tied = self.config.tied || file.text(&tokens) == Some(&self.head());
        is_tied && !file.contains(&tokens) && file.contains(&self.head())
    }

    pub fn last_norm<T: Real>(&self) -> Result<Norm<T>> {
        self.norm(self.config.family.names.last_norm)
    }

    pub fn block<T: Real>(&self, layer: usize) -> Result<Block<VariantAttention<T>, T>> {
        let names = &self.config.family.names;
        let within = |name: &str| format!("{}{layer}.{name}", names.block);
        let norms = |before: &str, of_output: Option<&str>| -> Result<Norms<T>> {
            let norm = |name: &str| self.norm(&within(name));
            let of_output = of_output.map(norm).transpose()?;
            Ok(Norms { of_output, ..Norms::before(norm(before)?) })
        };
        let of_attention = norms(names.attention_norm, names.after_attention)?;
        let attention = Sublayer::new(self.attention(layer)?, of_attention);
        let of_feed_forward = norms(names.feed_forward_norm, names.after_feed_forward)?;
        let feed_forward = Sublayer::new(self.feed_forward(&within)?, of_feed_forward);
        let block = Block::new(attention, Some(feed_forward));
        Ok(Block { parallel: self.config.parallel, ..block })
    }

    fn attention<T: Real>(&self, layer: usize) -> Result<VariantAttention<T>> {
        let Config { sizes, biases, scale, soft_cap, .. } = self.config;
        let names = &self.config.family.names;
        let within = |name: &str| format!("{}{layer}.{name}", names.block);
        let shapes = sizes.shapes();
        let [q, k, v] = match names.projections {
            Projections::Apart(three) => {
                let one = |i: usize| {
                    self.linear(&within(three[i]), shapes[i], biases.projections)
                };
                [one(0)?, one(1)?, one(2)?]
            }
            Projections::Joined(name) | Projections::PerHead(name) => {
                self.three_in_one(&within(name))?
            }
        };
        let out = self.linear(&within(names.out), shapes[3], biases.out)?;
        let gain = |name: &str| self.gain(&within(name), sizes.dims.d_k());
        let norm = |[q, k]: [&str; 2]| -> Result<QkNorm<T>> {
            Ok(QkNorm { q: gain(q)?, k: gain(k)?, eps: self.config.eps })
        };
        let changes = Changes {
            norm: names.qk_norm.map(norm).transpose()?,
            rotary: self.config.rotary_of(layer).cloned(),
            scale: *scale,
            soft_cap: *soft_cap,
            window: self.config.window(layer),
            ..Changes::default()
        };
        Ok(VariantAttention::new(*sizes, [q, k, v, out], changes)?)
    }

    /// W^Q, W^K and W^V that are stored as one matrix.
    fn three_in_one<T: Real>(&self, name: &str) -> Result<[Linear<T>; 3]> {
        let dims = self.config.dims();
        let (h, d_k) = (dims.n_heads(), dims.d_k());
        let shape = (dims.d_model(), 3 * h * d_k);
        let all = self.linear(name, shape, self.config.biases.projections)?;
        let first = |which: usize, head: usize| match self.config.family.names.projections
        {
            Projections::PerHead(_) => (3 * head + which) * d_k,
            Projections::Apart(_) | Projections::Joined(_) => (which * h + head) * d_k,
        };
        let part = |which: usize| {
            let columns: Vec<usize> =
                (0..h).flat_map(|head| (first(which, head)..).take(d_k)).collect();
            let bias = all.bias.as_ref().map(|bias| bias.select_columns(&columns));
            Linear::new(all.weight.select_columns(&columns), bias)
        };
        Ok([part(0)?, part(1)?, part(2)?])
    }

    fn feed_forward<T: Real>(
        &self,
        within: &dyn Fn(&str) -> String,
    ) -> Result<FeedForward<T>> {
        let Config { d_ff, activation, biases, .. } = *self.config;
        let d_model = self.config.dims().d_model();
        let linear = |name, d_in, d_out| {
            self.linear(&within(name), (d_in, d_out), biases.feed_forward)
        };
        Ok(match self.config.family.names.feed_forward {
            Layers::Plain([inner, outer]) => {
                let w_1 = linear(inner, d_model, d_ff)?;
                let w_2 = linear(outer, d_ff, d_model)?;
                FeedForward::new(w_1, activation, w_2)?
            }
            Layers::Gated([gate, up, down]) => {
                let [gate, up] = [gate, up].map(|name| linear(name, d_model, d_ff));
                let (gate, up) = (gate?, up?);
                let down = linear(down, d_ff, d_model)?;
                FeedForward::gated(gate, activation, up, down)?
            }
        })
    }

    fn linear<T: Real>(
        &self,
        name: &str,
        (d_in, d_out): (usize, usize),
        has_bias: bool,
    ) -> Result<Linear<T>> {
        let stored = self.named(name, "weight");
        let weight = match self.config.family.names.projections {
            Projections::Joined(_) => {
                let numbers = self.stored(&stored, &[d_in, d_out])?;
                Matrix::from_row_slice(d_in, d_out, &numbers)
            }
            Projections::Apart(_) | Projections::PerHead(_) => {
                self.stored_out_in(&stored, d_in, d_out)?
            }
        };
        let bias = has_bias.then(|| self.numbers(&format!("{name}.bias"), &[d_out]));
        Ok(Linear::new(weight, bias.transpose()?.map(RowVector::from))?)
    }

    fn norm<T: Real>(&self, name: &str) -> Result<Norm<T>> {
        let (width, eps) = (self.config.dims().d_model(), self.config.eps);
        let gain = self.gain(name, width)?;
        Ok(match self.config.family.norm {
            NormKind::Layer => {
                let bias = self.numbers(&format!("{name}.bias"), &[width])?.into();
                Norm::Layer(LayerNorm::new(gain, bias, eps)?)
            }
            NormKind::Rms | NormKind::RmsLessOne => Norm::Rms(RmsNorm { gain, eps }),
        })
    }

    /// The gain of a norm.
    fn gain<T: Real>(&self, name: &str, width: usize) -> Result<RowVector<T>> {
        let gain: RowVector<T> =
            self.numbers(&format!("{name}.weight"), &[width])?.into();
        Ok(match self.config.family.norm {
            NormKind::Layer | NormKind::Rms => gain,
            NormKind::RmsLessOne => gain.add_scalar(T::one()),
        })
    }

    /// A matrix that the file stores as `[out, in]`: its numbers, row after row, are those
    /// of `[in, out]` column after column.
    fn stored_out_in<T: Real>(
        &self,
        name: &str,
        d_in: usize,
        d_out: usize,
    ) -> Result<Matrix<T>> {
        let numbers = self.stored(name, &[d_out, d_in])?;
        Ok(Matrix::from_vec(d_in, d_out, numbers))
    }

    fn numbers<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        self.stored(&format!("{}{name}", self.prefix), shape)
    }

    fn stored<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        self.read.borrow_mut().insert(name.to_string());
        self.tensors.numbers(name, shape)
    }

    /// A matrix as its file keeps it, `[out, in]`, if that is in blocks of few bits.
    #[cfg(feature = "fast")]
    pub fn levels(&self, name: &str, shape: [usize; 2]) -> Result<Option<Levels<'a>>> {
        match self.tensors {
            Tensors::Safetensors(_) => Ok(None),
            Tensors::Gguf(file) => Ok(file.levels(name, &shape)?),
        }
    }

    /// The embedding and, where it is another, the unembedding, as [`levels`](Self::levels).
    #[cfg(feature = "fast")]
    pub fn tables(&self) -> Result<Option<(Levels<'a>, Option<Levels<'a>>)>> {
        let shape = [self.config.n_vocabulary, self.config.dims().d_model()];
        let Some(tokens) = self.levels(&self.tokens(), shape)? else { return Ok(None) };
        if !self.tensors.contains(&self.head()) {
            return Ok(Some((tokens, None)));
        }
        let head = self.levels(&self.head(), shape)?;
        Ok(head.map(|head| (tokens, Some(head))))
    }

    fn named(&self, name: &str, part: &str) -> String {
        format!("{}{name}.{part}", self.prefix)
    }
}
