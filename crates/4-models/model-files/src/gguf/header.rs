//! The header: settings and the places of tensors.

use std::collections::BTreeMap;
use std::fmt;

use tensors::name_text;
use tensors::plain::LFS;

use super::{GgufError, GgufResult};

/// What the file says under a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number of any width.
    Whole(i128),
    /// A float of either width.
    Float(f64),
    /// True or false.
    Flag(bool),
    /// A text.
    Text(String),
    /// Whole numbers.
    Wholes(Vec<i128>),
    /// Floats.
    Floats(Vec<f64>),
    /// Flags.
    Flags(Vec<bool>),
    /// Texts, of a vocabulary for example.
    Texts(Vec<String>),
}

/// A value as it is fit for a message.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 60;
        match self {
            Self::Whole(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Text(text) => {
                let start: String = text.chars().take(MOST).collect();
                write!(f, "{start:?}")
            }
            Self::Wholes(list) => write!(f, "a list of {}", list.len()),
            Self::Floats(list) => write!(f, "a list of {}", list.len()),
            Self::Flags(list) => write!(f, "a list of {}", list.len()),
            Self::Texts(list) => write!(f, "a list of {}", list.len()),
        }
    }
}

/// Where a tensor is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Its sizes, its rows first. The file has them in reverse.
    pub shape: Vec<usize>,
    /// The code of its kind of number.
    pub kind: u32,
    /// Where its bytes begin, from where all numbers of its file begin.
    pub offset: usize,
    /// In which of the files, where a model was split: 0 is the first.
    pub part: usize,
}

impl Info {
    /// How many numbers it has, if a `usize` can say it.
    pub fn n_numbers(&self) -> Option<usize> {
        self.shape.iter().try_fold(1_usize, |n, size| n.checked_mul(*size))
    }
}

pub(super) struct Header {
    pub metadata: BTreeMap<String, Value>,
    pub tensors: BTreeMap<String, Info>,
    pub numbers_start: usize,
}

/// More dimensions than any tensor has.
const MOST_DIMENSIONS: usize = 8;

/// What comes before the settings: the mark, the version and two counts.
const START: usize = 24;

impl Header {
    /// From the beginning of a file of `n_bytes`; `None` if more of it is needed.
    ///
    /// # Errors
    /// As [`read`](Self::read) of the whole file.
    pub fn begin(file: &str, bytes: &[u8], n_bytes: usize) -> GgufResult<Option<Self>> {
        let to_come = n_bytes.saturating_sub(bytes.len());
        if to_come > 0 && bytes.len() < START {
            return Ok(None);
        }
        match Self::read(file, bytes) {
            Ok(header) => Ok(Some(header)),
            // What the whole file would lack is wrong at once.
            Err(GgufError::CutShort { file, what, needed, left }) => {
                let left = left + to_come;
                match to_come > 0 && needed <= left {
                    true => Ok(None),
                    false => Err(GgufError::CutShort { file, what, needed, left }),
                }
            }
            Err(wrong) => Err(wrong),
        }
    }

    pub fn read(file: &str, bytes: &[u8]) -> GgufResult<Self> {
        if bytes.starts_with(b"version https://git-lfs") {
            let (file, what) = (file.to_string(), LFS.to_string());
            return Err(GgufError::Header { file, what });
        }
        if !bytes.starts_with(b"GGUF") {
            let found = bytes.iter().take(4).copied().collect();
            return Err(GgufError::NotGguf { file: file.to_string(), found });
        }
        let mut rest = Cursor { file, bytes, at: 4 };
        let version = rest.u32("the version")?;
        if (2..=3).contains(&version.swap_bytes()) {
            return Err(rest.nonsense("its numbers have their highest byte first".into()));
        }
        if !(2..=3).contains(&version) {
            return Err(GgufError::Version { file: file.to_string(), found: version });
        }
        // A tensor has at least a name's length, a kind and a place; a setting a name's
        // length, a kind and a byte.
        let n_tensors = rest.count("the list of tensors", 24)?;
        let n_settings = rest.count("the list of settings", 13)?;
        let metadata = rest.settings(n_settings)?;
        let tensors = rest.tensors(n_tensors)?;
        let alignment = match metadata.get("general.alignment") {
            None => Some(32),
            Some(Value::Whole(found)) => usize::try_from(*found).ok(),
            Some(_) => None,
        };
        let Some(alignment) = alignment.filter(|alignment| *alignment > 0) else {
            return Err(rest.nonsense("general.alignment is no number above 0".into()));
        };
        let numbers_start =
            rest.at.checked_next_multiple_of(alignment).unwrap_or(usize::MAX);
        Ok(Self { metadata, tensors, numbers_start })
    }
}

