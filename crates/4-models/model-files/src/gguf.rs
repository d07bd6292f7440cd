//! GGUF: one file with a model's settings, its vocabulary and its weights.

mod blocks;
mod error;
mod header;
mod known;
mod setting;
mod split;

use std::collections::BTreeMap;
use std::path::Path;

use attention::Real;

pub use blocks::Kind;
pub use error::{GgufError, GgufResult};
pub use header::{Info, Value};

use crate::plain;
use header::Header;

/// A GGUF file in memory.
///
/// Numbers stay as the file has them until they are asked for: most kinds keep 32 of them
/// in some twenty bytes.
///
/// # Source
/// The format as <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md> describes it.
#[derive(Debug, Clone)]
pub struct Gguf {
    name: String,
    metadata: BTreeMap<String, Value>,
    tensors: BTreeMap<String, Info>,
    parts: Vec<Part>,
}

/// One of the files of a model: most have one.
#[derive(Debug, Clone)]
struct Part {
    bytes: Vec<u8>,
    numbers_start: usize,
}

impl Gguf {
    /// Reads a file, and those beside it where a model was split into several.
    ///
    /// # Errors
    /// [`GgufError::Read`], also for what is no plain file; [`GgufError::Split`] for one of
    /// several files without the others; as [`from_bytes`](Self::from_bytes).
    pub fn open(path: impl AsRef<Path>) -> GgufResult<Self> {
        let path = path.as_ref();
        split::joined(path, Self::open_alone(path)?)
    }

    fn open_alone(path: &Path) -> GgufResult<Self> {
        let bytes = plain::read(path)
            .map_err(|source| GgufError::Read { path: path.into(), source })?;
        Self::read(path.display().to_string(), bytes)
    }

    /// Understands bytes as a file; `name` is what errors call it.
    ///
    /// # Errors
    /// [`GgufError::NotGguf`] and [`GgufError::Version`] for another format;
    /// [`GgufError::CutShort`] where bytes are missing, of the header or of a tensor whose
    /// kind is read here; [`GgufError::Header`] for a header that makes no sense;
    /// [`GgufError::Split`] for one of several files.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> GgufResult<Self> {
        split::alone(Self::read(name.into(), bytes)?)
    }

    fn read(name: String, bytes: Vec<u8>) -> GgufResult<Self> {
        let Header { metadata, tensors, numbers_start } = Header::read(&name, &bytes)?;
        let parts = vec![Part { bytes, numbers_start }];
        let file = Self { name, metadata, tensors, parts };
        for (name, info) in &file.tensors {
            if let Some(kind) = Kind::of(info.kind) {
                file.bytes_of(name, info, kind)?;
            }
        }
        Ok(file)
    }

    /// What errors call this file: its path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All that it says of its model, by name.
    pub fn metadata(&self) -> &BTreeMap<String, Value> {
        &self.metadata
    }

    /// The tensors, by name.
    pub fn tensors(&self) -> &BTreeMap<String, Info> {
        &self.tensors
    }

    /// Whether there is a tensor of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// The numbers of a tensor, row after row, computed in float32 from what its kind says.
    ///
    /// # Shapes
    /// `shape` is what the tensor must have, its rows first.
    ///
    /// # Errors
    /// [`GgufError::MissingTensor`]; [`GgufError::Shape`]; [`GgufError::Kind`] for a
    /// quantisation that is not read here, by its name; [`GgufError::Blocks`] if its rows
    /// are not made of whole blocks.
    pub fn numbers<T: Real>(&self, name: &str, shape: &[usize]) -> GgufResult<Vec<T>> {
        let (info, kind) = self.expect(name, shape)?;
        Ok(kind.numbers(self.bytes_of(name, info, kind)?))
    }

    /// Expects a tensor of this shape, whose kind of number is read here.
    ///
    /// # Errors
    /// As [`numbers`](Self::numbers).
    pub fn expect(&self, name: &str, shape: &[usize]) -> GgufResult<(&Info, Kind)> {
        let (file, tensor) = (|| self.name.clone(), || name.to_string());
        let Some(info) = self.tensors.get(name) else {
            let (file, tensor, n_tensors) = (file(), tensor(), self.tensors.len());
            return Err(GgufError::MissingTensor { file, tensor, n_tensors });
        };
        if info.shape != shape {
            let (found, expected) = (info.shape.clone(), shape.to_vec());
            let (file, tensor) = (file(), tensor());
            return Err(GgufError::Shape { file, tensor, found, expected });
        }
        match Kind::of(info.kind) {
            Some(kind) => Ok((info, kind)),
            None => {
                let (file, tensor, found) = (file(), tensor(), blocks::name(info.kind));
                Err(GgufError::Kind { file, tensor, found })
            }
        }
    }

    /// The bytes of a tensor.
    fn bytes_of(&self, name: &str, info: &Info, kind: Kind) -> GgufResult<&[u8]> {
        let (per_block, n_bytes) = kind.block();
        let width = info.shape.last().copied().unwrap_or(1);
        if !width.is_multiple_of(per_block) {
            return Err(GgufError::Blocks {
                file: self.name.clone(),
                tensor: name.to_string(),
                width,
                kind,
                per_block,
            });
        }
        let needed = info.n_numbers().and_then(|n| (n / per_block).checked_mul(n_bytes));
        let needed = needed.unwrap_or(usize::MAX);
        let part = self.parts.get(info.part);
        let from = part.and_then(|part| part.numbers_start.checked_add(info.offset));
        let rest = part.zip(from).and_then(|(part, from)| part.bytes.get(from..));
        let rest = rest.unwrap_or_default();
        rest.get(..needed).ok_or_else(|| GgufError::CutShort {
            file: self.name.clone(),
            what: format!("the numbers of {name}"),
            needed,
            left: rest.len(),
        })
    }
}

#[cfg(test)]
mod tests;
