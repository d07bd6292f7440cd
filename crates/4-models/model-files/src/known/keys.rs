//! The keys of a `config.json`.

use serde_json::Value;

use super::{Rule, Unused, Use::Harmless, Use::Refused, first_rule};
use crate::{Error, Result, Settings};

impl Settings {
    /// The keys that nobody has asked for, in the order of their names; `rules` are those of
    /// the family, beside what holds in every one.
    ///
    /// Null, false, 0 and what is empty mean that something is off: they change nothing.
    ///
    /// # Errors
    /// [`Error::UnknownSetting`] for one that is not known to be harmless.
    pub fn leftovers(&self, rules: &[Rule]) -> Result<Vec<Unused>> {
        let mut leftovers = Vec::new();
        for (name, value) in self.unasked() {
            let known =
                first_rule(COMMON_KEYS, &name).or_else(|| first_rule(rules, &name));
            let off = is_off(&value).then_some(Harmless("it says that something is off"));
            let last = name.rsplit('.').next().unwrap_or_default();
            let why = match known.or(off).or_else(|| first_rule(CAUSES, last)) {
                Some(Harmless(why)) => {
                    leftovers.push(Unused { name, why });
                    continue;
                }
                Some(Refused(why)) => why,
                _ => UNKNOWN,
            };
            let (file, found) =
                (self.file().to_string(), crate::settings::value_text(&value));
            return Err(Error::UnknownSetting { file, key: name, found, why });
        }
        Ok(leftovers)
    }
}

fn is_off(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is_on) => !is_on,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        Value::Object(entries) => entries.is_empty(),
    }
}

const UNKNOWN: &str = "a key that is not known here, and may change what the model \
                       computes: take it out if it does not";

/// What some keys mean that make a model another one.
const CAUSES: &[Rule] = &[
    Rule(
        "quantization_config",
        Refused(
            "the weights are quantised, which is not read here: save them dequantised",
        ),
    ),
    Rule(
        "auto_map",
        Refused("the model is computed by a program of its own, which is not run here"),
    ),
    Rule("*expert*", Refused("one feed-forward layer for all tokens is computed")),
    Rule("*sliding_window*", Refused("this family has no windows here")),
    Rule("is_causal", Refused("which tokens are seen is the family's")),
];

const TRAINING: super::Use = Harmless("for training alone");
const GENERATION: super::Use =
    Harmless("how a text is written, and not what is computed");
const LABELS: super::Use = Harmless("for heads of other tasks");
const IDS: super::Use = Harmless("an id that is no part of what is computed");
const GIVEN: super::Use = Harmless("what is given out, and not what is computed");
const NOTES: super::Use = Harmless("a note on the files");

/// The keys of a `config.json` that change nothing in any family.
pub const COMMON_KEYS: &[Rule] = &[
    Rule("*dropout*", TRAINING),
    Rule("*_pdrop", TRAINING),
    Rule("*layerdrop", TRAINING),
    Rule("initializer_*", TRAINING),
    Rule("gradient_checkpointing", TRAINING),
    Rule("use_cache", Harmless("caches change no number")),
    Rule("cache_implementation", Harmless("caches change no number")),
    Rule("pretraining_tp", Harmless("how products are cut, which changes nothing")),
    Rule("chunk_size_feed_forward", Harmless("how products are cut")),
    Rule("architectures", Harmless("which head is on top: heads are in the file")),
    Rule("torch_dtype", Harmless("the file says what its numbers are")),
    Rule("dtype", Harmless("the file says what its numbers are")),
    Rule("use_bfloat16", Harmless("the file says what its numbers are")),
    Rule("*_attn_implementation*", Harmless("which kernels compute it")),
    Rule("attn_implementation", Harmless("which kernels compute it")),
    Rule("_flash_attn_2_enabled", Harmless("which kernels compute it")),
    Rule("transformers_version", NOTES),
    Rule("transformers.js_config", NOTES),
    Rule("_name_or_path", NOTES),
    Rule("_commit_hash", NOTES),
    Rule("unsloth_*", NOTES),
    Rule("language", NOTES),
    Rule("torchscript", NOTES),
    Rule("tokenizer_class", NOTES),
    Rule("model_max_length", NOTES),
    Rule("model_type", NOTES),
    Rule("output_attentions", GIVEN),
    Rule("output_hidden_states", GIVEN),
    Rule("output_past", GIVEN),
    Rule("output_scores", GIVEN),
    Rule("return_dict*", GIVEN),
    Rule("keys_to_ignore_at_inference", NOTES),
    Rule("id2label", LABELS),
    Rule("label2id", LABELS),
    Rule("num_labels", LABELS),
    Rule("_num_labels", LABELS),
    Rule("problem_type", LABELS),
    Rule("finetuning_task", LABELS),
    Rule("task_specific_params", LABELS),
    Rule("summary_*", LABELS),
    Rule("classifier_*", LABELS),
    Rule("pooler_*", LABELS),
    Rule("tf_legacy_loss", TRAINING),
    Rule("bos_token_id", IDS),
    Rule("eos_token_id", IDS),
    Rule("pad_token_id", IDS),
    Rule("sep_token_id", IDS),
    Rule("cls_token_id", IDS),
    Rule("mask_token_id", IDS),
    Rule("unk_token_id", IDS),
    Rule("decoder_start_token_id", IDS),
    Rule("forced_*_token_id", IDS),
    Rule("max_length", GENERATION),
    Rule("min_length", GENERATION),
    Rule("max_new_tokens", GENERATION),
    Rule("do_sample", GENERATION),
    Rule("early_stopping", GENERATION),
    Rule("num_beams", GENERATION),
    Rule("num_beam_groups", GENERATION),
    Rule("num_return_sequences", GENERATION),
    Rule("diversity_penalty", GENERATION),
    Rule("temperature", GENERATION),
    Rule("top_k", GENERATION),
    Rule("top_p", GENERATION),
    Rule("typical_p", GENERATION),
    Rule("repetition_penalty", GENERATION),
    Rule("length_penalty", GENERATION),
    Rule("no_repeat_ngram_size", GENERATION),
    Rule("encoder_no_repeat_ngram_size", GENERATION),
    Rule("exponential_decay_length_penalty", GENERATION),
    Rule("bad_words_ids", GENERATION),
    Rule("suppress_tokens", GENERATION),
    Rule("begin_suppress_tokens", GENERATION),
    Rule("remove_invalid_values", GENERATION),
    Rule("prefix", GENERATION),
];
