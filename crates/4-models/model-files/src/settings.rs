//! The object in a `config.json`, read setting by setting.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use crate::{Error, Result};

/// A model's settings, by name. Whatever is not as expected is an error that names the
/// file, the key, and both values. It notes which keys were asked for, so that
/// [`leftovers`](Self::leftovers) can refuse what nobody knows.
///
/// ```
/// use model_files::Settings;
///
/// let settings = Settings::read("config.json", br#"{"n_layer": 2, "n_head": 0}"#)?;
/// assert_eq!(settings.positive("n_layer")?, 2);
/// let refused = settings.positive("n_head").unwrap_err().to_string();
/// assert_eq!(refused, "config.json: n_head is 0, expected a whole number of 1 or more");
/// # Ok::<(), model_files::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Settings {
    file: String,
    settings: Map<String, Value>,
    /// What stands before a key's name in an object within.
    path: String,
    asked: Arc<Mutex<BTreeSet<String>>>,
}

impl Settings {
    /// The settings in a file; `file` is what errors call it.
    ///
    /// # Errors
    /// [`Error::Json`].
    pub fn read(file: &str, json: &[u8]) -> Result<Self> {
        let file = file.to_string();
        let settings = match serde_json::from_slice(json) {
            Ok(settings) => settings,
            Err(source) => return Err(Error::Json { file, source }),
        };
        Ok(Self { file, settings, path: String::new(), asked: Arc::default() })
    }

