//! The settings of a GGUF file, read one by one.

use super::{Gguf, GgufError, GgufResult, Value};

/// Settings by name, each of the kind that is expected; if it is of another, or missing,
/// the error is [`GgufError::Setting`].
impl Gguf {
    /// Whether the file has this setting.
    pub fn contains_setting(&self, key: &str) -> bool {
        self.metadata.contains_key(key)
    }

    /// A text.
    ///
    /// # Errors
    /// [`GgufError::Setting`].
    pub fn text(&self, key: &str) -> GgufResult<&str> {
        match self.metadata.get(key) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(self.wrong(key, "a text")),
        }
    }

    /// A list of texts.
    ///
    /// # Errors
    /// [`GgufError::Setting`].
    pub fn texts(&self, key: &str) -> GgufResult<&[String]> {
        match self.metadata.get(key) {
            Some(Value::Texts(texts)) => Ok(texts),
            _ => Err(self.wrong(key, "a list of texts")),
        }
    }

    /// A list of whole numbers.
    ///
    /// # Errors
    /// [`GgufError::Setting`].
    pub fn wholes(&self, key: &str) -> GgufResult<&[i128]> {
        match self.metadata.get(key) {
            Some(Value::Wholes(numbers)) => Ok(numbers),
            _ => Err(self.wrong(key, "a list of whole numbers")),
        }
    }

    /// True or false.
    ///
    /// # Errors
    /// [`GgufError::Setting`].
    pub fn flag(&self, key: &str) -> GgufResult<bool> {
        match self.metadata.get(key) {
            Some(Value::Flag(flag)) => Ok(*flag),
            _ => Err(self.wrong(key, "true or false")),
        }
    }

    /// A number above 0.
    ///
    /// # Errors
    /// [`GgufError::Setting`].
    pub fn float(&self, key: &str) -> GgufResult<f64> {
        match self.metadata.get(key) {
            Some(Value::Float(number)) if *number > 0.0 && number.is_finite() => {
                Ok(*number)
            }
            _ => Err(self.wrong(key, "a number above 0")),
        }
    }

    /// A whole number of 0 or more.
    ///
    /// # Errors
    /// [`GgufError::Setting`].
    pub fn size(&self, key: &str) -> GgufResult<usize> {
        match self.metadata.get(key) {
            Some(Value::Whole(number)) => usize::try_from(*number).ok(),
            _ => None,
        }
        .ok_or_else(|| self.wrong(key, "a whole number of 0 or more"))
    }

    /// A [`GgufError::Setting`] for this key.
    pub fn wrong(&self, key: &str, expected: &'static str) -> GgufError {
        GgufError::Setting {
            file: self.name.clone(),
            key: key.to_string(),
            found: self.metadata.get(key).map(ToString::to_string),
            expected,
        }
    }
}
