//! Headers: what a file says of its tensors before their numbers come.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use safetensors::tensor::Metadata;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::words::name_text;
use crate::{Error, Result, plain};

/// The longest header that is read: those of the largest models have a few MB.
const LONGEST: usize = 16 << 20;

/// The names and shapes of a file whose numbers are not read yet.
#[derive(Debug, Clone)]
pub struct Header {
    name: String,
    tensors: Vec<(String, Vec<usize>)>,
}

impl Header {
    /// Reads the header of a file, and nothing behind it.
    ///
    /// # Errors
    /// As [`TensorFile::open`](crate::TensorFile::open).
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let failed = |source: io::Error| Error::Read { path: path.into(), source };
        let (mut file, n_bytes) = plain::open(path).map_err(failed)?;
        let mut length = [0; 8];
        let Some(left) = n_bytes.checked_sub(length.len()) else {
            return Err(Error::TooShort { file: name, n_bytes });
        };
        file.read_exact(&mut length).map_err(failed)?;
        let announced = u64::from_le_bytes(length);
        let Some(found) =
            usize::try_from(announced).ok().and_then(|it| left.checked_sub(it))
        else {
            return Err(Error::HeaderLength { file: name, announced, left });
        };
        expect_short(&name, left - found)?;
        let mut json = vec![0; left - found];
        file.read_exact(&mut json).map_err(failed)?;
        let header = parsed(&name, &json, found)?;
        let tensors = header.tensors().into_iter();
        let tensors = tensors.map(|(name, info)| (name, info.shape.clone())).collect();
        Ok(Self { name, tensors })
    }

    /// What errors call the file: its path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its tensors, in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.tensors.iter().map(|it| it.0.clone()).collect();
        names.sort_unstable();
        names
    }

    /// How many numbers all tensors have together.
    pub fn n_entries(&self) -> u128 {
        let entries = |shape: &[usize]| match shape.contains(&0) {
            true => 0,
            false => shape.iter().fold(1u128, |n, &size| n.saturating_mul(size as u128)),
        };
        let each = self.tensors.iter().map(|(_, shape)| entries(shape));
        each.fold(0, u128::saturating_add)
    }
}

fn expect_short(file: &str, n_bytes: usize) -> Result<()> {
    match n_bytes <= LONGEST {
        true => Ok(()),
        false => Err(Error::LongHeader { file: file.into(), n_bytes, longest: LONGEST }),
    }
}

/// What a header says, if `found` bytes of numbers behind it are as many as it describes.
pub fn parsed(file: &str, json: &[u8], found: usize) -> Result<Metadata> {
    let (file, n_bytes) = (file.to_owned(), json.len());
    expect_short(&file, n_bytes)?;
    // Not `SafeTensors::deserialize`: it tells no numbers, and overflows in a sum if the
    // header lies about sizes near 2⁶⁴.
    let header: Metadata = match serde_json::from_slice(json) {
        Ok(header) => header,
        Err(source) => {
            return Err(Error::Header { file, n_bytes, source: printable(source) });
        }
    };
    // A map, in which the last of two tensors with one name has replaced the first.
    if let Some(tensor) = duplicate(json) {
        return Err(Error::Duplicate { file, tensor });
    }
    match header.data_len() == found {
        true => Ok(header),
        false => Err(Error::DataLength { file, expected: header.data_len(), found }),
    }
}

/// A name that stands twice in the outermost map of this JSON.
fn duplicate(json: &[u8]) -> Option<String> {
    serde_json::from_slice::<Names>(json).ok()?.duplicate
}

/// The error with what it quotes from the file made fit to be printed.
fn printable(error: serde_json::Error) -> serde_json::Error {
    serde_json::Error::custom(name_text(&error.to_string()))
}

struct Names {
    duplicate: Option<String>,
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
        let (mut seen, mut duplicate) = (HashSet::new(), None);
        while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
            if seen.contains(&name) {
                duplicate.get_or_insert(name);
            } else {
                seen.insert(name);
            }
        }
        Ok(Names { duplicate })
    }
}
