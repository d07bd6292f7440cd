//! Tensors become parts, by the names that the family gives them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use attention::{LayerParameters, Linear, Matrix, PackedParameters, Real, RowVector};
use block::{Block, Embedding, FeedForward, LayerNorm, Norms, Positions, Sublayer};
use model_files::{Unused, expect_layers, harmless, refuse_packed, refuse_unread};
use tensors::TensorFile;

use crate::encoders::Config;
use crate::encoders::embeddings::Embeddings;
use crate::encoders::families::TENSORS;
use crate::{Error, Result};

/// A file of weights, with what says how to read it.
pub(crate) struct Weights<'a> {
    config: &'a Config,
    file: &'a TensorFile,
    /// What stands before every name: the family's prefix, or nothing.
    prefix: &'static str,
    read: RefCell<BTreeSet<String>>,
}

/// The tensors that are known to be no part of an encoder.
pub(crate) fn leftover_tensors(config: &Config, file: &TensorFile) -> Vec<Unused> {
    harmless(file, config.family.prefix, TENSORS)
}

impl<'a> Weights<'a> {
    /// # Errors
    /// [`model_files::Error::Layers`] for a file of another number of layers.
    pub(crate) fn new(config: &'a Config, file: &'a TensorFile) -> Result<Self> {
        let family = config.family;
        let prefix = file.prefix(family.prefix);
        let block = format!("{prefix}{}", family.names.block);
        refuse_packed(file)?;
        expect_layers(file, &block, config.n_layers)?;
        Ok(Self { config, file, prefix, read: RefCell::default() })
    }

    /// Refuses what was not read and is not known to be harmless.
    pub(crate) fn expect_all_known(&self) -> Result<()> {
        let is_read = |name: &str| self.read.borrow().contains(name);
        Ok(refuse_unread(self.file, is_read, self.prefix, TENSORS)?)
    }

    pub(crate) fn embeddings<T: Real>(&self) -> Result<Embeddings<T>> {
        let Config { d_embedding, n_vocabulary, n_positions, .. } = *self.config;
        let names = &self.config.family.names;
        let d_model = self.config.dims.d_model();
        let tokens = self.table(names.tokens, n_vocabulary)?;
        let types = self.config.n_types.map(|n_types| self.table(names.types, n_types));
        let project = || self.linear(names.projection, d_embedding, d_model);
        Ok(Embeddings {
            tokens: Embedding { tokens, scale: 1.0, positions: Positions::None },
            positions: self.table(names.positions, n_positions)?,
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
        let (dims, d_ff) = (self.config.dims, self.config.d_ff);
        let d_model = dims.d_model();
        let [w_q, w_k, w_v, w_o] =
            names.attention.map(|name| self.linear::<T>(&named(name), d_model, d_model));
        let packed = PackedParameters::new(dims, [w_q?, w_k?, w_v?, w_o?])?;
        let [inner, outer] = names.feed_forward;
        let w_1 = self.linear(&named(inner), d_model, d_ff)?;
        let w_2 = self.linear(&named(outer), d_ff, d_model)?;
        let feed_forward = FeedForward::new(w_1, self.config.activation, w_2)?;
        let norms =
            |name| Ok::<_, Error>(Norms::after(self.norm(&named(name), d_model)?));
        let attention = stage(&packed.unpack());
        let attention = Sublayer::new(attention, norms(names.attention_norm)?);
        let feed_forward = Sublayer::new(feed_forward, norms(names.feed_forward_norm)?);
        Ok(Block::new(attention, Some(feed_forward)))
    }

    /// Rows of vectors, `[n, d_embedding]`, as the file has them.
    fn table<T: Real>(&self, name: &str, n: usize) -> Result<Matrix<T>> {
        let d = self.config.d_embedding;
        let numbers = self.numbers(&format!("{name}.weight"), &[n, d])?;
        Ok(by_columns(&numbers, n, d))
    }

    /// A projection, which the file stores as `[out, in]`: its numbers, row after row, are
    /// those of `[in, out]` column after column.
    fn linear<T: Real>(
        &self,
        name: &str,
        d_in: usize,
        d_out: usize,
    ) -> Result<Linear<T>> {
        let weight = self.numbers(&format!("{name}.weight"), &[d_out, d_in])?;
        let bias = self.numbers(&format!("{name}.bias"), &[d_out])?;
        Ok(Linear::new(Matrix::from_vec(d_in, d_out, weight), Some(bias.into()))?)
    }

    /// A norm. The oldest files call its parts gamma and beta.
    fn norm<T: Real>(&self, name: &str, d: usize) -> Result<LayerNorm<T>> {
        let is_old = self.file.contains(&format!("{}{name}.gamma", self.prefix));
        let [gain, bias] = if is_old { ["gamma", "beta"] } else { ["weight", "bias"] };
        let row = |part| -> Result<RowVector<T>> {
            Ok(self.numbers(&format!("{name}.{part}"), &[d])?.into())
        };
        Ok(LayerNorm::new(row(gain)?, row(bias)?, self.config.eps)?)
    }

    fn numbers<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        let name = format!("{}{name}", self.prefix);
        let tensor = self.file.tensor(&name)?;
        self.read.borrow_mut().insert(name.clone());
        tensor.expect_shape(shape)?;
        Ok(tensor.numbers_as()?)
    }
}

/// The matrix of these rows. A vocabulary has some ten million entries: some rows at a time
/// stay near the processor while their columns are written.
fn by_columns<T: Real>(rows: &[T], n: usize, d: usize) -> Matrix<T> {
    const N_ROWS: usize = 64;
    let mut table = Matrix::zeros(n, d);
    let columns = table.as_mut_slice();
    for first in (0..n).step_by(N_ROWS) {
        let rows = &rows[first * d..n.min(first + N_ROWS) * d];
        for j in 0..d {
            let column = &mut columns[j * n + first..];
            for (entry, row) in column.iter_mut().zip(rows.chunks_exact(d)) {
                *entry = row[j];
            }
        }
    }
    table
}
