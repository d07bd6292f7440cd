//! Settings that change nothing of what is computed, each with its reason.

use super::{Gguf, GgufError, GgufResult};

/// A setting by its name, or the start of some before a `*`, and why it may be left aside.
///
/// # Source
/// <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md> says what they mean.
const HARMLESS: &[(&str, &str)] = &[
    ("general.*", "what the model is called, and where it comes from"),
    ("quantize.*", "how its numbers were rounded"),
    ("mradermacher.*", "who rounded its numbers"),
    ("split.no", "which part of the model it is, which is known by now"),
    ("split.count", "in how many parts the model was, which is known by now"),
    ("split.tensors.count", "how many tensors all parts have, which is known by now"),
    ("tokenizer.chat_template*", "how a conversation becomes a text"),
    ("tokenizer.chat_templates", "how conversations become texts"),
    ("tokenizer.huggingface.json", "the same vocabulary in another format"),
];

/// Why a setting is harmless, by a list that may have it.
pub fn reason(list: &[(&'static str, &'static str)], key: &str) -> Option<&'static str> {
    let is = |name: &str| match name.strip_suffix('*') {
        Some(start) => key.starts_with(start),
        None => key == name,
    };
    list.iter().find(|(name, _)| is(name)).map(|(_, why)| *why)
}

impl Gguf {
    /// The settings that nobody asked for, by name, and why each changes nothing.
    ///
    /// `is_read` says which were asked for, `harmless` why others may be left aside.
    ///
    /// # Errors
    /// [`GgufError::UnknownSetting`] for the first that may change something.
    pub fn unused_settings(
        &self,
        is_read: impl Fn(&str) -> bool,
        harmless: impl Fn(&str) -> Option<&'static str>,
    ) -> GgufResult<Vec<(String, &'static str)>> {
        let unread = self.metadata.iter().filter(|(key, _)| !is_read(key));
        let reasons = unread.map(|(key, value)| {
            let why = reason(HARMLESS, key).or_else(|| harmless(key));
            let why = why.ok_or_else(|| GgufError::UnknownSetting {
                file: self.name.clone(),
                key: key.clone(),
                found: value.to_string(),
                why: "what that changes is not known here",
            })?;
            Ok((key.clone(), why))
        });
        reasons.collect()
    }

    /// Refuses tensors from which nothing is read.
    ///
    /// # Errors
    /// [`GgufError::UnknownTensors`] with their names.
    pub fn refuse_unread(&self, is_read: impl Fn(&str) -> bool) -> GgufResult<()> {
        let unread = self.tensors.keys().filter(|name| !is_read(name));
        match unread.cloned().collect::<Vec<_>>() {
            tensors if tensors.is_empty() => Ok(()),
            tensors => {
                Err(GgufError::UnknownTensors { file: self.name.clone(), tensors })
            }
        }
    }
}