/// What is still to be read.
struct Cursor<'a> {
    file: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn settings(&mut self, n: usize) -> GgufResult<BTreeMap<String, Value>> {
        let mut metadata = BTreeMap::new();
        for _ in 0..n {
            let key = self.text("the name of a setting")?;
            let kind = self.u32(&key)?;
            let value = self.value(&key, kind)?;
            if metadata.insert(key.clone(), value).is_some() {
                return Err(self.nonsense(format!(
                    "two settings have the name {}",
                    name_text(&key)
                )));
            }
        }
        Ok(metadata)
    }

    fn tensors(&mut self, n: usize) -> GgufResult<BTreeMap<String, Info>> {
        let mut tensors = BTreeMap::new();
        for _ in 0..n {
            let name = self.text("the name of a tensor")?;
            let n_dimensions = self.u32(&name)? as usize;
            if n_dimensions > MOST_DIMENSIONS {
                return Err(self.nonsense(format!(
                    "{} has {n_dimensions} dimensions",
                    name_text(&name)
                )));
            }
            let sizes = (0..n_dimensions).map(|_| self.size(&name));
            let mut shape = sizes.collect::<GgufResult<Vec<_>>>()?;
            shape.reverse();
            let (kind, offset) = (self.u32(&name)?, self.size(&name)?);
            let info = Info { shape, kind, offset, part: 0 };
            if tensors.insert(name.clone(), info).is_some() {
                return Err(self.nonsense(format!(
                    "two tensors have the name {}",
                    name_text(&name)
                )));
            }
        }
        Ok(tensors)
    }

    fn take(&mut self, what: &str, needed: usize) -> GgufResult<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..needed).ok_or_else(|| GgufError::CutShort {
            file: self.file.to_string(),
            what: what.to_string(),
            needed,
            left: rest.len(),
        })?;
        self.at += needed;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> GgufResult<[u8; N]> {
        let taken = self.take(what, N)?;
        Ok(std::array::from_fn(|i| taken[i]))
    }

    fn u32(&mut self, what: &str) -> GgufResult<u32> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    fn size(&mut self, what: &str) -> GgufResult<usize> {
        let size = u64::from_le_bytes(self.array(what)?);
        Ok(usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// A number of things with at least `each` bytes: a file that lies about it is found
    /// out before memory is asked for.
    fn count(&mut self, what: &str, each: usize) -> GgufResult<usize> {
        let n = self.size(what)?;
        let (needed, left) = (n.saturating_mul(each), self.bytes.len() - self.at);
        match needed <= left {
            true => Ok(n),
            false => {
                let (file, what) = (self.file.to_string(), what.to_string());
                Err(GgufError::CutShort { file, what, needed, left })
            }
        }
    }

    fn text(&mut self, what: &str) -> GgufResult<String> {
        let n_bytes = self.count(what, 1)?;
        let bytes = self.take(what, n_bytes)?;
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|_| self.nonsense(format!("{what} is no UTF-8")));
        Ok(text?.to_string())
    }

    /// A value of a kind: 0 to 12 are the format's own codes.
    fn value(&mut self, key: &str, kind: u32) -> GgufResult<Value> {
        Ok(match kind {
            6 | 12 => Value::Float(self.float(key, kind)?),
            7 => Value::Flag(self.flag(key)?),
            8 => Value::Text(self.text(key)?),
            9 => {
                let kind = self.u32(key)?;
                self.list(key, kind)?
            }
            kind => Value::Whole(self.whole(key, kind)?),
        })
    }

    fn list(&mut self, key: &str, kind: u32) -> GgufResult<Value> {
        let each = if kind == 8 { 8 } else { 1 };
        let n = self.count(key, each)?;
        Ok(match kind {
            6 | 12 => Value::Floats(self.each(n, |one| one.float(key, kind))?),
            7 => Value::Flags(self.each(n, |one| one.flag(key))?),
            8 => Value::Texts(self.each(n, |one| one.text(key))?),
            kind => Value::Wholes(self.each(n, |one| one.whole(key, kind))?),
        })
    }

    fn each<V>(
        &mut self,
        n: usize,
        mut read: impl FnMut(&mut Self) -> GgufResult<V>,
    ) -> GgufResult<Vec<V>> {
        (0..n).map(|_| read(self)).collect()
    }

    fn float(&mut self, key: &str, kind: u32) -> GgufResult<f64> {
        Ok(match kind {
            6 => f32::from_le_bytes(self.array(key)?).into(),
            _ => f64::from_le_bytes(self.array(key)?),
        })
    }

    fn flag(&mut self, key: &str) -> GgufResult<bool> {
        Ok(self.array::<1>(key)? != [0])
    }

    fn whole(&mut self, key: &str, kind: u32) -> GgufResult<i128> {
        Ok(match kind {
            0 => u8::from_le_bytes(self.array(key)?).into(),
            1 => i8::from_le_bytes(self.array(key)?).into(),
            2 => u16::from_le_bytes(self.array(key)?).into(),
            3 => i16::from_le_bytes(self.array(key)?).into(),
            4 => u32::from_le_bytes(self.array(key)?).into(),
            5 => i32::from_le_bytes(self.array(key)?).into(),
            10 => u64::from_le_bytes(self.array(key)?).into(),
            11 => i64::from_le_bytes(self.array(key)?).into(),
            kind => {
                return Err(self.nonsense(format!("{key} holds a value of kind {kind}")));
            }
        })
    }

    fn nonsense(&self, what: String) -> GgufError {
        GgufError::Header { file: self.file.to_string(), what }
    }
}
