//! `tokenizer_config.json`, which stands beside `tokenizer.json` and may contradict it.
//!
//! AutoTokenizer reads both. Where the newer file of the two decides in a way that can be
//! written into `tokenizer.json`, it is followed; any other contradiction is refused.

use serde_json::{Map, Value, json};

use super::guard::each_object;

type Object = Map<String, Value>;

/// What of `tokenizer_config.json` is followed, written into the tokenizer.
///
/// # Errors
/// What the two say that cannot both hold.
pub(super) fn follow(tokenizer: &mut Value, config: &Value) -> Result<(), String> {
    let Some(config) = config.as_object() else {
        return Err("it is no object in JSON".into());
    };
    if config.get("split_special_tokens").and_then(Value::as_bool) == Some(true) {
        return Err("split_special_tokens is true, which is not done here".into());
    }
    normalizer(&mut tokenizer["normalizer"], config)?;
    prefix_space(tokenizer, config)?;
    added_tokens(tokenizer, config)
}

/// `do_lower_case`, `strip_accents` and `tokenize_chinese_chars`.
fn normalizer(normalizer: &mut Value, config: &Object) -> Result<(), String> {
    let class = config.get("tokenizer_class").and_then(Value::as_str).unwrap_or_default();
    let lowers = config.get("do_lower_case").and_then(Value::as_bool);
    if normalizer["type"] == "BertNormalizer" {
        let is_cased = normalizer["lowercase"] == false;
        if lowers.is_none() && is_cased && class.starts_with("BertTokenizer") {
            return Err(
                "it does not have do_lower_case, and lowercases without it".into()
            );
        }
        let keys = [
            ("do_lower_case", "lowercase"),
            ("strip_accents", "strip_accents"),
            ("tokenize_chinese_chars", "handle_chinese_chars"),
        ];
        for (from, to) in keys {
            if let Some(value) = config.get(from) {
                normalizer[to] = value.clone();
            }
        }
        return Ok(());
    }
    let Some(lowers) = lowers else { return Ok(()) };
    let mut found = false;
    each_object(normalizer, &mut |object| {
        found |= object.get("type").is_some_and(|kind| kind == "Lowercase")
            || object.get("lowercase") == Some(&json!(true));
        Ok(())
    })?;
    match found == lowers {
        true => Ok(()),
        false => Err(format!(
            "do_lower_case is {lowers}, and the normalizer {}",
            if found { "lowercases" } else { "does not lowercase" }
        )),
    }
}

/// `add_prefix_space`.
fn prefix_space(tokenizer: &mut Value, config: &Object) -> Result<(), String> {
    let Some(adds) = config.get("add_prefix_space").and_then(Value::as_bool) else {
        return Ok(());
    };
    if tokenizer["pre_tokenizer"]["type"] == "ByteLevel" {
        tokenizer["pre_tokenizer"]["add_prefix_space"] = json!(adds);
        return Ok(());
    }
    // One that adds none may stand beside one that does.
    let (mut found, mut is_said) = (false, false);
    for part in ["pre_tokenizer", "normalizer"] {
        each_object(&tokenizer[part], &mut |object| {
            let text = |key: &str| object.get(key).and_then(Value::as_str);
            let flag = object.get("add_prefix_space").and_then(Value::as_bool);
            let scheme = text("prepend_scheme").map(|scheme| scheme != "never");
            let prepends = (text("type") == Some("Prepend")).then_some(true);
            for said in [scheme.or(flag), prepends].into_iter().flatten() {
                (found, is_said) = (found || said, true);
            }
            Ok(())
        })?;
    }
    match is_said && found != adds {
        false => Ok(()),
        true => Err(format!(
            "add_prefix_space is {adds}, and the tokenizer {} a space in front",
            if found { "puts" } else { "does not put" }
        )),
    }
}

/// `added_tokens_decoder`: the same tokens under the same ids, in the same way.
fn added_tokens(tokenizer: &Value, config: &Object) -> Result<(), String> {
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
    Ok(())
}

/// Compares `add_bos_token` and `add_eos_token` with what the tokenizer puts around a text:
/// `around` are the pieces of a text of one letter.
///
/// # Errors
/// What the two say that cannot both hold.
pub(super) fn check_ends(config: &Value, around: &[String]) -> Result<(), String> {
    let ends = [
        ("add_bos_token", "bos_token", around.first()),
        ("add_eos_token", "eos_token", around.last()),
    ];
    for (key, token, found) in ends {
        let Some(adds) = config[key].as_bool() else { continue };
        let token = config[token].as_str().or_else(|| config[token]["content"].as_str());
        let Some(token) = token else { continue };
        if found.is_some_and(|found| found == token) != adds {
            let does = if adds { "does not put" } else { "puts" };
            return Err(format!(
                "{key} is {adds}, and the tokenizer {does} {token} there"
            ));
        }
    }
    Ok(())
}
