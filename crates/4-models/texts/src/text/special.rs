//! The tokens that the files beside a `tokenizer.json` speak of.

use serde_json::Value;

use super::class::Class;
use super::companions::{Companions, token_text};

/// The keys of the tokens that have a part to play, in the order in which AutoTokenizer adds
/// those that are missing.
const PARTS: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

/// What each class takes where no file says anything, in the order of [`PARTS`].
///
/// # Source
/// The parameters of each class's `__init__` in transformers 5.24.
fn defaults(class: Class) -> [&'static str; 7] {
    match class {
        Class::AsItIs => ["", "", "", "", "", "", ""],
        Class::Bert => ["", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"],
        Class::Roberta | Class::XlmRoberta | Class::Camembert => {
            ["<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"]
        }
        Class::Gpt2 => [END, END, END, "", "", "", ""],
        Class::NeoX => [END, END, END, "", "<|padding|>", "", ""],
        Class::Qwen2 => ["", END, END, "", END, "", ""],
        Class::Llama => ["<s>", "</s>", "<unk>", "", "", "", ""],
        Class::T5 => ["", "</s>", "<unk>", "", "<pad>", "", ""],
        Class::Gemma => ["<bos>", "<eos>", "<unk>", "", "<pad>", "", "<mask>"],
    }
}

const END: &str = "<|endoftext|>";

/// The token for a part, by its key; none where a file says `null`, or nothing and the class
/// has none either.
pub(super) fn token<'a>(
    class: Class,
    beside: &'a Companions,
    key: &str,
) -> Option<&'a str> {
    match beside.setting(key) {
        Some((value, _)) => token_text(value),
        None => {
            let at = PARTS.iter().position(|part| *part == key)?;
            Some(defaults(class)[at]).filter(|token| !token.is_empty())
        }
    }
}

/// The special tokens of a class, which it adds where `tokenizer.json` has not.
pub(super) fn added_by(class: Class, beside: &Companions) -> Vec<&str> {
    let parts = PARTS.iter().filter_map(|key| token(class, beside, key));
    let mut listed: Vec<_> =
        listed(beside).into_iter().map(|(_, token, _)| token).collect();
    if class == Class::Camembert && listed.is_empty() {
        listed.extend(["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"]);
    }
    parts.chain(listed).filter(|token| !token.is_empty()).collect()
}

/// Whether every token that a file speaks of is one that `tokenizer.json` has added: if not,
/// AutoTokenizer adds it, and gives it a new id or finds it within words.
///
/// # Errors
/// The file, and the token that is missing.
pub(super) fn check<'a>(
    tokenizer: &Value,
    beside: &'a Companions,
) -> Result<(), (&'a str, String)> {
    let none = Vec::new();
    let added = tokenizer["added_tokens"].as_array().unwrap_or(&none);
    let find = |token: &str| added.iter().find(|found| found["content"] == token);
    let named = beside.keys().filter(|key| key.ends_with("_token"));
    let named = named.filter_map(|key| {
        let (value, file) = beside.setting(key)?;
        Some((key.as_str(), token_text(value)?, file))
    });
    for (key, token, file) in named.chain(listed(beside)) {
        if !token.is_empty() && find(token).is_none() {
            return Err((file, missing(key, token)));
        }
    }
    for (token, id) in &beside.added.keys {
        let why = match find(token) {
            None => missing("a token", token),
            Some(found) if found["id"] != *id => {
                format!("{token} has the id {id} in it, and {} there", found["id"])
            }
            Some(_) => continue,
        };
        return Err((&beside.added.name, why));
    }
    Ok(())
}

fn missing(key: &str, token: &str) -> String {
    format!(
        "{key} is {token}, which is none of the added_tokens there: load the tokenizer and \
         save it anew with save_pretrained"
    )
}

/// The special tokens that have no part: a list or, with names, an object.
fn listed(beside: &Companions) -> Vec<(&str, &str, &str)> {
    let tokens = |key: &'static str| -> Vec<_> {
        let Some((value, file)) = beside.setting(key) else { return Vec::new() };
        let texts: Vec<&str> = match value {
            Value::Array(tokens) => tokens.iter().filter_map(token_text).collect(),
            Value::Object(tokens) => tokens.values().filter_map(token_text).collect(),
            _ => Vec::new(),
        };
        texts.into_iter().map(|token| (key, token, file)).collect()
    };
    let listed = tokens("extra_special_tokens");
    match listed.is_empty() {
        true => tokens("additional_special_tokens"),
        false => listed,
    }
}
