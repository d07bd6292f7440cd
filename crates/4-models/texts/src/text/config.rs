//! What `tokenizer_config.json` says that a class does not build, and that may contradict.

use serde_json::Value;

use super::class::Class;
use super::companions::{Object, token_text};

/// # Errors
/// What the two files say that cannot both hold.
pub(super) fn check(
    class: Class,
    tokenizer: &Value,
    config: &Object,
) -> Result<(), String> {
    if config.get("split_special_tokens").and_then(Value::as_bool) == Some(true) {
        return Err("split_special_tokens is true, which is not done here".into());
    }
    added_tokens(class, tokenizer, config)
}

/// `added_tokens_decoder`: the same tokens under the same ids, in the same way. A class that
/// builds its parts has no others.
fn added_tokens(class: Class, tokenizer: &Value, config: &Object) -> Result<(), String> {
    let Some(tokens) = config.get("added_tokens_decoder").and_then(Value::as_object)
    else {
        return Ok(());
    };
    let none = Vec::new();
    let added = tokenizer["added_tokens"].as_array().unwrap_or(&none);
    for (id, token) in tokens {
        let is_it = |found: &&Value| {
            found["id"].as_u64().is_some_and(|found| id.parse() == Ok(found))
        };
        let Some(found) = added.iter().find(is_it) else {
            return Err(format!(
                "added_tokens_decoder has a token {id} that is not there"
            ));
        };
        for key in ["content", "single_word", "lstrip", "rstrip", "normalized", "special"]
        {
            let differs = token.get(key).is_some_and(|value| *value != found[key]);
            if differs {
                let [a, b] = [&token[key], &found[key]];
                return Err(format!("{key} of token {id} is {a} in it, and {b} there"));
            }
        }
    }
    let lacks = |found: &&Value| !tokens.contains_key(&found["id"].to_string());
    match added.iter().find(lacks) {
        Some(found) if class != Class::AsItIs => Err(format!(
            "added_tokens_decoder does not have the token {}, {}",
            found["id"], found["content"]
        )),
        _ => Ok(()),
    }
}

/// Compares `add_bos_token` and `add_eos_token` with what the tokenizer puts around a text:
/// `around` are the pieces of a text of one letter.
///
/// # Errors
/// What the two say that cannot both hold.
pub(super) fn check_ends(config: &Object, around: &[String]) -> Result<(), String> {
    let ends = [
        ("add_bos_token", "bos_token", around.first()),
        ("add_eos_token", "eos_token", around.last()),
    ];
    for (key, token, found) in ends {
        let Some(adds) = config.get(key).and_then(Value::as_bool) else { continue };
        let Some(token) = config.get(token).and_then(token_text) else { continue };
        if found.is_some_and(|found| found == token) != adds {
            let does = if adds { "does not put" } else { "puts" };
            return Err(format!(
                "{key} is {adds}, and the tokenizer {does} {token} there"
            ));
        }
    }
    Ok(())
}
