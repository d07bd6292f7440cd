//! Settings that change nothing of what is computed, each with its reason.

use super::{Gguf, GgufError, GgufResult};
use crate::Unused;
use crate::harmless::{Harmless, reason};

/// # Source
/// <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md> says what they mean.
const HARMLESS: &[Harmless] = &[
    Harmless {
        name: "general.*",
        why: "what the model is called, and where it comes from",
    },
    Harmless { name: "quantize.*", why: "how its numbers were rounded" },
    Harmless { name: "mradermacher.*", why: "who rounded its numbers" },
    Harmless {
        name: "split.no",
        why: "which part of the model it is, which is known by now",
    },
    Harmless {
        name: "split.count",
        why: "in how many parts the model was, which is known by now",
    },
    Harmless {
        name: "split.tensors.count",
        why: "how many tensors all parts have, which is known by now",
    },
    Harmless {
        name: "tokenizer.chat_template*",
        why: "how a conversation becomes a text",
    },
    Harmless { name: "tokenizer.chat_templates", why: "how conversations become texts" },
    Harmless {
        name: "tokenizer.huggingface.json",
        why: "the same vocabulary in another format",
    },
];

impl Gguf {
    /// The settings that nobody asked for, and why each changes nothing.
    ///
    /// `is_read` says which were asked for; names on the list of harmless ones may go
    /// without `prefix`.
    ///
    /// # Errors
    /// [`GgufError::UnknownSetting`] for the first that may change something.
    pub fn leftover_settings(
        &self,
        is_read: impl Fn(&str) -> bool,
        prefix: &str,
        harmless: &[Harmless],
    ) -> GgufResult<Vec<Unused>> {
        let unread = self.metadata.iter().filter(|(key, _)| !is_read(key));
        let reasons = unread.map(|(key, value)| {
            let within =
                key.strip_prefix(prefix).and_then(|key| reason(&[harmless], key));
            let why = reason(&[HARMLESS], key).or(within);
            let (file, name) = (self.name.clone(), key.clone());
            match why {
                Some(why) => Ok(Unused { name, why }),
                None => Err(GgufError::UnknownSetting {
                    file,
                    key: name,
                    found: value.to_string(),
                    why: "what that changes is not known here",
                }),
            }
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
