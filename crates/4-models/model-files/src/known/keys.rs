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
const CAUSES: &[Rule] = rules! {
    "quantization_config"
        => Refused("the weights are quantised, which is not read here: save them \
            dequantised"),
    "auto_map"
        => Refused("the model is computed by a program of its own, which is not run \
            here"),
    "*expert*" => Refused("one feed-forward layer for all tokens is computed"),
    "*sliding_window*" => Refused("this family has no windows here"),
    "is_causal" => Refused("which tokens are seen is the family's"),
};

const TRAINING: super::Use = Harmless("for training alone");
const NOTES: super::Use = Harmless("a note on the files");

/// The keys of a `config.json` that change nothing in any family.
pub const COMMON_KEYS: &[Rule] = rules! {
    "*dropout* *_pdrop *layerdrop initializer_* gradient_checkpointing" => TRAINING,
    "use_cache cache_implementation" => Harmless("caches change no number"),
    "pretraining_tp" => Harmless("how products are cut, which changes nothing"),
    "chunk_size_feed_forward" => Harmless("how products are cut"),
    "architectures" => Harmless("which head is on top: heads are in the file"),
    "torch_dtype dtype use_bfloat16" => Harmless("the file says what its numbers are"),
    "*_attn_implementation* attn_implementation _flash_attn_2_enabled"
        => Harmless("which kernels compute it"),
    "transformers_version transformers.js_config _name_or_path _commit_hash unsloth_* \
        language torchscript tokenizer_class model_max_length model_type"
        => NOTES,
    "output_attentions output_hidden_states output_past output_scores return_dict*"
        => Harmless("what is given out, and not what is computed"),
    "keys_to_ignore_at_inference" => NOTES,
    "id2label label2id num_labels _num_labels problem_type finetuning_task \
        task_specific_params summary_* classifier_* pooler_*"
        => Harmless("for heads of other tasks"),
    "tf_legacy_loss" => TRAINING,
    "bos_token_id eos_token_id pad_token_id sep_token_id cls_token_id mask_token_id \
        unk_token_id decoder_start_token_id forced_*_token_id"
        => Harmless("an id that is no part of what is computed"),
    "max_length min_length max_new_tokens do_sample early_stopping num_beams \
        num_beam_groups num_return_sequences diversity_penalty temperature top_k top_p \
        typical_p repetition_penalty length_penalty no_repeat_ngram_size \
        encoder_no_repeat_ngram_size exponential_decay_length_penalty bad_words_ids \
        suppress_tokens begin_suppress_tokens remove_invalid_values prefix"
        => Harmless("how a text is written, and not what is computed"),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is downloaded may have any name for a key.
    #[test]
    fn a_key_is_shown_without_what_moves_the_cursor() {
        let json = r#"{"\u001b]0;owned\u0007\u001b[31m": 1, "\u202e": {"\u009b": 2}}"#;
        let settings = Settings::read("config.json", json.as_bytes()).unwrap();
        let refused = settings.leftovers(&[]).unwrap_err().to_string();
        assert!(
            refused.starts_with(r"config.json: \u{1b}]0;owned\u{7}\u{1b}[31m is 1: ")
        );
        let refused = settings.positive("\u{202e}").unwrap_err().to_string();
        assert!(
            refused.starts_with(r#"config.json: \u{202e} is {"\u{9b}":2}, "#),
            "{refused}"
        );
    }
}
