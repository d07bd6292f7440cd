//! What the format's own reader of headers does not say.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::words::name_text;

/// A name that stands twice in the outermost map of this JSON.
pub fn duplicate(json: &[u8]) -> Option<String> {
    serde_json::from_slice::<Names>(json).ok()?.duplicate
}

/// The error with what it quotes from the file made fit to be printed.
pub fn printable(error: serde_json::Error) -> serde_json::Error {
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
