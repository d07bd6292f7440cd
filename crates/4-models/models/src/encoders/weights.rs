//! Tensors become parts, by the names that the family gives them.

use attention::{LayerParameters, PackedParameters, Real};
use block::{Block, Embedding, FeedForward, LayerNorm, Norms, Positions, Sublayer};

use crate::encoders::Config;
use crate::encoders::embeddings::Embeddings;
use crate::encoders::families::TABLE;
use crate::reader::{Reader, Tensors};
use crate::{Error, Result};

/// A file of weights, with what says how to read it.
pub(crate) struct Weights<'a> {
    config: &'a Config,
    reader: Reader<'a>,
}

impl<'a> Weights<'a> {
    pub(crate) fn new(config: &'a Config, tensors: &'a Tensors) -> Result<Self> {
        let blocks = [(config.family.names.block, config.n_layers)];
        let reader = Reader::new(tensors, config.family.prefix, &blocks)?;
        Ok(Self { config, reader })
    }

    /// Refuses what was not read and is not known to be harmless.
    pub(crate) fn expect_all_known(&self) -> Result<()> {
        self.reader.expect_all_known(&TABLE.tensors)
    }

    pub(crate) fn embeddings<T: Real>(&self) -> Result<Embeddings<T>> {
        let Config { d_embedding, n_vocabulary, n_positions, .. } = *self.config;
        let names = &self.config.family.names;
        let d_model = self.config.dims.d_model();
        let table = |name, n: usize| self.reader.rows(name, [n, d_embedding]);
        let tokens = table(names.tokens, n_vocabulary)?;
        let types = self.config.n_types.map(|n_types| table(names.types, n_types));
        let project =
            || self.reader.linear(names.projection, (d_embedding, d_model), true);
        Ok(Embeddings {
            tokens: Embedding { tokens, scale: 1.0, positions: Positions::None },
            positions: table(names.positions, n_positions)?,
            padding: self.config.padding,
            types: types.transpose()?,
            norm: self.norm(names.norm, d_embedding)?,
            projection: (d_embedding != d_model).then(project).transpose()?,
        })
    }

    pub(crate) fn block<A, T: Real>(
        &self,
        i: usize,
        stage: &mut impl FnMut(&LayerParameters<T>) -> A,
    ) -> Result<Block<A, T>> {
        let names = &self.config.family.names;
        let named = |name: &str| format!("{}{i}.{name}", names.block);
        let linear = |name, shape| self.reader.linear::<T>(&named(name), shape, true);
        let (dims, d_ff) = (self.config.dims, self.config.d_ff);
        let d_model = dims.d_model();
        let [w_q, w_k, w_v, w_o] =
            names.attention.map(|name| linear(name, (d_model, d_model)));
        let packed = PackedParameters::new(dims, [w_q?, w_k?, w_v?, w_o?])?;
        let [inner, outer] = names.feed_forward;
        let w_1 = linear(inner, (d_model, d_ff))?;
        let w_2 = linear(outer, (d_ff, d_model))?;
        let feed_forward = FeedForward::new(w_1, self.config.activation, w_2)?;
        let norms =
            |name| Ok::<_, Error>(Norms::after(self.norm(&named(name), d_model)?));
        let attention = stage(&packed.unpack());
        let attention = Sublayer::new(attention, norms(names.attention_norm)?);
        let feed_forward = Sublayer::new(feed_forward, norms(names.feed_forward_norm)?);
        Ok(Block::new(attention, Some(feed_forward)))
    }

    /// A norm. The oldest files call its parts gamma and beta.
    fn norm<T: Real>(&self, name: &str, d: usize) -> Result<LayerNorm<T>> {
        let is_old = self.reader.contains(&self.reader.named(&format!("{name}.gamma")));
        let parts = if is_old { ["gamma", "beta"] } else { ["weight", "bias"] };
        let row = |part| self.reader.numbers(&format!("{name}.{part}"), &[d]);
        let [gain, bias] = parts.map(row);
        Ok(LayerNorm::new(gain?.into(), bias?.into(), self.config.eps)?)
    }
}
