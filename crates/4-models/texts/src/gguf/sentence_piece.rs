//! SentencePiece's kind of vocabulary: pieces with scores, `▁` for a space, and bytes for
//! what no piece has.

use model_files::Value;
use serde_json::{Value as Json, json};

use super::{Gguf, GgufResult, Parts, Tokens, flag};
use crate::text::{Scored, pieces_joined};

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
    Ok(Parts {
        pre_tokenizer: Json::Null,
        decoder: pieces_joined(prefixed),
        model: json!({
            "type": "BPE", "vocab": tokens.ids, "merges": [],
            "unk_token": tokens.unknown(), "fuse_unk": true, "byte_fallback": true,
        }),
        scored: Some(Scored::new(tokens.ids.clone(), scores(file, tokens)?, prefixed)),
        // Where nothing is said, token 1 stands in front.
        adds_first: Some(Some(1)),
    })
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
