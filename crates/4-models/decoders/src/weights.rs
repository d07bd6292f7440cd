//! Tensors become parts, by the names that the family gives them.

use attention::{Linear, Matrix, Real, RowVector};
use block::LayerNorm;
use model_files::{Gguf, TensorFile};
use variants::{Changes, VariantAttention};

use crate::blocks::Block;
use crate::config::Config;
use crate::embedding::{Embedding, Unembedding};
use crate::family::{Layers, NormKind, Projections};
use crate::{FeedForward, GatedFeedForward, Norm, Result, RmsNorm};

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

/// A file of weights, with what says how to read it.
pub(crate) struct Weights<'a> {
    config: &'a Config,
    tensors: &'a Tensors,
    /// What stands before every name: the family's prefix, or nothing.
    prefix: &'static str,
}

impl<'a> Weights<'a> {
    pub fn new(config: &'a Config, tensors: &'a Tensors) -> Self {
        let family = config.family;
        let prefixed = format!("{}{}.weight", family.prefix, family.names.tokens);
        let prefix = if tensors.contains(&prefixed) { family.prefix } else { "" };
        Self { config, tensors, prefix }
    }

    pub fn embedding<T: Real>(&self) -> Result<Embedding<T>> {
        let Config { n_vocabulary, n_positions, embedding_scale, .. } = *self.config;
        let names = &self.config.family.names;
        let d_model = self.config.dims().d_model();
        let table = |name: &str| -> Result<Matrix<T>> {
            let numbers =
                self.numbers(&format!("{name}.weight"), &[n_positions, d_model])?;
            Ok(Matrix::from_row_slice(n_positions, d_model, &numbers))
        };
        let tokens = self.named(names.tokens, "weight");
        Ok(Embedding {
            tokens: self.stored_out_in(&tokens, d_model, n_vocabulary)?,
            scale: embedding_scale,
            positions: names.positions.map(table).transpose()?,
            n_positions,
        })
    }

    pub fn unembedding<T: Real>(&self) -> Result<Unembedding<T>> {
        let (d_model, n) = (self.config.dims().d_model(), self.config.n_vocabulary);
        let name = format!("{}.weight", self.config.family.names.unembedding);
        let tokens = (!self.config.tied).then(|| self.stored_out_in(&name, d_model, n));
        Ok(Unembedding {
            tokens: tokens.transpose()?,
            soft_cap: self.config.last_soft_cap,
        })
    }

    pub fn last_norm<T: Real>(&self) -> Result<Norm<T>> {
        self.norm(self.config.family.names.last_norm)
    }

    pub fn block<T: Real>(&self, layer: usize) -> Result<Block<VariantAttention<T>, T>> {
        let names = &self.config.family.names;
        let within = |name: &str| format!("{}{layer}.{name}", names.block);
        let norm = |name: &str| self.norm(&within(name));
        Ok(Block {
            attention_norm: norm(names.attention_norm)?,
            attention: self.attention(layer)?,
            after_attention: names.after_attention.map(norm).transpose()?,
            feed_forward_norm: norm(names.feed_forward_norm)?,
            feed_forward: self.feed_forward(&within)?,
            after_feed_forward: names.after_feed_forward.map(norm).transpose()?,
            parallel: self.config.parallel,
        })
    }

    fn attention<T: Real>(&self, layer: usize) -> Result<VariantAttention<T>> {
        let Config { sizes, biases, rotary, scale, soft_cap, windows, .. } = self.config;
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
        let changes = Changes {
            rotary: rotary.clone(),
            scale: *scale,
            soft_cap: *soft_cap,
            window: windows.get(layer).copied().flatten(),
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
                FeedForward::Plain(block::FeedForward::new(w_1, activation, w_2)?)
            }
            Layers::Gated([gate, up, down]) => FeedForward::Gated(GatedFeedForward {
                gate: linear(gate, d_model, d_ff)?,
                activation,
                up: linear(up, d_model, d_ff)?,
                down: linear(down, d_ff, d_model)?,
            }),
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
                let numbers = self.tensors.numbers(&stored, &[d_in, d_out])?;
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
        let row = |part: &str| -> Result<RowVector<T>> {
            Ok(self.numbers(&format!("{name}.{part}"), &[width])?.into())
        };
        let gain = row("weight")?;
        Ok(match self.config.family.norm {
            NormKind::Layer => Norm::Layer(LayerNorm::new(gain, row("bias")?, eps)?),
            NormKind::Rms => Norm::Rms(RmsNorm { gain, eps }),
            NormKind::RmsLessOne => {
                Norm::Rms(RmsNorm { gain: gain.add_scalar(T::one()), eps })
            }
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
        let numbers = self.tensors.numbers(name, &[d_out, d_in])?;
        Ok(Matrix::from_vec(d_in, d_out, numbers))
    }

    fn numbers<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        self.tensors.numbers(&format!("{}{name}", self.prefix), shape)
    }

    fn named(&self, name: &str, part: &str) -> String {
        format!("{}{name}.{part}", self.prefix)
    }
}
