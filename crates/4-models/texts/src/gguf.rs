//! The vocabulary of a GGUF file as a tokenizer.

mod byte_level;
mod control;
mod sentence_piece;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use model_files::Use::{self, Harmless, Used};
use model_files::{Gguf, GgufError, GgufResult, Rule, first_rule};
use serde_json::{Value as Json, json};

use crate::text::{Fragments, Scored};
use crate::{Result, Text};

/// The kinds of token, by the format's codes: an ordinary piece of a text, and those that
/// are none.
const NORMAL: i128 = 1;
const UNKNOWN: i128 = 2;
/// No part of a text, such as `<|im_end|>`.
const CONTROL: i128 = 3;
/// Added by hand: taken whole, before anything is merged.
const USER_DEFINED: i128 = 4;
/// All codes: undefined, these four, unused, a byte.
const KINDS: std::ops::RangeInclusive<i128> = 0..=6;

/// Whether tokens of a kind are found in a text before anything else is done with it.
fn is_whole(kind: i128) -> bool {
    [UNKNOWN, CONTROL, USER_DEFINED].contains(&kind)
}

/// What is done with the settings of a vocabulary, whose names begin with `tokenizer.ggml.`.
const RULES: &[Rule] = &[
    Rule(
        "model pre tokens token_type merges scores bos_token_id eos_token_id \
         eot_token_id eom_token_id add_bos_token add_eos_token add_sep_token \
         add_space_prefix remove_extra_whitespaces escape_whitespaces",
        Used,
    ),
    Rule("unknown_token_id", Harmless("its token is known by its kind")),
    Rule("padding_token_id", Harmless("a text alone has no padding")),
    Rule("separator_token_id seperator_token_id", ONE),
    Rule("mask_token_id", Harmless("no token of a text is masked")),
    Rule("cls_token_id", Harmless("no class is put before a text")),
    Rule("fim_* prefix_token_id suffix_token_id middle_token_id", GAP),
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
    let (json, fragments) = tokenizer(file)?;
    let text = Text::read(file.name(), json.to_string().as_bytes(), n_vocabulary)?;
    Ok(text.cut_into(fragments))
}

/// The same as a `tokenizer.json` has it, and how a text is cut.
fn tokenizer(file: &Gguf) -> GgufResult<(Json, Fragments)> {
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
    let json = json!({
        "version": "1.0",
        "added_tokens": tokens.added(),
        "normalizer": null,
        "pre_tokenizer": parts.pre_tokenizer,
        "post_processor": ends(file, &tokens, parts.adds_first)?,
        "decoder": parts.decoder,
        "model": parts.model,
    });
    let whole = tokens
        .taken_whole()
        .filter_map(|(id, token, _)| Some((token.clone(), u32::try_from(id).ok()?)));
    Ok((json, Fragments::new(whole.collect(), parts.scored)))
}

/// What differs between the kinds of vocabulary.
struct Parts {
    pre_tokenizer: Json,
    decoder: Json,
    model: Json,
    /// The pieces with their scores, if that is how they are merged.
    scored: Option<Scored>,
    /// Whether a token is put in front where no setting says so, and which.
    adds_first: Option<Option<usize>>,
}

/// The tokens of a vocabulary.
struct Tokens {
    tokens: Vec<String>,
    ids: BTreeMap<String, usize>,
    /// Of each token.
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
        let mut kinds = match file.contains_setting(KIND) {
            true => file.wholes(KIND)?.to_vec(),
            false => vec![NORMAL; tokens.len()],
        };
        if kinds.len() < tokens.len() {
            return Err(file.wrong(KIND, "a kind for each token"));
        }
        if let Some(id) = kinds.iter().position(|kind| !KINDS.contains(kind)) {
            let (kind, file) = (kinds[id], file.name().to_string());
            let what = format!("{KIND}: token {id} is of kind {kind}, expected 0 to 6");
            return Err(GgufError::Header { file, what });
        }
        control::name_control(file, &ids, &mut kinds)?;
        Ok(Self { tokens, ids, kinds })
    }

    /// The tokens that are found in a text before anything else is done with it, with their
    /// ids and kinds.
    fn taken_whole(&self) -> impl Iterator<Item = (usize, &String, i128)> {
        let each = self.tokens.iter().zip(&self.kinds).enumerate();
        let each = each.map(|(id, (token, kind))| (id, token, *kind));
        each.filter(|(_, _, kind)| is_whole(*kind))
    }

    /// The same as a `tokenizer.json` has them.
    fn added(&self) -> Vec<Json> {
        let added = self.taken_whole().map(|(id, token, kind)| {
            json!({
                "id": id, "content": token, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": kind != USER_DEFINED,
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
