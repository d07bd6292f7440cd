//! The settings of one architecture, and which of them were asked for.

use std::cell::RefCell;
use std::collections::BTreeSet;

use model_files::Use::Used;
use model_files::{Gguf, GgufError, GgufResult, Unused, Value, first_rule};

use super::TABLE;

/// Settings whose names begin with the architecture's.
pub(super) struct Keys<'a> {
    pub file: &'a Gguf,
    architecture: &'static str,
    asked: RefCell<BTreeSet<String>>,
}

impl<'a> Keys<'a> {
    pub fn new(file: &'a Gguf, architecture: &'static str) -> Self {
        Self { file, architecture, asked: RefCell::default() }
    }

    /// The whole name of a setting, which counts as asked for from now on.
    fn named(&self, key: &str) -> String {
        let key = format!("{}.{key}", self.architecture);
        self.asked.borrow_mut().insert(key.clone());
        key
    }

    pub fn contains(&self, key: &str) -> bool {
        self.file.contains_setting(&self.named(key))
    }

    pub fn wrong(&self, key: &str, expected: &'static str) -> GgufError {
        self.file.wrong(&self.named(key), expected)
    }

    pub fn text(&self, key: &str) -> GgufResult<Option<&'a str>> {
        let key = self.named(key);
        self.file.contains_setting(&key).then(|| self.file.text(&key)).transpose()
    }

    /// A number above 0.
    pub fn float(&self, key: &str) -> GgufResult<f64> {
        self.file.float(&self.named(key))
    }

    pub fn float_or(&self, key: &str, default: f64) -> GgufResult<f64> {
        if self.contains(key) { self.float(key) } else { Ok(default) }
    }

    /// A factor above 0; 0 is none, which is 1.
    pub fn factor_or(&self, key: &str, default: f64) -> GgufResult<f64> {
        match self.file.metadata().get(&self.named(key)) {
            Some(Value::Float(0.0)) => Ok(1.0),
            _ => self.float_or(key, default),
        }
    }

    /// A whole number above 0.
    pub fn positive(&self, key: &str) -> GgufResult<usize> {
        match self.file.size(&self.named(key)) {
            Ok(size) if size > 0 => Ok(size),
            _ => Err(self.wrong(key, "a whole number of 1 or more")),
        }
    }

    pub fn positive_or(&self, key: &str, default: usize) -> GgufResult<usize> {
        if self.contains(key) { self.positive(key) } else { Ok(default) }
    }

    /// A whole number above 0 that may be said once, or of each layer.
    pub fn same_for_all(&self, key: &str, default: Option<usize>) -> GgufResult<usize> {
        match (self.file.metadata().get(&self.named(key)), default) {
            (None, Some(default)) => Ok(default),
            (Some(Value::Wholes(each)), _) => {
                let first = each.first().filter(|first| each.iter().all(|n| n == *first));
                let size = first.and_then(|first| usize::try_from(*first).ok());
                let size = size.filter(|size| *size > 0);
                size.ok_or_else(|| self.wrong(key, "the same of 1 or more in each layer"))
            }
            _ => self.positive(key),
        }
    }

    pub fn refuse_unless_true(
        &self,
        key: &str,
        expected: &'static str,
    ) -> GgufResult<()> {
        match self.file.metadata().get(&self.named(key)) {
            None | Some(Value::Flag(true)) => Ok(()),
            Some(_) => Err(self.wrong(key, expected)),
        }
    }

    pub fn refuse_unless_0(&self, key: &str, expected: &'static str) -> GgufResult<()> {
        match self.contains(key) && self.file.size(&self.named(key))? > 0 {
            true => Err(self.wrong(key, expected)),
            false => Ok(()),
        }
    }

    /// The settings that were not asked for, and why each changes nothing; those of the
    /// vocabulary are asked for where a text is read.
    pub fn leftovers(&self) -> GgufResult<Vec<Unused>> {
        const READ: [&str; 3] =
            ["general.architecture", "general.alignment", "general.type"];
        let asked = self.asked.borrow();
        let prefix = format!("{}.", self.architecture);
        self.file.expect_known(|key| {
            let is_read = READ.contains(&key)
                || asked.contains(key)
                || key.starts_with("tokenizer.ggml.");
            match is_read {
                true => Some(Used),
                false => first_rule(&TABLE.keys, key.strip_prefix(&prefix)?),
            }
        })
    }
}
