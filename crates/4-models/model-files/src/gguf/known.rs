//! Settings that change nothing of what is computed, each with its reason.

use super::{Gguf, GgufError, GgufResult};
use crate::Use::{self, Harmless};
use crate::{Rule, Unused, first_rule};

/// # Source
/// <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md> says what they mean.
const RULES: &[Rule] = &[
    Rule("general.*", Harmless("what the model is called, and where it comes from")),
    Rule("quantize.*", Harmless("how its numbers were rounded")),
    Rule("mradermacher.*", Harmless("who rounded its numbers")),
    Rule("split.no", Harmless("which part of the model it is, which is known by now")),
    Rule(
        "split.count",
        Harmless("in how many parts the model was, which is known by now"),
    ),
    Rule(
        "split.tensors.count",
        Harmless("how many tensors all parts have, which is known by now"),
    ),
    Rule("tokenizer.chat_template*", Harmless("how a conversation becomes a text")),
    Rule("tokenizer.chat_templates", Harmless("how conversations become texts")),
    Rule("tokenizer.huggingface.json", Harmless("the same vocabulary in another format")),
];

impl Gguf {
    /// Asks of every setting what a reader does with it; gives what is harmless and not used.
    /// What is on the list of this file need not be on the reader's.
    ///
    /// # Errors
    /// [`GgufError::UnknownSetting`] for the first that may change something.
    pub fn expect_known(
        &self,
        of: impl Fn(&str) -> Option<Use>,
    ) -> GgufResult<Vec<Unused>> {
        let mut unused = Vec::new();
        for (key, value) in &self.metadata {
            let why = match of(key).or_else(|| first_rule(RULES, key)) {
                Some(Use::Used) => continue,
                Some(Harmless(why)) => {
                    unused.push(Unused { name: key.clone(), why });
                    continue;
                }
                Some(Use::Refused(why)) => why,
                None => "what that changes is not known here",
            };
            let (file, found) = (self.name.clone(), value.to_string());
            return Err(GgufError::UnknownSetting { file, key: key.clone(), found, why });
        }
        Ok(unused)
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
