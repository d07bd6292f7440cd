//! The vocabulary of a GGUF file as a tokenizer.

mod byte_level;
mod sentence_piece;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Gguf, GgufError, GgufResult};
use crate::Use::{self, Harmless, Used};
use crate::{Result, Rule, Text, first_rule};

/// The kinds of token that are no ordinary piece of a text, by the format's codes.
const UNKNOWN: i128 = 2;
/// No part of a text, such as `<|im_end|>`.
const CONTROL: i128 = 3;
/// Added by hand: taken whole, before anything is merged.
const USER_DEFINED: i128 = 4;
/// All codes: undefined, normal, these three, unused, a byte.
const KINDS: std::ops::RangeInclusive<i128> = 0..=6;

/// What is done with the settings of a vocabulary, whose names begin with `tokenizer.ggml.`.
const RULES: &[Rule] = &[
    Rule("model", Used),
    Rule("pre", Used),
    Rule("tokens", Used),
    Rule("token_type", Used),
    Rule("merges", Used),
    Rule("scores", Used),
    Rule("bos_token_id", Used),
    Rule("eos_token_id", Used),
    Rule("eot_token_id", Used),
    Rule("eom_token_id", Used),
    Rule("add_bos_token", Used),
    Rule("add_eos_token", Used),
    Rule("add_sep_token", Used),
    Rule("add_space_prefix", Used),
    Rule("remove_extra_whitespaces", Used),
    Rule("escape_whitespaces", Used),
    Rule("unknown_token_id", Harmless("its token is known by its kind")),
    Rule("padding_token_id", Harmless("a text alone has no padding")),
    Rule("separator_token_id", ONE),
    Rule("seperator_token_id", ONE),
    Rule("mask_token_id", Harmless("no token of a text is masked")),
    Rule("cls_token_id", Harmless("no class is put before a text")),
    Rule("fim_*", GAP),
    Rule("prefix_token_id", GAP),
    Rule("suffix_token_id", GAP),
    Rule("middle_token_id", GAP),
    Rule("token_type_count", Harmless("a text is of one type")),
];

const ONE: Use = Harmless("no text is put behind another");
const GAP: Use = Harmless("no text is filled in between two others");

/// The tokenizer in a GGUF file: its tokens, its merges or scores, and where it cuts a text
/// before it merges, for a model with embeddings for `n_vocabulary` tokens.
///
/// # Errors
/// [`GgufError::Setting`] for a vocabulary that is missing, or of another kind than GPT-2's
/// byte-level one or SentencePiece's; [`GgufError::UnknownSetting`];
/// [`GgufError::Merge`]; as [`Text::read`].
///
/// # Source
/// The keys as <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md> has them, what
/// they mean as `llama-vocab.cpp` of <https://github.com/ggml-org/llama.cpp> reads them.
pub fn gguf_text(file: &Gguf, n_vocabulary: usize) -> Result<Text> {
    file.expect_known(|key| match key.strip_prefix("tokenizer.ggml.") {
        Some(key) => first_rule(RULES, key),
        None => Some(Used),
    })?;
    let json = tokenizer(file)?.to_string();
    Text::read(file.name(), json.as_bytes(), n_vocabulary)
}

/// The same as a `tokenizer.json` has it.
fn tokenizer(file: &Gguf) -> GgufResult<Json> {
    const MODEL: &str = "tokenizer.ggml.model";
    let parts: fn(&Gguf, &Tokens) -> GgufResult<Parts> = match file.text(MODEL)? {
        "gpt2" => byte_level::parts,
        "llama" => sentence_piece::parts,
        _ => {
            let expected = "\"gpt2\" (a byte-level vocabulary with merges) or \"llama\" \
                            (SentencePiece's)";
            return Err(file.wrong(MODEL, expected));
        }
    };
    if flag(file, "tokenizer.ggml.add_sep_token", false)? {
        return Err(file.wrong("tokenizer.ggml.add_sep_token", "false"));
    }
    let tokens = Tokens::read(file)?;
    let parts = parts(file, &tokens)?;
    Ok(json!({
        "version": "1.0",
        "added_tokens": tokens.taken_whole(),
        "normalizer": parts.normalizer,
        "pre_tokenizer": parts.pre_tokenizer,
        "post_processor": ends(file, &tokens, parts.adds_first)?,
        "decoder": parts.decoder,
        "model": parts.model,
    }))
}

/// What differs between the kinds of vocabulary.
struct Parts {
    normalizer: Json,
    pre_tokenizer: Json,
    decoder: Json,
    model: Json,
    /// Whether a token is put in front where no setting says so, and which.
    adds_first: Option<Option<usize>>,
}

