//! What a file may have that changes nothing: lists of names, each with its reason.

use crate::{Error, Result, Settings, TensorFile, Unused};

/// A name that is known to change nothing of what is computed, and why.
///
/// In a name `#` stands for a number, and `*` for anything.
///
/// ```
/// use model_files::Harmless;
///
/// let mask = Harmless { name: "h.#.attn.bias", why: "a mask" };
/// assert!(mask.is("h.11.attn.bias"));
/// assert!(!mask.is("h.x.attn.bias"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Harmless {
    /// The name, or a pattern of names.
    pub name: &'static str,
    /// Why what has it may be left aside.
    pub why: &'static str,
}

impl Harmless {
    /// Whether this is its name.
    pub fn is(&self, name: &str) -> bool {
        matches(self.name.as_bytes(), name.as_bytes())
    }
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|n| matches(rest, &name[n..])),
        Some((b'#', rest)) => {
            let digits = name.iter().take_while(|c| c.is_ascii_digit()).count();
            digits > 0 && matches(rest, &name[digits..])
        }
        Some((c, rest)) => name.first() == Some(c) && matches(rest, &name[1..]),
    }
}

/// Why a name is harmless, by the first list that has it.
pub(crate) fn reason(lists: &[&[Harmless]], name: &str) -> Option<&'static str> {
    lists.iter().copied().flatten().find(|entry| entry.is(name)).map(|entry| entry.why)
}

/// The tensors of a file that are no part of a model: `is_read` says which are.
///
/// # Errors
/// [`Error::UnknownTensors`] for those that are on none of the lists of harmless names.
pub fn leftover_tensors(
    file: &TensorFile,
    is_read: impl Fn(&str) -> bool,
    prefix: &str,
    harmless: &[&[Harmless]],
) -> Result<Vec<Unused>> {
    let (mut leftovers, mut unknown) = (Vec::new(), Vec::new());
    for name in file.names().into_iter().filter(|name| !is_read(name)) {
        let short = name.strip_prefix(prefix).unwrap_or(&name);
        match reason(harmless, &name).or_else(|| reason(harmless, short)) {
            Some(why) => leftovers.push(Unused { name, why }),
            None => unknown.push(name),
        }
    }
    let Some(first) = unknown.first() else { return Ok(leftovers) };
    let cause = unknown.iter().find_map(|name| reason(&[CAUSES], name));
    let why = cause.unwrap_or(match first.ends_with(".bias") {
        true => "a bias that its settings say nothing of",
        false => "a part that is not known here",
    });
    Err(Error::UnknownTensors { file: file.name().to_string(), names: unknown, why })
}

/// Expects as many layers in a file as its settings say.
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
    let Some(last) = file.names().iter().filter_map(number).max() else { return Ok(()) };
    match last.saturating_add(1) {
        found if found == n_layers => Ok(()),
        found => Err(Error::Layers { file: file.name().to_string(), found, n_layers }),
    }
}

/// What some tensors mean that make a model another one.
const CAUSES: &[Harmless] = &[
    Harmless { name: "*.SCB", why: "its weights are quantised by bitsandbytes" },
    Harmless {
        name: "*.weight_format",
        why: "its weights are quantised by bitsandbytes",
    },
    Harmless {
        name: "*.quant_state.*",
        why: "its weights are quantised by bitsandbytes",
    },
    Harmless { name: "*.absmax", why: "its weights are quantised by bitsandbytes" },
    Harmless { name: "*.qweight", why: "its weights are quantised (GPTQ or AWQ)" },
    Harmless { name: "*.weight_scale*", why: "its weights are quantised" },
    Harmless {
        name: "*lora_*",
        why: "an adapter (LoRA) that is not merged into the weights",
    },
    Harmless {
        name: "*.experts.*",
        why: "experts; one feed-forward layer is computed here",
    },
    Harmless {
        name: "*inv_freq",
        why: "queries and keys are rotated by their positions",
    },
    Harmless { name: "*_norm.weight", why: "a norm that this family does not have here" },
    Harmless { name: "*crossattention*", why: "attention to another model's tokens" },
    Harmless {
        name: "*.relative_attention_bias.*",
        why: "positions relative to each other",
    },
    Harmless { name: "*.distance_embedding.*", why: "positions relative to each other" },
];

/// What some keys mean that make a model another one.
pub(crate) const KEY_CAUSES: &[Harmless] = &[
    Harmless {
        name: "quantization_config",
        why: "the weights are quantised, which is not read here: save them dequantised",
    },
    Harmless {
        name: "auto_map",
        why: "the model is computed by a program of its own, which is not run here",
    },
    Harmless {
        name: "*expert*",
        why: "one feed-forward layer for all tokens is computed",
    },
    Harmless { name: "*sliding_window*", why: "this family has no windows here" },
    Harmless { name: "is_causal", why: "which tokens are seen is the family's" },
];

const TRAINING: &str = "for training alone";
const GENERATION: &str = "how a text is written, and not what is computed";
const LABELS: &str = "for heads of other tasks";
const IDS: &str = "an id that is no part of what is computed";
const GIVEN: &str = "what is given out, and not what is computed";
const NOTES: &str = "a note on the files";

