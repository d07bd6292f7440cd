//! Headers: what a file says of its tensors before their numbers come.

use std::collections::HashSet;
use std::fmt;

use safetensors::tensor::Metadata;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::words::name_text;
use crate::{Error, Result};

/// The longest header that is read: those of the largest models have a few MB.
const LONGEST: usize = 16 << 20;

/// The length of a header, as a file's first 8 bytes announce it of the `left` bytes behind
/// them.
///
/// # Errors
/// [`Error::HeaderLength`], [`Error::LongHeader`].
pub fn length(file: &str, first: [u8; 8], left: usize) -> Result<usize> {
    let (file, announced) = (file.to_owned(), u64::from_le_bytes(first));
    match usize::try_from(announced) {
        Ok(n_bytes) if n_bytes > left => {
            Err(Error::HeaderLength { file, announced, left })
        }
        Ok(n_bytes) if n_bytes > LONGEST => {
            Err(Error::LongHeader { file, n_bytes, longest: LONGEST })
        }
        Ok(n_bytes) => Ok(n_bytes),
        Err(_) => Err(Error::HeaderLength { file, announced, left }),
    }
}

/// What a header says, if `found` bytes of numbers behind it are as many as it describes.
pub fn parsed(file: &str, json: &[u8], found: usize) -> Result<Metadata> {
    let (file, n_bytes) = (file.to_owned(), json.len());
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
