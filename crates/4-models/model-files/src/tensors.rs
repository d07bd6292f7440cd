//! Tensors in a file, by name.

use std::{borrow::Cow, collections::BTreeMap, path::Path};

use attention::{Matrix, Real};
use safetensors::Dtype;
use safetensors::tensor::TensorInfo;

use crate::error::{Error, Result};
use crate::numbers::{FLOATS, INTEGERS, floats, integers};
use crate::words::shape_text;
use crate::{Header, header, plain, wrappers};

/// A safetensors file in memory: a header in JSON that names tensors with their shapes,
/// and their numbers, row after row.
///
/// # Source
/// The format as <https://github.com/huggingface/safetensors> describes it.
#[derive(Debug, Clone)]
pub struct TensorFile {
    name: String,
    bytes: Cow<'static, [u8]>,
    /// What the header says of tensors and in words. In ordered maps: the library's hash maps
    /// depend on seeds of the binary that they are in, and a notebook has one for each cell.
    tensors: BTreeMap<String, TensorInfo>,
    texts: BTreeMap<String, String>,
    numbers_start: usize,
}

impl TensorFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Read`], also for what is no plain file, such as a pipe, which might never
    /// end; and as [`from_bytes`](Self::from_bytes).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = plain::read(path)
            .map_err(|source| Error::Read { path: path.into(), source })?;
        Self::from_bytes(path.display().to_string(), bytes)
    }

    /// The same of a file whose header passes a check: what is refused by its names and its
    /// sizes is not read.
    ///
    /// # Errors
    /// As `check` and [`open`](Self::open).
    pub fn open_if<E: From<Error>>(
        path: impl AsRef<Path>,
        check: impl FnOnce(&Header) -> Result<(), E>,
    ) -> Result<Self, E> {
        check(&Header::open(path.as_ref())?)?;
        Ok(Self::open(path)?)
    }

    /// Understands bytes as a file; `name` is what errors call it.
    ///
    /// # Errors
    /// [`Error::TooShort`], [`Error::HeaderLength`], [`Error::LongHeader`],
    /// [`Error::Header`] or [`Error::DataLength`] if they are no safetensors file, or a part
    /// of one; [`Error::Duplicate`] if two tensors have one name.
    pub fn from_bytes(
        name: impl Into<String>,
        bytes: impl Into<Cow<'static, [u8]>>,
    ) -> Result<Self> {
        let (file, bytes) = (name.into(), bytes.into());
        let Some((length, rest)) = bytes.split_first_chunk() else {
            return Err(Error::TooShort { file, n_bytes: bytes.len() });
        };
        let (announced, left) = (u64::from_le_bytes(*length), rest.len());
        let n_bytes = usize::try_from(announced).unwrap_or(usize::MAX);
        let Some(json) = rest.get(..n_bytes) else {
            return Err(Error::HeaderLength { file, announced, left });
        };
        let header = header::parsed(&file, json, left - n_bytes)?;
        let tensors =
            header.tensors().into_iter().map(|(name, info)| (name, info.clone()));
        let texts = header.metadata().iter().flatten();
        Ok(Self {
            name: file,
            numbers_start: length.len() + n_bytes,
            tensors: tensors.collect(),
            texts: texts.map(|(key, text)| (key.clone(), text.clone())).collect(),
            bytes,
        })
    }

    /// Several files as one, under the name `name`; `tensors` of one name in two of them
    /// are those of the last.
    pub(crate) fn joined(name: String, files: impl IntoIterator<Item = Self>) -> Self {
        let mut bytes = Vec::new();
        let (mut tensors, mut texts) = (BTreeMap::new(), BTreeMap::new());
        for file in files {
            let first = bytes.len();
            for (name, mut info) in file.tensors {
                let (from, to) = info.data_offsets;
                info.data_offsets = (first + from, first + to);
                tensors.insert(name, info);
            }
            texts.extend(file.texts);
            bytes.extend_from_slice(&file.bytes[file.numbers_start..]);
        }
        Self { name, bytes: bytes.into(), tensors, texts, numbers_start: 0 }
    }

    /// The same without what others have put before every name.
    pub fn without_wrappers(mut self) -> Self {
        let Some(wrapper) = wrappers::before_all(self.tensors.keys()) else {
            return self;
        };
        let rest = |name: String| name[wrapper.len()..].to_owned();
        self.tensors =
            self.tensors.into_iter().map(|(name, info)| (rest(name), info)).collect();
        self.without_wrappers()
    }

    /// What errors call this file: its path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its tensors, in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        self.tensors.keys().cloned().collect()
    }

    /// Whether there is a tensor of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// What stands before the names of its tensors: this prefix, where a name begins with it,
    /// or else nothing.
    pub fn prefix<'a>(&self, prefix: &'a str) -> &'a str {
        match self.tensors.keys().any(|name| name.starts_with(prefix)) {
            true => prefix,
            false => "",
        }
    }

    /// A text from the file's metadata.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.texts.get(key).map(String::as_str)
    }

    /// All texts of the file's metadata, by key.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(key, text)| (key.as_str(), text.as_str()))
    }

    /// The tensor of this name.
    ///
    /// # Errors
    /// [`Error::MissingTensor`] with the names that there are.
    pub fn tensor<'a>(&'a self, name: &'a str) -> Result<Tensor<'a>> {
        let Some(info) = self.tensors.get(name) else {
            let (file, tensor) = (self.name.clone(), name.to_string());
            return Err(Error::MissingTensor { file, tensor, names: self.names() });
        };
        let (from, to) = info.data_offsets;
        let bytes = &self.bytes[self.numbers_start..][from..to];
        Ok(Tensor { file: &self.name, name, info, bytes })
    }

    /// The tensor of this name, if there is one.
    pub fn get(&self, name: &str) -> Option<Tensor<'_>> {
        let (name, _) = self.tensors.get_key_value(name)?;
        self.tensor(name).ok()
    }

    /// A tensor of two dimensions.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor) and [`Tensor::matrix`].
    pub fn matrix(&self, name: &str) -> Result<Matrix> {
        self.tensor(name)?.matrix()
    }

    /// A tensor of two dimensions or more, cut into matrices.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor) and [`Tensor::matrices`].
    pub fn matrices(&self, name: &str) -> Result<Vec<Matrix>> {
        self.tensor(name)?.matrices()
    }
}

/// One tensor of a file, its numbers not read yet.
#[derive(Debug, Clone, Copy)]
pub struct Tensor<'a> {
    file: &'a str,
    name: &'a str,
    info: &'a TensorInfo,
    bytes: &'a [u8],
}

impl Tensor<'_> {
    /// Its shape, of any number of dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.info.shape
    }

    /// Its shape as text: `(30, 256)`.
    pub fn shape_text(&self) -> String {
        shape_text(self.shape())
    }

    /// Whether it holds flags (`BOOL`) and no numbers.
    pub fn is_bool(&self) -> bool {
        self.info.dtype == Dtype::BOOL
    }

    /// The kind of its numbers, as the format writes it: `F32`.
    pub fn dtype(&self) -> String {
        self.info.dtype.to_string()
    }

    /// Its numbers, row after row. Every kind of float is read exactly.
    ///
    /// # Errors
    /// [`Error::Dtype`] if they are no floats, [`Error::Empty`] if there is none.
    pub fn numbers(&self) -> Result<Vec<f64>> {
        self.numbers_as()
    }

    /// The same, each rounded to the nearest of another precision: without a copy in f64,
    /// which of a whole model takes memory that counts.
    ///
    /// # Errors
    /// As [`numbers`](Self::numbers).
    pub fn numbers_as<T: Real>(&self) -> Result<Vec<T>> {
        self.expect_content()?;
        floats(self.info.dtype, self.bytes).ok_or_else(|| self.dtype_error(FLOATS))
    }

    /// Its integers, row after row: token ids, lengths, classes. Flags are 0 and 1.
    ///
    /// # Errors
    /// [`Error::Dtype`] if it holds floats, [`Error::Empty`] if it holds nothing.
    pub fn integers(&self) -> Result<Vec<i128>> {
        self.expect_content()?;
        integers(self.info.dtype, self.bytes).ok_or_else(|| self.dtype_error(INTEGERS))
    }

    /// Its flags, row after row.
    ///
    /// # Errors
    /// [`Error::Dtype`] if it holds numbers, [`Error::Empty`] if it holds nothing.
    pub fn flags(&self) -> Result<Vec<bool>> {
        self.expect_content()?;
        if !self.is_bool() {
            return Err(self.dtype_error("BOOL"));
        }
        Ok(self.bytes.iter().map(|&byte| byte != 0).collect())
    }

    /// Its numbers as one matrix.
    ///
    /// # Errors
    /// [`Error::Shape`] without exactly two dimensions; as [`numbers`](Self::numbers).
    pub fn matrix(&self) -> Result<Matrix> {
        let [rows, cols] = *self.shape() else {
            return Err(self.shape_error("two dimensions"));
        };
        Ok(Matrix::from_row_slice(rows, cols, &self.numbers()?))
    }

    /// Its numbers as matrices, of which the last two dimensions are rows and columns.
    ///
    /// # Shapes
    /// `[a, b, rows, cols]` gives `a · b` matrices, the last dimension before the rows
    /// fastest; `[rows, cols]` gives one.
    ///
    /// # Errors
    /// [`Error::Shape`] with less than two dimensions; as [`numbers`](Self::numbers).
    pub fn matrices(&self) -> Result<Vec<Matrix>> {
        let [.., rows, cols] = *self.shape() else {
            return Err(self.shape_error("two dimensions or more"));
        };
        let numbers = self.numbers()?;
        let matrices = numbers.chunks_exact(rows * cols);
        Ok(matrices.map(|m| Matrix::from_row_slice(rows, cols, m)).collect())
    }

    /// Holds the shape against one.
    ///
    /// # Errors
    /// [`Error::Shape`] with both if they differ.
    pub fn expect_shape(&self, expected: &[usize]) -> Result<()> {
        if self.shape() == expected {
            return Ok(());
        }
        Err(self.shape_error(&shape_text(expected)))
    }

    /// An [`Error::Shape`] for this tensor, where `expected` says what would fit.
    pub fn shape_error(&self, expected: &str) -> Error {
        Error::Shape {
            file: self.file.to_string(),
            tensor: self.name.to_string(),
            found: self.shape().to_vec(),
            expected: expected.to_string(),
        }
    }

    fn dtype_error(&self, expected: &'static str) -> Error {
        let (file, tensor) = (self.file.to_string(), self.name.to_string());
        Error::Dtype { file, tensor, found: self.dtype(), expected }
    }

    fn expect_content(&self) -> Result<()> {
        if !self.bytes.is_empty() {
            return Ok(());
        }
        let (file, tensor) = (self.file.to_string(), self.name.to_string());
        Err(Error::Empty { file, tensor, shape: self.shape().to_vec() })
    }
}

#[cfg(test)]
mod tests;
