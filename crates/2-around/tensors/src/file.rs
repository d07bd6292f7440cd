//! Tensors in a file, by name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use attention::{Matrix, Real};
use safetensors::Dtype;

use crate::error::{Error, Result};
use crate::few_bits::{self, Entry};
use crate::header;
use crate::numbers::{FLOATS, INTEGERS, floats, integers};
use crate::plain::{self, InFile};
use crate::save::NewTensor;
use crate::words::shape_text;

/// A safetensors file: a header in JSON that names tensors with their shapes, and their
/// numbers, row after row. The numbers of a file on disk are read when they are asked for.
///
/// # Source
/// The format as <https://github.com/huggingface/safetensors> describes it.
#[derive(Debug, Clone)]
pub struct TensorFile {
    name: String,
    parts: Vec<Part>,
    /// What the header says of tensors, each with the part that it is in, and in words. In
    /// ordered maps: the library's hash maps depend on seeds of the binary that they are in,
    /// and a notebook has one for each cell.
    tensors: BTreeMap<String, Entry>,
    texts: BTreeMap<String, String>,
}

/// One of the files of a model: most have one.
#[derive(Debug, Clone)]
struct Part {
    bytes: Bytes,
    numbers_start: usize,
}

#[derive(Debug, Clone)]
enum Bytes {
    Here(Cow<'static, [u8]>),
    InFile(InFile),
}

impl Part {
    fn numbers(&self, (from, to): (usize, usize)) -> Result<Cow<'_, [u8]>> {
        let (from, n) = (self.numbers_start + from, to - from);
        match &self.bytes {
            Bytes::Here(bytes) => Ok(Cow::Borrowed(&bytes[from..from + n])),
            Bytes::InFile(file) => {
                let failed = |source| Error::Read { path: file.path.clone(), source };
                Ok(Cow::Owned(file.read(from, n).map_err(failed)?))
            }
        }
    }
}

impl TensorFile {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// [`Error::Read`], also for what is no plain file, such as a pipe, which might never
    /// end; and as [`from_bytes`](Self::from_bytes).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let failed = |source| Error::Read { path: path.into(), source };
        let name = path.display().to_string();
        let (mut file, n_bytes) = plain::open(path).map_err(failed)?;
        let mut first = [0; 8];
        let Some(left) = n_bytes.checked_sub(first.len()) else {
            return Err(Error::TooShort { file: name, n_bytes });
        };
        file.read_exact(&mut first).map_err(failed)?;
        let mut json = vec![0; header::length(&name, first, left)?];
        file.read_exact(&mut json).map_err(failed)?;
        Self::of(name, &json, left, Bytes::InFile(InFile::new(path, file)))
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
        let Some((first, rest)) = bytes.split_first_chunk() else {
            return Err(Error::TooShort { file, n_bytes: bytes.len() });
        };
        let json = rest[..header::length(&file, *first, rest.len())?].to_vec();
        Self::of(file, &json, rest.len(), Bytes::Here(bytes))
    }

    /// A file of `left` bytes behind its first 8, of which these are its header.
    fn of(name: String, json: &[u8], left: usize, bytes: Bytes) -> Result<Self> {
        let header = header::parsed(&name, json, left - json.len())?;
        let tensors = header.tensors();
        let tensors = few_bits::entries(&name, &tensors.into_iter().collect())?;
        let texts = header.metadata().iter().flatten();
        Ok(Self {
            parts: vec![Part { bytes, numbers_start: size_of::<u64>() + json.len() }],
            tensors,
            texts: texts.map(|(key, text)| (key.clone(), text.clone())).collect(),
            name,
        })
    }

    /// Several files as one, under the name `name`; `tensors` of one name in two of them
    /// are those of the last.
    pub fn joined(name: String, files: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self {
            name,
            parts: vec![],
            tensors: BTreeMap::new(),
            texts: BTreeMap::new(),
        };
        for file in files {
            let first = all.parts.len();
            let tensors = file.tensors.into_iter();
            let moved = tensors
                .map(|(name, entry)| (name, Entry { part: first + entry.part, ..entry }));
            all.tensors.extend(moved);
            all.texts.extend(file.texts);
            all.parts.extend(file.parts);
        }
        all
    }

    /// The same without this prefix, where a name has it; of two that have one name then, the
    /// last is kept.
    pub fn without_prefix(mut self, prefix: &str) -> Self {
        let rest = |name: String| name.strip_prefix(prefix).unwrap_or(&name).to_owned();
        let tensors = self.tensors.into_iter();
        self.tensors = tensors.map(|(name, info)| (rest(name), info)).collect();
        self
    }

    /// What errors call this file: its path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its tensors, in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        self.tensors.keys().cloned().collect()
    }

    /// How many entries all tensors have together.
    pub fn n_entries(&self) -> u128 {
        let each = self.names();
        let each = each.iter().filter_map(|name| Some(self.get(name)?.n_entries()));
        each.fold(0, u128::saturating_add)
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
        let Some(entry) = self.tensors.get(name) else {
            let (file, tensor) = (self.name.clone(), name.to_string());
            return Err(Error::MissingTensor { file, tensor, names: self.names() });
        };
        Ok(Tensor { file: &self.name, name, entry, part: &self.parts[entry.part] })
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
    entry: &'a Entry,
    part: &'a Part,
}

