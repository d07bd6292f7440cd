//! What a safetensors file's metadata says: equal to what is computed, a note, or refused.
//!
//! Metadata is free text, so a key that nobody knows is a note. But one that says something
//! of attention or of a model has to say what is computed here.

use serde_json::Value;
use tensors::TensorFile;

use super::facts::{Fact, fact, words};
use super::{COMMON_KEYS, Unused, first_rule, says_no};
use crate::{Error, Result};

/// What a key of metadata says of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<'a> {
    /// Of what it says something.
    pub fact: Fact,
    /// The key, that of an object within behind its own and a dot.
    pub key: &'a str,
    /// What it says.
    pub text: &'a str,
}

impl Claim<'_> {
    /// Whether it says this number.
    pub fn is_number(&self, n: usize) -> bool {
        self.text.trim().parse() == Ok(n)
    }

    /// Whether it says that something is so (or not, of `false`).
    pub fn is_flag(&self, flag: bool) -> bool {
        match flag {
            true => ["true", "yes", "1", "on"].contains(&self.plain().as_str()),
            false => says_no(self.text),
        }
    }

    /// Whether its text is one of these words, but for capitals and what is no letter or
    /// digit.
    pub fn is_one_of(&self, words: &str) -> bool {
        words.split(' ').any(|word| word == self.plain())
    }

    /// Its letters and digits, small.
    pub fn plain(&self) -> String {
        let plain = self.text.chars().filter(|c| c.is_alphanumeric());
        plain.flat_map(char::to_lowercase).collect()
    }

    /// Whether it says what every reader computes, or that something is off.
    pub fn is_usual(&self) -> bool {
        const FLOATS: &str = "float64 float32 float16 bfloat16 f64 f32 f16 bf16 fp64 fp32 fp16 \
            double float half torchfloat64 torchfloat32 torchfloat16 torchbfloat16";
        let is_off_or = |words: &str| says_no(self.text) || self.is_one_of(words);
        match self.fact {
            Fact::BatchFirst => self.is_flag(true),
            Fact::Dtype => self.is_one_of(FLOATS),
            Fact::Positions => is_off_or("absolute learned sinusoidal default"),
            Fact::Scores => is_off_or("softmax full multihead scaleddotproduct"),
            Fact::Transposed => is_off_or("qkv outin rowmajor batchfirst btc ntc bld"),
            _ => says_no(self.text),
        }
    }
}

/// Asks of what the file's metadata says of a model whether that is what is computed;
/// none of `is_so` is of what has no part in that. Gives what is a note.
///
/// # Errors
/// [`Error::Metadata`] with what is not so.
pub fn expect_metadata(
    file: &TensorFile,
    is_so: impl Fn(&Claim<'_>) -> Option<bool>,
) -> Result<Vec<Unused>> {
    const NOTE: &str = "a note in the file's metadata";
    let mut notes = Vec::new();
    for (key, text) in file.texts() {
        if key.contains('.') && file.contains(text) {
            let why = "another name of a tensor, in the file's metadata";
            notes.push(Unused { name: key.to_string(), why });
            continue;
        }
        let mut is_note = true;
        for (key, text, of_config) in claimed(key, text) {
            let refused = |why| {
                let (file, key) = (file.name().to_string(), key.clone());
                Err(Error::Metadata { file, key, found: text.clone(), why })
            };
            let claim = |fact| Claim { fact, key: &key, text: &text };
            match fact(&key).map(|fact| (fact, is_so(&claim(fact)))) {
                Some((fact, Some(false))) => return refused(fact.why()),
                Some((_, Some(true))) => is_note = false,
                Some((_, None)) => {}
                None if of_config && !is_harmless_setting(&key, &text) => {
                    return refused("a setting that is not known here");
                }
                None => {}
            }
        }
        if is_note {
            notes.push(Unused { name: key.to_string(), why: NOTE });
        }
    }
    Ok(notes)
}

/// What a key says: itself, or where its text is an object in JSON, what each key within
/// says. With each whether it is one of settings, of which none may be unknown.
fn claimed(key: &str, text: &str) -> Vec<(String, String, bool)> {
    let is_settings = ["config", "settings", "hparams", "hyperparameters", "kwargs"];
    let is_settings =
        is_settings.iter().any(|word| words(key).ends_with(&format!("_{word}_")));
    match serde_json::from_str(text) {
        Ok(object @ Value::Object(_)) => {
            let mut within = Vec::new();
            collect(key, &object, &mut within);
            within.into_iter().map(|(key, text)| (key, text, is_settings)).collect()
        }
        // In another notation: nobody knows what it says.
        _ => vec![(key.into(), text.into(), is_settings && text.contains(['{', '=']))],
    }
}

fn collect(key: &str, value: &Value, into: &mut Vec<(String, String)>) {
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                collect(&format!("{key}.{name}"), value, into);
            }
        }
        Value::String(text) => into.push((key.into(), text.clone())),
        value => into.push((key.into(), value.to_string())),
    }
}