/// The keys of a `config.json` that change nothing in any family.
pub const COMMON_KEYS: &[Harmless] = &[
    Harmless { name: "*dropout*", why: TRAINING },
    Harmless { name: "*_pdrop", why: TRAINING },
    Harmless { name: "*layerdrop", why: TRAINING },
    Harmless { name: "initializer_*", why: TRAINING },
    Harmless { name: "gradient_checkpointing", why: TRAINING },
    Harmless { name: "use_cache", why: "caches change no number" },
    Harmless { name: "cache_implementation", why: "caches change no number" },
    Harmless {
        name: "pretraining_tp",
        why: "how products are cut, which changes nothing",
    },
    Harmless { name: "chunk_size_feed_forward", why: "how products are cut" },
    Harmless {
        name: "architectures",
        why: "which head is on top: heads are in the file",
    },
    Harmless { name: "torch_dtype", why: "the file says what its numbers are" },
    Harmless { name: "dtype", why: "the file says what its numbers are" },
    Harmless { name: "use_bfloat16", why: "the file says what its numbers are" },
    Harmless { name: "*_attn_implementation*", why: "which kernels compute it" },
    Harmless { name: "attn_implementation", why: "which kernels compute it" },
    Harmless { name: "_flash_attn_2_enabled", why: "which kernels compute it" },
    Harmless { name: "transformers_version", why: NOTES },
    Harmless { name: "transformers.js_config", why: NOTES },
    Harmless { name: "_name_or_path", why: NOTES },
    Harmless { name: "_commit_hash", why: NOTES },
    Harmless { name: "unsloth_*", why: NOTES },
    Harmless { name: "language", why: NOTES },
    Harmless { name: "torchscript", why: NOTES },
    Harmless { name: "tokenizer_class", why: NOTES },
    Harmless { name: "model_max_length", why: NOTES },
    Harmless { name: "model_type", why: NOTES },
    Harmless { name: "output_attentions", why: GIVEN },
    Harmless { name: "output_hidden_states", why: GIVEN },
    Harmless { name: "output_past", why: GIVEN },
    Harmless { name: "output_scores", why: GIVEN },
    Harmless { name: "return_dict*", why: GIVEN },
    Harmless { name: "keys_to_ignore_at_inference", why: NOTES },
    Harmless { name: "id2label", why: LABELS },
    Harmless { name: "label2id", why: LABELS },
    Harmless { name: "num_labels", why: LABELS },
    Harmless { name: "_num_labels", why: LABELS },
    Harmless { name: "problem_type", why: LABELS },
    Harmless { name: "finetuning_task", why: LABELS },
    Harmless { name: "task_specific_params", why: LABELS },
    Harmless { name: "summary_*", why: LABELS },
    Harmless { name: "classifier_*", why: LABELS },
    Harmless { name: "pooler_*", why: LABELS },
    Harmless { name: "tf_legacy_loss", why: TRAINING },
    Harmless { name: "bos_token_id", why: IDS },
    Harmless { name: "eos_token_id", why: IDS },
    Harmless { name: "pad_token_id", why: IDS },
    Harmless { name: "sep_token_id", why: IDS },
    Harmless { name: "cls_token_id", why: IDS },
    Harmless { name: "mask_token_id", why: IDS },
    Harmless { name: "unk_token_id", why: IDS },
    Harmless { name: "decoder_start_token_id", why: IDS },
    Harmless { name: "forced_*_token_id", why: IDS },
    Harmless { name: "max_length", why: GENERATION },
    Harmless { name: "min_length", why: GENERATION },
    Harmless { name: "max_new_tokens", why: GENERATION },
    Harmless { name: "do_sample", why: GENERATION },
    Harmless { name: "early_stopping", why: GENERATION },
    Harmless { name: "num_beams", why: GENERATION },
    Harmless { name: "num_beam_groups", why: GENERATION },
    Harmless { name: "num_return_sequences", why: GENERATION },
    Harmless { name: "diversity_penalty", why: GENERATION },
    Harmless { name: "temperature", why: GENERATION },
    Harmless { name: "top_k", why: GENERATION },
    Harmless { name: "top_p", why: GENERATION },
    Harmless { name: "typical_p", why: GENERATION },
    Harmless { name: "repetition_penalty", why: GENERATION },
    Harmless { name: "length_penalty", why: GENERATION },
    Harmless { name: "no_repeat_ngram_size", why: GENERATION },
    Harmless { name: "encoder_no_repeat_ngram_size", why: GENERATION },
    Harmless { name: "exponential_decay_length_penalty", why: GENERATION },
    Harmless { name: "bad_words_ids", why: GENERATION },
    Harmless { name: "suppress_tokens", why: GENERATION },
    Harmless { name: "begin_suppress_tokens", why: GENERATION },
    Harmless { name: "remove_invalid_values", why: GENERATION },
    Harmless { name: "prefix", why: GENERATION },
];

impl Settings {
    /// The keys that nobody has asked for, in the order of their names.
    ///
    /// Null, false, 0 and what is empty mean that something is off: they change nothing.
    ///
    /// # Errors
    /// [`Error::UnknownSetting`] for one that is on none of the lists of harmless keys.
    pub fn leftovers(&self, harmless: &[&[Harmless]]) -> Result<Vec<Unused>> {
        let mut leftovers = Vec::new();
        for (key, value) in self.unasked() {
            let why = reason(&[COMMON_KEYS], &key).or_else(|| reason(harmless, &key));
            let off = is_off(&value).then_some("it says that something is off");
            let Some(why) = why.or(off) else {
                let last = key.rsplit('.').next().unwrap_or_default();
                let why = reason(&[KEY_CAUSES], last).unwrap_or(
                    "a key that is not known here, and may change what the model \
                     computes: take it out if it does not",
                );
                let found = crate::settings::shown(&value);
                let file = self.file().to_string();
                return Err(Error::UnknownSetting { file, key, found, why });
            };
            leftovers.push(Unused { name: key, why });
        }
        Ok(leftovers)
    }
}

fn is_off(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Null => true,
        Value::Bool(is_on) => !is_on,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        Value::Object(entries) => entries.is_empty(),
    }
}
