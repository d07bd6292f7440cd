//! GGUF: one file with a model's settings, its vocabulary and its weights.

mod blocks;
mod error;
mod header;
mod known;
mod part;
mod setting;
mod split;

use std::collections::BTreeMap;
use std::path::Path;

use attention::Real;

pub use blocks::{Kind, Levels};
pub use error::{GgufError, GgufResult};
pub use header::{Info, Value};

use header::Header;
use part::Part;

/// A GGUF file.
///
/// Numbers stay as the file has them until they are asked for, and where they are: a tensor is
/// read when it is needed.
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
        Self::of(path.display().to_string(), Part::open(path)?)
    }

    /// Understands bytes as a file; `name` is what errors call it.
    ///
    /// # Errors
    /// [`GgufError::NotGguf`] and [`GgufError::Version`] for another format;
    /// [`GgufError::CutShort`] where bytes are missing, of the header or of a tensor whose
    /// kind is read here; [`GgufError::Header`] for a header that makes no sense;
    /// [`GgufError::Split`] for one of several files.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> GgufResult<Self> {
        let name = name.into();
        let part = Part::of_bytes(&name, bytes)?;
        split::alone(Self::of(name, part)?)
    }

    /// Understands the beginning of a file of `n_bytes`, so that a file can be refused before
    /// all of it was read; `None` where its header is not complete yet. It has settings and
    /// the places of tensors, and no numbers: who asks for them gets
    /// [`GgufError::CutShort`].
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes) of the whole file.
    pub fn begin(
        name: impl Into<String>,
        bytes: &[u8],
        n_bytes: usize,
    ) -> GgufResult<Option<Self>> {
        let name = name.into();
        let begun = Part::begin(&name, bytes, n_bytes)?;
        begun.map(|begun| split::alone(Self::of(name, begun)?)).transpose()
    }

    fn of(name: String, (part, header): (Part, Header)) -> GgufResult<Self> {
        let Header { metadata, tensors, .. } = header;
        let file = Self { name, metadata, tensors, parts: vec![part] };
        for (name, info) in &file.tensors {
            if let Some(kind) = Kind::of(info.kind) {
                file.place_of(name, info, kind)?;
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
        let (part, n_bytes) = self.place_of(name, info, kind)?;
        Ok(kind.numbers(&part.numbers(info.offset, n_bytes)?))
    }

    /// A tensor whose numbers are kept in blocks, as it is kept; none where each number is
    /// kept by itself.
    ///
    /// # Shapes
    /// As [`numbers`](Self::numbers).
    ///
    /// # Errors
    /// As [`numbers`](Self::numbers).
    pub fn levels(&self, name: &str, shape: &[usize]) -> GgufResult<Option<Levels<'_>>> {
        let (info, kind) = self.expect(name, shape)?;
        if !kind.is_in_blocks() {
            return Ok(None);
        }
        let (part, n_bytes) = self.place_of(name, info, kind)?;
        let width = shape.last().copied().unwrap_or(1);
        Ok(Some(Levels::new(kind, width, part.numbers(info.offset, n_bytes)?)))
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

    /// The part that has a tensor, and how many bytes it takes there.
    fn place_of(
        &self,
        name: &str,
        info: &Info,
        kind: Kind,
    ) -> GgufResult<(&Part, usize)> {
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
        let part = &self.parts[info.part];
        let left = part.left(info.offset);
        if needed <= left {
            return Ok((part, needed));
        }
        let (file, what) = (self.name.clone(), format!("the numbers of {name}"));
        Err(GgufError::CutShort { file, what, needed, left })
    }
}

#[cfg(test)]
mod tests;