/// The tokens of a vocabulary.
struct Tokens {
    tokens: Vec<String>,
    ids: BTreeMap<String, usize>,
    /// Of each token, or empty: all are ordinary.
    kinds: Vec<i128>,
}

impl Tokens {
    fn read(file: &Gguf) -> GgufResult<Self> {
        const TOKENS: &str = "tokenizer.ggml.tokens";
        const KIND: &str = "tokenizer.ggml.token_type";
        // As in llama.cpp: empty ones have a name all the same.
        let named = |(id, token): (usize, &String)| match token.is_empty() {
            true => format!("[EMPTY_{id}]"),
            false => token.clone(),
        };
        let tokens: Vec<_> = file.texts(TOKENS)?.iter().enumerate().map(named).collect();
        let ids: BTreeMap<String, usize> =
            tokens.iter().enumerate().map(|(id, token)| (token.clone(), id)).collect();
        if ids.len() != tokens.len() {
            return Err(file.wrong(TOKENS, "tokens that all differ"));
        }
        let kinds = match file.contains_setting(KIND) {
            true => file.wholes(KIND)?.to_vec(),
            false => Vec::new(),
        };
        if !kinds.is_empty() && kinds.len() < tokens.len() {
            return Err(file.wrong(KIND, "a kind for each token"));
        }
        match kinds.iter().position(|kind| !KINDS.contains(kind)) {
            None => Ok(Self { tokens, ids, kinds }),
            Some(id) => {
                let (kind, file) = (kinds[id], file.name().to_string());
                let what =
                    format!("{KIND}: token {id} is of kind {kind}, expected 0 to 6");
                Err(GgufError::Header { file, what })
            }
        }
    }

    /// The tokens that are found in a text before anything else is done with it.
    fn taken_whole(&self) -> Vec<Json> {
        let each = self.tokens.iter().zip(&self.kinds).enumerate();
        let whole = each
            .filter(|(_, (_, kind))| [UNKNOWN, CONTROL, USER_DEFINED].contains(*kind));
        let added = whole.map(|(id, (token, kind))| {
            json!({
                "id": id, "content": token, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": *kind != USER_DEFINED,
            })
        });
        added.collect()
    }

    /// The token that stands for what the vocabulary has not.
    fn unknown(&self) -> Option<&str> {
        let id = self.kinds.iter().position(|kind| *kind == UNKNOWN)?;
        self.tokens.get(id).map(String::as_str)
    }
}

/// A flag, or what is meant where it is missing.
fn flag(file: &Gguf, key: &str, default: bool) -> GgufResult<bool> {
    match file.contains_setting(key) {
        true => file.flag(key),
        false => Ok(default),
    }
}

/// The tokens that are put in front of every text, and behind it, if some are.
fn ends(
    file: &Gguf,
    tokens: &Tokens,
    adds_first: Option<Option<usize>>,
) -> GgufResult<Json> {
    let token = |key: &'static str, default: Option<usize>| -> GgufResult<_> {
        let id = match (file.contains_setting(key), default) {
            (false, Some(id)) => id,
            _ => file.size(key)?,
        };
        match tokens.tokens.get(id) {
            Some(token) => Ok((id, token)),
            None => Err(file.wrong(key, "one of the vocabulary's ids")),
        }
    };
    let first = flag(file, "tokenizer.ggml.add_bos_token", adds_first.is_some())?;
    let first = first.then(|| token("tokenizer.ggml.bos_token_id", adds_first.flatten()));
    let last = flag(file, "tokenizer.ggml.add_eos_token", false)?;
    let last = last.then(|| token("tokenizer.ggml.eos_token_id", None));
    let (first, last) = (first.transpose()?, last.transpose()?);
    if first.is_none() && last.is_none() {
        return Ok(Json::Null);
    }
    let special = first.iter().chain(&last).map(|(id, token)| {
        (token.to_string(), json!({"id": token, "ids": [id], "tokens": [token]}))
    });
    let template = |texts: &[&str]| -> Vec<Json> {
        let end = |(_, token): &(usize, &String)| json!({"SpecialToken": {"id": token, "type_id": 0}});
        let texts = texts.iter().map(|id| json!({"Sequence": {"id": id, "type_id": 0}}));
        first.iter().map(end).chain(texts).chain(last.iter().map(end)).collect()
    };
    Ok(json!({
        "type": "TemplateProcessing",
        "single": template(&["A"]),
        "pair": template(&["A", "B"]),
        "special_tokens": special.collect::<serde_json::Map<_, _>>(),
    }))
}
