//! Tensors become parts, by the names that the family gives them.

use std::cell::RefCell;
use std::collections::HashSet;

use attention::{Linear, Matrix, Real};
use block::{Block, FeedForward, Norm, Norms, Sublayer};
#[cfg(feature = "fast")]
use model_files::Levels;
use variants::{Changes, QkNorm, VariantAttention};

use crate::Result;
use crate::decoders::config::Config;
use crate::decoders::embedding::{Embedding, Unembedding};
use crate::decoders::families::TABLE;
use crate::decoders::family::Projections;
use crate::reader::{Reader, Tensors};

/// A file of weights, with what says how to read it.
pub(crate) struct Weights<'a> {
    pub config: &'a Config,
    reader: Reader<'a>,
    /// Matrices that are kept in few bits and not decoded.
    in_few_bits: RefCell<HashSet<String>>,
}

impl<'a> Weights<'a> {
    pub fn new(config: &'a Config, tensors: &'a Tensors) -> Result<Self> {
        let blocks = [(config.family.names.block, config.n_layers)];
        let reader = Reader::new(tensors, config.family.prefix, &blocks)?;
        Ok(Self { config, reader, in_few_bits: RefCell::default() })
    }

    /// Refuses what was not read and is not known to be harmless.
    pub fn expect_all_known(&self) -> Result<()> {
        self.reader.expect_all_known(&TABLE.tensors)
    }

    pub fn embedding<T: Real>(&self) -> Result<Embedding<T>> {
        let Config { n_vocabulary, n_positions, embedding_scale, .. } = *self.config;
        let d_model = self.config.dims().d_model();
        let tokens = match self.embedding_is_the_head() {
            true => self.head(),
            false => self.tokens(),
        };
        Ok(Embedding {
            tokens: self.reader.transposed(&tokens, (d_model, n_vocabulary))?,
            scale: embedding_scale,
            positions: self.positions()?,
            n_positions,
        })
    }

    /// The table of positions, in a model that has one.
    pub fn positions<T: Real>(&self) -> Result<Option<Matrix<T>>> {
        let shape = [self.config.n_positions, self.config.dims().d_model()];
        let name = self.config.family.names.positions;
        name.map(|name| self.reader.rows(name, shape)).transpose()
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
        if !self.reader.contains(&self.head()) {
            return Ok(self.config.tied.then(|| of(None)));
        }
        let tokens = self.reader.transposed(&self.head(), (d_model, n))?;
        // A copy of the embedding is not kept twice.
        Ok(Some(of((tokens != embedding.tokens).then_some(tokens))))
    }

    fn tokens(&self) -> String {
        self.reader.named(&format!("{}.weight", self.config.family.names.tokens))
    }

    fn head(&self) -> String {
        format!("{}.weight", self.config.family.names.unembedding)
    }

    /// Whether the only table has the name of the unembedding, which of two names for one
    /// tensor can be the one that is kept.
    fn embedding_is_the_head(&self) -> bool {
        let tokens = self.tokens();
        let Some(file) = self.reader.safetensors() else { return false };
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
        let (kind, d_k) = (self.config.family.norm, sizes.dims.d_k());
        let gain = |name: &str| self.reader.gain(&within(name), kind, d_k);
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
        let shape = (self.config.dims().d_model(), d_ff);
        self.config.family.names.feed_forward.read(activation, shape, |name, shape| {
            self.linear(&within(name), shape, biases.feed_forward)
        })
    }

    fn linear<T: Real>(
        &self,
        name: &str,
        (d_in, d_out): (usize, usize),
        has_bias: bool,
    ) -> Result<Linear<T>> {
        if self.in_few_bits.borrow().contains(name) {
            let weight = Matrix::from_vec(d_in, d_out, vec![T::zero(); d_in * d_out]);
            let bias = has_bias.then(|| self.reader.bias(name, d_out)).transpose()?;
            return Ok(Linear::new(weight, bias)?);
        }
        if !matches!(self.config.family.names.projections, Projections::Joined(_)) {
            return self.reader.linear(name, (d_in, d_out), has_bias);
        }
        let weight = self.reader.rows(name, [d_in, d_out])?;
        let bias = has_bias.then(|| self.reader.bias(name, d_out)).transpose()?;
        Ok(Linear::new(weight, bias)?)
    }

    fn norm<T: Real>(&self, name: &str) -> Result<Norm<T>> {
        let Config { family, eps, .. } = self.config;
        self.reader.norm(name, family.norm, self.config.dims().d_model(), *eps)
    }

    /// A matrix as its file keeps it, `[out, in]`, if that is in blocks of few bits.
    #[cfg(feature = "fast")]
    pub fn levels(&self, name: &str, shape: [usize; 2]) -> Result<Option<Levels<'a>>> {
        self.reader.levels(name, shape)
    }

    /// From now on this matrix is read as zeros, whose memory is never touched: a block whose
    /// levels are known needs its biases alone.
    #[cfg(feature = "fast")]
    pub fn keep_in_few_bits(&self, name: String) {
        self.in_few_bits.borrow_mut().insert(name);
    }

    /// The embedding and, where it is another, the unembedding, as [`levels`](Self::levels).
    #[cfg(feature = "fast")]
    pub fn tables(&self) -> Result<Option<(Levels<'a>, Option<Levels<'a>>)>> {
        let shape = [self.config.n_vocabulary, self.config.dims().d_model()];
        let Some(tokens) = self.levels(&self.tokens(), shape)? else { return Ok(None) };
        if !self.reader.contains(&self.head()) {
            return Ok(Some((tokens, None)));
        }
        let head = self.levels(&self.head(), shape)?;
        Ok(head.map(|head| (tokens, Some(head))))
    }
}