    /// What errors call the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// A value, unless it is missing or null.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.found(key).filter(|value| !value.is_null())
    }

    /// Whether there is no such key, not even with null.
    pub fn is_missing(&self, key: &str) -> bool {
        self.found(key).is_none()
    }

    /// Whether it has no key at all.
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }

    /// A value, and null too; the key has been asked for.
    fn found(&self, key: &str) -> Option<&Value> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.insert(format!("{}{key}", self.path));
        self.settings.get(key)
    }

    /// The keys that nobody has asked for, with their values; those of an object within
    /// behind its name and a dot.
    pub(crate) fn unasked(&self) -> Vec<(String, Value)> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unasked = Vec::new();
        for (key, value) in &self.settings {
            let key = format!("{}{key}", self.path);
            if !asked.contains(&key) {
                unasked.push((key, value.clone()));
                continue;
            }
            collect_within(&asked, &key, value, &mut unasked);
        }
        unasked
    }

    /// A text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }

    /// An object within, whose errors name the same file.
    ///
    /// # Errors
    /// [`Error::Setting`] for what is there and no object.
    pub fn within(&self, key: &str) -> Result<Option<Self>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let Some(settings) = value.as_object().cloned() else {
            return Err(self.wrong(key, "an object"));
        };
        let (file, asked) = (self.file.clone(), self.asked.clone());
        Ok(Some(Self { file, settings, path: format!("{}{key}.", self.path), asked }))
    }

    /// The same with what a family has where a key is missing; null is another thing.
    pub fn with_defaults(&self, defaults: &[(&str, usize)]) -> Self {
        let mut all = self.clone();
        for (key, default) in defaults {
            all.settings.entry(*key).or_insert_with(|| (*default).into());
        }
        all
    }

    /// The same with each key under its family's name for it, given as (another, its own).
    ///
    /// # Errors
    /// [`Error::Setting`] where the two names say different things.
    pub fn with_own_names(&self, names: &[(&str, &'static str)]) -> Result<Self> {
        let mut all = self.clone();
        for &(other, own) in names {
            let Some(value) = self.found(other) else { continue };
            if *all.settings.entry(own).or_insert_with(|| value.clone()) != *value {
                return Err(
                    self.wrong(other, "what the family's own key says of the same")
                );
            }
        }
        Ok(all)
    }

    /// A whole number; `default` is for a key that is missing.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn number(&self, key: &str, default: Option<usize>) -> Result<usize> {
        let wrong = || self.wrong(key, "a whole number of 0 or more");
        match (self.get(key), default) {
            (None, Some(default)) => Ok(default),
            (None, None) => Err(wrong()),
            (Some(value), _) => {
                let number = value.as_u64().and_then(|number| number.try_into().ok());
                number.ok_or_else(wrong)
            }
        }
    }

    /// One id, or a list of them; none where there is no such key.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn ids(&self, key: &str) -> Result<Vec<usize>> {
        let id = |value: &Value| value.as_u64()?.try_into().ok();
        let found = match self.get(key) {
            None => Some(Vec::new()),
            Some(Value::Array(ids)) => ids.iter().map(id).collect(),
            Some(value) => id(value).map(|id| vec![id]),
        };
        found.ok_or_else(|| self.wrong(key, "an id, or a list of ids"))
    }

    /// A whole number above 0.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn positive(&self, key: &str) -> Result<usize> {
        match self.number(key, None) {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(self.wrong(key, "a whole number of 1 or more")),
        }
    }

    /// A whole number from 1 to `most`: what memory is asked for before a file of weights
    /// could say otherwise.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn at_most(&self, key: &str, most: usize) -> Result<usize> {
        match self.positive(key)? {
            number if number <= most => Ok(number),
            _ => Err(self.wrong(key, "a number that a model can have")),
        }
    }

    /// The number of layers: at most 65,536.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn n_layers(&self, key: &str) -> Result<usize> {
        self.at_most(key, 1 << 16)
    }

    /// A number that is 0 or more, such as a norm's eps.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn eps(&self, key: &str, default: f64) -> Result<f64> {
        let Some(value) = self.found(key) else { return Ok(default) };
        let eps = value.as_f64().filter(|eps| *eps >= 0.0);
        eps.ok_or_else(|| self.wrong(key, "a number of 0 or more"))
    }

    /// A number above 0, or `None` where it is missing or null.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn above_0(&self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.as_f64().filter(|number| *number > 0.0);
        number.map(Some).ok_or_else(|| self.wrong(key, "a number above 0"))
    }

    /// True or false; `default` is for a key that is missing.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn flag(&self, key: &str, default: bool) -> Result<bool> {
        let Some(value) = self.get(key) else { return Ok(default) };
        value.as_bool().ok_or_else(|| self.wrong(key, "true or false"))
    }

    /// One of several things that have names; `default` is for a key that is missing,
    /// and `expected` lists the names that `named` knows.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn one_of<T>(
        &self,
        key: &str,
        default: T,
        named: impl FnOnce(&str) -> Option<T>,
        expected: &'static str,
    ) -> Result<T> {
        let Some(value) = self.found(key) else { return Ok(default) };
        let found = value.as_str().and_then(named);
        found.ok_or_else(|| self.wrong(key, expected))
    }

    /// Refuses a value that asks for what is not computed here.
    ///
    /// # Errors
    /// [`Error::Setting`] if the key is there with another value.
    pub fn refuse_unless(
        &self,
        key: &str,
        value: impl Into<Value>,
        expected: &'static str,
    ) -> Result<()> {
        let value = value.into();
        match self.get(key) {
            Some(found) if *found != value => Err(self.wrong(key, expected)),
            _ => Ok(()),
        }
    }

    /// An [`Error::Setting`] for this key.
    pub fn wrong(&self, key: &str, expected: &'static str) -> Error {
        Error::Setting {
            file: self.file.clone(),
            key: format!("{}{key}", self.path),
            found: self.settings.get(key).map(value_text),
            expected,
        }
    }

    /// An [`Error::Family`] for the `model_type` that there is.
    pub fn unknown_family(&self, known: Vec<&'static str>) -> Error {
        let found = self.found("model_type").map_or("missing".into(), value_text);
        Error::Family { file: self.file.clone(), found, known }
    }
}

/// The keys of an object within, if one of them was asked for.
fn collect_within(
    asked: &BTreeSet<String>,
    key: &str,
    value: &Value,
    unasked: &mut Vec<(String, Value)>,
) {
    let (Some(within), start) = (value.as_object(), format!("{key}.")) else { return };
    if !asked.iter().any(|asked| asked.starts_with(&start)) {
        return;
    }
    for (key, value) in within {
        let key = format!("{start}{key}");
        match asked.contains(&key) {
            true => collect_within(asked, &key, value, unasked),
            false => unasked.push((key, value.clone())),
        }
    }
}

/// A value as the file has it, or the start of one that is long.
pub(crate) fn value_text(value: &Value) -> String {
    const MOST: usize = 60;
    let text = tensors::name_text(&value.to_string());
    match text.char_indices().nth(MOST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
