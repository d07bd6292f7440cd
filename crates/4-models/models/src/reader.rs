//! Tensors by their names, with their shapes checked, and what no part was read from.

use std::cell::RefCell;
use std::collections::BTreeSet;

use attention::{Linear, Matrix, Real, RowVector};
use block::{LayerNorm, Norm, RmsNorm};
#[cfg(feature = "fast")]
use model_files::Levels;
use model_files::{Gguf, Rule, expect_layers, refuse_packed, refuse_unread};
use serde::Deserialize;
use tensors::TensorFile;

use crate::Result;

/// A file of weights.
#[derive(Debug, Clone)]
pub enum Tensors {
    /// `model.safetensors`, or all files of its index.
    Safetensors(TensorFile),
    /// All in one file, some of it in few bits.
    Gguf(Gguf),
}

impl From<TensorFile> for Tensors {
    fn from(file: TensorFile) -> Self {
        Self::Safetensors(file)
    }
}

/// A norm, and how its gain is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NormKind {
    /// Mean and variance, with a bias.
    Layer,
    /// The root mean square alone.
    Rms,
    /// The same, computed in f32 whatever the model is computed in.
    #[serde(rename = "rms_in_f32")]
    RmsInF32,
    /// The same, and files have `gain − 1`.
    RmsLessOne,
}

/// What reads a file of weights, and knows what it has read.
pub(crate) struct Reader<'a> {
    tensors: &'a Tensors,
    /// What stands before every name: the family's prefix, or nothing.
    prefix: &'static str,
    read: RefCell<BTreeSet<String>>,
}

impl<'a> Reader<'a> {
    /// `blocks` are what stands before the number of a block, and how many of them there are.
    pub fn new(
        tensors: &'a Tensors,
        prefix: &'static str,
        blocks: &[(&str, usize)],
    ) -> Result<Self> {
        let mut prefix = prefix;
        if let Tensors::Safetensors(file) = tensors {
            prefix = file.prefix(prefix);
            refuse_packed(file)?;
            for (block, n_layers) in blocks {
                expect_layers(file, &format!("{prefix}{block}"), *n_layers)?;
            }
        }
        Ok(Self { tensors, prefix, read: RefCell::default() })
    }

    /// Refuses what was not read and is not known to be harmless.
    pub fn expect_all_known(&self, rules: &[Rule]) -> Result<()> {
        // Of a GGUF file that is known from its header.
        let Tensors::Safetensors(file) = self.tensors else { return Ok(()) };
        let is_read = |name: &str| self.read.borrow().contains(name);
        Ok(refuse_unread(file, is_read, self.prefix, rules)?)
    }

    /// A tensor that counts as read.
    pub fn skip(&self, name: &str) {
        self.read.borrow_mut().insert(name.to_string());
    }

    /// The whole name of a tensor that is called so behind the prefix.
    pub fn named(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Whether there is a tensor of this whole name.
    pub fn contains(&self, name: &str) -> bool {
        match self.tensors {
            Tensors::Safetensors(file) => file.contains(name),
            Tensors::Gguf(file) => file.contains(name),
        }
    }

    /// What the metadata of a safetensors file says; `None` for another file too.
    pub fn safetensors(&self) -> Option<&'a TensorFile> {
        match self.tensors {
            Tensors::Safetensors(file) => Some(file),
            Tensors::Gguf(_) => None,
        }
    }

    /// The numbers of a tensor behind the prefix.
    pub fn numbers<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        self.stored(&self.named(name), shape)
    }

    /// The same by a whole name.
    pub fn stored<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        self.skip(name);
        match self.tensors {
            Tensors::Safetensors(file) => {
                let tensor = file.tensor(name)?;
                tensor.expect_shape(shape)?;
                Ok(tensor.numbers_as()?)
            }
            Tensors::Gguf(file) => Ok(file.numbers(name, shape)?),
        }
    }

    /// A matrix that the file stores as `[out, in]`, by its whole name: its numbers, row after
    /// row, are those of `[in, out]` column after column.
    pub fn transposed<T: Real>(
        &self,
        name: &str,
        (d_in, d_out): (usize, usize),
    ) -> Result<Matrix<T>> {
        Ok(Matrix::from_vec(d_in, d_out, self.stored(name, &[d_out, d_in])?))
    }

    /// A table behind the prefix whose rows are those of the file, `[n, d]`.
    pub fn rows<T: Real>(&self, name: &str, [n, d]: [usize; 2]) -> Result<Matrix<T>> {
        let rows = self.numbers(&format!("{name}.weight"), &[n, d])?;
        Ok(by_columns(&rows, n, d))
    }

    /// A projection that is stored as `[out, in]`.
    pub fn linear<T: Real>(
        &self,
        name: &str,
        shape: (usize, usize),
        has_bias: bool,
    ) -> Result<Linear<T>> {
        let weight = self.transposed(&self.named(&format!("{name}.weight")), shape)?;
        let bias = has_bias.then(|| self.bias(name, shape.1)).transpose()?;
        Ok(Linear::new(weight, bias)?)
    }

    /// A row of numbers that are added, `[d]`.
    pub fn bias<T: Real>(&self, name: &str, d: usize) -> Result<RowVector<T>> {
        Ok(self.numbers(&format!("{name}.bias"), &[d])?.into())
    }

    /// The gain of a norm, `[d]`.
    pub fn gain<T: Real>(
        &self,
        name: &str,
        kind: NormKind,
        d: usize,
    ) -> Result<RowVector<T>> {
        let gain: RowVector<T> = self.numbers(&format!("{name}.weight"), &[d])?.into();
        Ok(match kind {
            NormKind::RmsLessOne => gain.add_scalar(T::one()),
            NormKind::Layer | NormKind::Rms | NormKind::RmsInF32 => gain,
        })
    }

    /// A norm of rows of d entries.
    pub fn norm<T: Real>(
        &self,
        name: &str,
        kind: NormKind,
        d: usize,
        eps: f64,
    ) -> Result<Norm<T>> {
        let gain = self.gain(name, kind, d)?;
        Ok(match kind {
            NormKind::Layer => {
                Norm::Layer(LayerNorm::new(gain, self.bias(name, d)?, eps)?)
            }
            NormKind::Rms | NormKind::RmsLessOne => Norm::Rms(RmsNorm { gain, eps }),
            NormKind::RmsInF32 => Norm::RmsInF32(RmsNorm { gain, eps }),
        })
    }

    /// A matrix as its file keeps it, `[out, in]`, if that is in blocks of few bits.
    #[cfg(feature = "fast")]
    pub fn levels(&self, name: &str, shape: [usize; 2]) -> Result<Option<Levels<'a>>> {
        match self.tensors {
            Tensors::Safetensors(_) => Ok(None),
            Tensors::Gguf(file) => Ok(file.levels(name, &shape)?),
        }
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
