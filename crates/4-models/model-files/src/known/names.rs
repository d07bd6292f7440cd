//! The tensors of a model.

use tensors::TensorFile;

use super::{Rule, Unused, Use::Harmless, Use::Refused, first_rule};
use crate::{Error, Result};

/// The tensors that are known to be no part of a model; a name may stand behind `prefix`.
pub fn harmless(file: &TensorFile, prefix: &str, rules: &[Rule]) -> Vec<Unused> {
    let of = |name: String| {
        let why = why_harmless(&name, prefix, rules)?;
        Some(Unused { name, why })
    };
    file.names().into_iter().filter_map(of).collect()
}

/// Refuses what is neither read, as `is_read` says of a name, nor harmless.
///
/// # Errors
/// [`Error::UnknownTensors`] with all of these, and what they mean where that is known.
pub fn refuse_unread(
    file: &TensorFile,
    is_read: impl Fn(&str) -> bool,
    prefix: &str,
    rules: &[Rule],
) -> Result<()> {
    let mut names = file.names();
    names.retain(|name| !is_read(name) && why_harmless(name, prefix, rules).is_none());
    if names.is_empty() {
        return Ok(());
    }
    let causes = names.iter().filter_map(|name| first_rule(CAUSES, name));
    let is_bias = |name: &String| name.ends_with(".bias");
    let why = match causes.into_iter().next() {
        Some(Refused(why)) => why,
        _ if names.iter().all(is_bias) => "biases that its settings say nothing of",
        _ => "a part that is not known here",
    };
    Err(Error::UnknownTensors { file: file.name().to_string(), names, why })
}

/// Refuses weights that are not plain: where they are packed, or another's are added, the
/// tensors that would be read are missing or of another shape, and that is no cause.
///
/// # Errors
/// [`Error::UnknownTensors`] with those that say so.
pub fn refuse_packed(file: &TensorFile) -> Result<()> {
    let of = |name: &String| first_rule(PACKED, name);
    let mut names = file.names();
    names.retain(|name| of(name).is_some());
    match names.first().and_then(of) {
        Some(Refused(why)) => {
            Err(Error::UnknownTensors { file: file.name().to_string(), names, why })
        }
        _ => Ok(()),
    }
}

/// Expects as many layers as a model's settings say.
///
/// `block` is what stands before a layer's number in the names of its tensors. A file in
/// which no name begins so is left to what reads its tensors: its names are others.
///
/// # Errors
/// [`Error::Layers`] with both numbers.
pub fn expect_layers(file: &TensorFile, block: &str, n_layers: usize) -> Result<()> {
    let number = |name: &String| -> Option<usize> {
        name.strip_prefix(block)?.split('.').next()?.parse().ok()
    };
    let Some(last) = file.names().iter().filter_map(number).max() else {
        return Ok(());
    };
    match last.saturating_add(1) {
        found if found == n_layers => Ok(()),
        found => Err(Error::Layers { file: file.name().to_string(), found, n_layers }),
    }
}

fn why_harmless(name: &str, prefix: &str, rules: &[Rule]) -> Option<&'static str> {
    let short = name.strip_prefix(prefix).unwrap_or(name);
    match first_rule(rules, name).or_else(|| first_rule(rules, short)) {
        Some(Harmless(why)) => Some(why),
        _ => None,
    }
}

/// What some tensors say of the weights beside them.
const PACKED: &[Rule] = rules! {
    "*.SCB *.weight_format *.quant_state.* *.absmax"
        => Refused("its weights are quantised by bitsandbytes"),
    "*.qweight" => Refused("its weights are quantised (GPTQ or AWQ)"),
    "*.weight_scale*" => Refused("its weights are quantised"),
    "*_proj.scales *_proj.biases" => Refused("its weights are quantised (MLX)"),
    "*lora_* *.base_layer.*"
        => Refused("an adapter (LoRA) that is not merged into the weights"),
    "*.experts.*" => Refused("experts; one feed-forward layer is computed here"),
    "*.qkv_proj.*"
        => Refused("queries, keys and values in one matrix, which are apart in this \
            family"),
};

/// What some tensors mean that make a model another one.
const CAUSES: &[Rule] = rules! {
    "*inv_freq" => Refused("queries and keys are rotated by their positions"),
    "*_norm.weight" => Refused("a norm that this family does not have here"),
    "*crossattention*" => Refused("attention to another model's tokens"),
    "*.relative_attention_bias.* *.distance_embedding.*"
        => Refused("positions relative to each other"),
};