impl Tensor<'_> {
    /// Its shape, of any number of dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.entry.info.shape
    }

    /// How many entries it has.
    pub fn n_entries(&self) -> u128 {
        let product = |n: u128, &size: &usize| n.saturating_mul(size as u128);
        if self.is_empty() { 0 } else { self.shape().iter().fold(1, product) }
    }

    /// Its shape as text: `(30, 256)`.
    pub fn shape_text(&self) -> String {
        shape_text(self.shape())
    }

    /// Whether it holds flags (`BOOL`) and no numbers.
    pub fn is_bool(&self) -> bool {
        self.entry.info.dtype == Dtype::BOOL
    }

    /// The kind of its numbers, as the format writes it: `F32`; of weights in few bits
    /// `F32 in 4 bits`.
    pub fn dtype(&self) -> String {
        match &self.entry.few {
            Some((bits, _)) => format!("F32 in {bits} bits"),
            None => self.entry.info.dtype.to_string(),
        }
    }

    /// Its numbers, row after row. Every kind of float is read exactly, and of weights in few
    /// bits each integer times its scale.
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
        let (info, bytes) = (&self.entry.info, self.bytes()?);
        match &self.entry.few {
            Some((bits, scales)) => {
                let of = self.part.numbers(scales.data_offsets)?;
                let scales = floats(scales.dtype, &of).unwrap_or_default();
                Ok(few_bits::numbers(*bits, &bytes, &scales, info.shape[1]))
            }
            None => floats(info.dtype, &bytes).ok_or_else(|| self.dtype_error(FLOATS)),
        }
    }

    /// Its integers, row after row: token ids, lengths, classes. Flags are 0 and 1.
    ///
    /// # Errors
    /// [`Error::Dtype`] if it holds floats, [`Error::Empty`] if it holds nothing.
    pub fn integers(&self) -> Result<Vec<i128>> {
        let (info, bytes) = (&self.entry.info, self.bytes()?);
        let all = self.entry.few.is_none().then(|| integers(info.dtype, &bytes));
        all.flatten().ok_or_else(|| self.dtype_error(INTEGERS))
    }

    /// Its flags, row after row.
    ///
    /// # Errors
    /// [`Error::Dtype`] if it holds numbers, [`Error::Empty`] if it holds nothing.
    pub fn flags(&self) -> Result<Vec<bool>> {
        let bytes = self.bytes()?;
        if !self.is_bool() {
            return Err(self.dtype_error("BOOL"));
        }
        Ok(bytes.iter().map(|&byte| byte != 0).collect())
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

    /// Compares the kind of its numbers with one, written as in the format: `F32`.
    ///
    /// # Errors
    /// [`Error::Dtype`] with both if they differ.
    pub fn expect_dtype(&self, expected: &'static str) -> Result<()> {
        if self.dtype() == expected {
            return Ok(());
        }
        Err(self.dtype_error(expected))
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

    /// The same tensor, to be saved as it is.
    pub(crate) fn to_new(self) -> Result<NewTensor> {
        if self.entry.few.is_some() {
            return Err(self.dtype_error(FLOATS));
        }
        let (info, bytes) = (&self.entry.info, self.bytes()?.into_owned());
        let n = info.shape.iter().product();
        NewTensor::of_bytes(self.name.to_owned(), &info.shape, info.dtype, bytes, n)
    }

    fn dtype_error(&self, expected: &'static str) -> Error {
        let (file, tensor) = (self.file.to_string(), self.name.to_string());
        Error::Dtype { file, tensor, found: self.dtype(), expected }
    }

    fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    fn bytes(&self) -> Result<Cow<'_, [u8]>> {
        if !self.is_empty() {
            return self.part.numbers(self.entry.info.data_offsets);
        }
        let (file, tensor) = (self.file.to_string(), self.name.to_string());
        Err(Error::Empty { file, tensor, shape: self.shape().to_vec() })
    }
}

#[cfg(test)]
mod tests;