/// Whether a setting that is no fact changes nothing, or tensors have it in their shapes.
fn is_harmless_setting(key: &str, text: &str) -> bool {
    const SIZES: &str = "vocab_size type_vocab_size intermediate_size dim_feedforward d_ff \
        max_position_embeddings layer_norm_eps rms_norm_eps eps bias kdim vdim name";
    let last = key.rsplit('.').next().unwrap_or(key);
    let is_off = says_no(text) || ["[]", "{}"].contains(&text);
    is_off
        || SIZES.split(' ').any(|it| it == last)
        || first_rule(COMMON_KEYS, last).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tensor_file;

    fn claim_words(key: &str, text: &str) -> String {
        let file = tensor_file(&[("one", &[1])], &[(key, text)]);
        let of = |claim: &Claim<'_>| match claim.fact {
            Fact::Heads => Some(claim.is_number(2)),
            Fact::Activation => None,
            _ => Some(claim.is_usual()),
        };
        match expect_metadata(&file, of) {
            Ok(notes) => {
                notes.iter().map(|it| format!("{}: {}", it.name, it.why)).collect()
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_metadata_says_is_so_or_a_note_or_refused() {
        insta::assert_snapshot!(claim_words("num_heads", "2"), @"");
        insta::assert_snapshot!(claim_words("num_heads", "4"), @"some.file: its metadata has num_heads: 4, and the number of heads here is another");
        insta::assert_snapshot!(claim_words("batch_first", "maybe"), @"some.file: its metadata has batch_first: maybe, and the batch is read as the first dimension here");
        insta::assert_snapshot!(claim_words("activation", "relu"), @"activation: a note in the file's metadata");
        insta::assert_snapshot!(claim_words("licence", "MIT"), @"licence: a note in the file's metadata");
        insta::assert_snapshot!(claim_words("dtype", "torch.float32"), @"");
        insta::assert_snapshot!(claim_words("dtype", "int8"), @"some.file: its metadata has dtype: int8, and numbers of that kind are not read here");
        insta::assert_snapshot!(claim_words("other.weight", "one"), @"other.weight: another name of a tensor, in the file's metadata");
        insta::assert_snapshot!(claim_words("scale", "one"), @"some.file: its metadata has scale: one, and scores are scaled by another number here");
    }

    #[test]
    fn settings_within_are_asked_too() {
        insta::assert_snapshot!(claim_words("config", r#"{"num_heads": 2, "vocab_size": 9}"#), @"");
        insta::assert_snapshot!(claim_words("config", r#"{"num_heads": 2, "rope": {"theta": 1e4}}"#), @"some.file: its metadata has config.rope.theta: 10000.0, and such positions are not computed here");
        insta::assert_snapshot!(claim_words("config", r#"{"kernel": "elu"}"#), @"some.file: its metadata has config.kernel: elu, a setting that is not known here");
        insta::assert_snapshot!(claim_words("config", "{'num_heads': 4}"), @"some.file: its metadata has config: {'num_heads': 4}, a setting that is not known here");
        insta::assert_snapshot!(claim_words("config", "bert-base.yaml"), @"config: a note in the file's metadata");
        insta::assert_snapshot!(claim_words("authors", r#"{"first": "A"}"#), @"authors: a note in the file's metadata");
    }
}
