//! The tensors of a model.

use super::{Rule, Unused, Use::Harmless, Use::Refused, first_rule};
use crate::{Error, Result, TensorFile};

impl TensorFile {
    /// The tensors that are known to be no part of a model; a name may stand behind `prefix`.
    pub fn harmless(&self, prefix: &str, rules: &[Rule]) -> Vec<Unused> {
        let of = |name: String| {
            let why = why_harmless(&name, prefix, rules)?;
            Some(Unused { name, why })
        };
        self.names().into_iter().filter_map(of).collect()
    }

    /// Refuses what is neither read, as `is_read` says of a name, nor harmless.
    ///
    /// # Errors
    /// [`Error::UnknownTensors`] with all of these, and what they mean where that is known.
    pub fn refuse_unread(
        &self,
        is_read: impl Fn(&str) -> bool,
        prefix: &str,
        rules: &[Rule],
    ) -> Result<()> {
        let mut names = self.names();
        names
            .retain(|name| !is_read(name) && why_harmless(name, prefix, rules).is_none());
        let Some(first) = names.first() else { return Ok(()) };
        let causes = names.iter().filter_map(|name| first_rule(CAUSES, name));
        let why = match causes.into_iter().next() {
            Some(Refused(why)) => why,
            _ if first.ends_with(".bias") => "a bias that its settings say nothing of",
            _ => "a part that is not known here",
        };
        Err(Error::UnknownTensors { file: self.name().to_string(), names, why })
    }

    /// Expects as many layers as a model's settings say.
    ///
    /// `block` is what stands before a layer's number in the names of its tensors. A file in
    /// which no name begins so is left to what reads its tensors: its names are others.
    ///
    /// # Errors
    /// [`Error::Layers`] with both numbers.
    pub fn expect_layers(&self, block: &str, n_layers: usize) -> Result<()> {
        let number = |name: &String| -> Option<usize> {
            name.strip_prefix(block)?.split('.').next()?.parse().ok()
        };
        let Some(last) = self.names().iter().filter_map(number).max() else {
            return Ok(());
        };
        match last.saturating_add(1) {
            found if found == n_layers => Ok(()),
            found => {
                Err(Error::Layers { file: self.name().to_string(), found, n_layers })
            }
        }
    }
}

fn why_harmless(name: &str, prefix: &str, rules: &[Rule]) -> Option<&'static str> {
    let short = name.strip_prefix(prefix).unwrap_or(name);
    match first_rule(rules, name).or_else(|| first_rule(rules, short)) {
        Some(Harmless(why)) => Some(why),
        _ => None,
    }
}

const BITS_AND_BYTES: super::Use = Refused("its weights are quantised by bitsandbytes");
const RELATIVE: super::Use = Refused("positions relative to each other");

/// What some tensors mean that make a model another one.
const CAUSES: &[Rule] = &[
    Rule("*.SCB", BITS_AND_BYTES),
    Rule("*.weight_format", BITS_AND_BYTES),
    Rule("*.quant_state.*", BITS_AND_BYTES),
    Rule("*.absmax", BITS_AND_BYTES),
    Rule("*.qweight", Refused("its weights are quantised (GPTQ or AWQ)")),
    Rule("*.weight_scale*", Refused("its weights are quantised")),
    Rule("*lora_*", Refused("an adapter (LoRA) that is not merged into the weights")),
    Rule("*.experts.*", Refused("experts; one feed-forward layer is computed here")),
    Rule("*inv_freq", Refused("queries and keys are rotated by their positions")),
    Rule("*_norm.weight", Refused("a norm that this family does not have here")),
    Rule("*crossattention*", Refused("attention to another model's tokens")),
    Rule("*.relative_attention_bias.*", RELATIVE),
    Rule("*.distance_embedding.*", RELATIVE),
];
