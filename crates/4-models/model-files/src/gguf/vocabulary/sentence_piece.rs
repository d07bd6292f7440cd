//! SentencePiece's kind of vocabulary: pieces with scores, `▁` for a space, and bytes for
//! what no piece has.
//!
//! It merges, of all neighbours that are a piece together, those whose piece has the highest
//! score. A list of merges in the order of scores says the same.

use serde_json::{Value as Json, json};

use super::{Gguf, GgufResult, Parts, Tokens, flag};
use crate::Value;

/// Longer pieces would make a list of merges that is longer than the file by far.
const LONGEST: usize = 512;

pub(super) fn parts(file: &Gguf, tokens: &Tokens) -> GgufResult<Parts> {
    const CROWDED: &str = "tokenizer.ggml.remove_extra_whitespaces";
    if flag(file, CROWDED, false)? {
        return Err(file.wrong(CROWDED, "false"));
    }
    const ESCAPED: &str = "tokenizer.ggml.escape_whitespaces";
    if !flag(file, ESCAPED, true)? {
        return Err(file.wrong(ESCAPED, "true"));
    }
    let prefixed = flag(file, "tokenizer.ggml.add_space_prefix", true)?;
    let space = |from: &str, to: &str| json!({"type": "Replace", "pattern": {"String": from}, "content": to});
    let prepend = prefixed.then(|| json!({"type": "Prepend", "prepend": "▁"}));
    let normalizers: Vec<Json> = prepend.into_iter().chain([space(" ", "▁")]).collect();
    let mut decoders =
        vec![space("▁", " "), json!({"type": "ByteFallback"}), json!({"type": "Fuse"})];
    if prefixed {
        let strip = json!({"type": "Strip", "content": " ", "start": 1, "stop": 0});
        decoders.push(strip);
    }
    Ok(Parts {
        normalizer: json!({"type": "Sequence", "normalizers": normalizers}),
        pre_tokenizer: Json::Null,
        decoder: json!({"type": "Sequence", "decoders": decoders}),
        model: json!({
            "type": "BPE", "vocab": tokens.ids, "merges": merges(file, tokens)?,
            "unk_token": tokens.unknown(), "fuse_unk": true, "byte_fallback": true,
        }),
        // Where nothing is said, token 1 stands in front.
        adds_first: Some(Some(1)),
    })
}

/// Every two pieces that are a piece together, the best first.
fn merges<'a>(file: &Gguf, tokens: &'a Tokens) -> GgufResult<Vec<[&'a str; 2]>> {
    let scores = scores(file, tokens)?;
    let mut merges = Vec::new();
    for (id, token) in tokens.tokens.iter().enumerate() {
        if token.len() > LONGEST {
            return Err(
                file.wrong("tokenizer.ggml.tokens", "pieces of 512 bytes at most")
            );
        }
        for (at, _) in token.char_indices().skip(1) {
            let (left, right) = token.split_at(at);
            if let (Some(l), Some(r)) = (tokens.ids.get(left), tokens.ids.get(right)) {
                merges.push((scores[id], (*l, *r), [left, right]));
            }
        }
    }
    merges.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    Ok(merges.into_iter().map(|(_, _, pair)| pair).collect())
}

fn scores(file: &Gguf, tokens: &Tokens) -> GgufResult<Vec<f64>> {
    const SCORES: &str = "tokenizer.ggml.scores";
    match file.metadata().get(SCORES) {
        Some(Value::Floats(scores)) if scores.len() >= tokens.tokens.len() => {
            Ok(scores.clone())
        }
        _ => Err(file.wrong(SCORES, "a score for each token")),
    }
}
