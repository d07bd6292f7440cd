//! What is asked of a GGUF file's settings.

use super::{Gguf, GgufError, GgufResult, Value};

/// Settings by name, each of the kind that is expected.
pub(crate) trait Setting {
    /// Whether the file says anything of it.
    fn contains_setting(&self, key: &str) -> bool;
    fn text(&self, key: &str) -> GgufResult<&str>;
    fn texts(&self, key: &str) -> GgufResult<&[String]>;
    fn wholes(&self, key: &str) -> GgufResult<&[i128]>;
    fn flag(&self, key: &str) -> GgufResult<bool>;
    fn float(&self, key: &str) -> GgufResult<f64>;
    /// A whole number of 0 or more.
    fn size(&self, key: &str) -> GgufResult<usize>;
    /// A [`GgufError::Setting`] for this key.
    fn wrong(&self, key: &str, expected: &'static str) -> GgufError;
}

impl Setting for Gguf {
    fn contains_setting(&self, key: &str) -> bool {
        self.metadata.contains_key(key)
    }

    fn text(&self, key: &str) -> GgufResult<&str> {
        match self.metadata.get(key) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(self.wrong(key, "a text")),
        }
    }

    fn texts(&self, key: &str) -> GgufResult<&[String]> {
        match self.metadata.get(key) {
            Some(Value::Texts(texts)) => Ok(texts),
            _ => Err(self.wrong(key, "a list of texts")),
        }
    }

    fn wholes(&self, key: &str) -> GgufResult<&[i128]> {
        match self.metadata.get(key) {
            Some(Value::Wholes(numbers)) => Ok(numbers),
            _ => Err(self.wrong(key, "a list of whole numbers")),
        }
    }

    fn flag(&self, key: &str) -> GgufResult<bool> {
        match self.metadata.get(key) {
            Some(Value::Flag(flag)) => Ok(*flag),
            _ => Err(self.wrong(key, "true or false")),
        }
    }

    fn float(&self, key: &str) -> GgufResult<f64> {
        match self.metadata.get(key) {
            Some(Value::Float(number)) if *number > 0.0 && number.is_finite() => {
                Ok(*number)
            }
            _ => Err(self.wrong(key, "a number above 0")),
        }
    }

    fn size(&self, key: &str) -> GgufResult<usize> {
        match self.metadata.get(key) {
            Some(Value::Whole(number)) => usize::try_from(*number).ok(),
            _ => None,
        }
        .ok_or_else(|| self.wrong(key, "a whole number of 0 or more"))
    }

    fn wrong(&self, key: &str, expected: &'static str) -> GgufError {
        GgufError::Setting {
            file: self.name.clone(),
            key: key.to_string(),
            found: self.metadata.get(key).map(ToString::to_string),
            expected,
        }
    }
}
