//! The vocabulary of a GGUF file as a tokenizer.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Gguf, GgufError};
use crate::{Result, Text};

/// The kind of a token that is no part of a text, such as `<|im_end|>`.
const CONTROL: i128 = 3;

/// The tokenizer in a GGUF file: its tokens, its merges, and where it cuts a text before it
/// merges, for a model with embeddings for `n_vocabulary` tokens.
///
/// # Errors
/// [`GgufError::Setting`] for a vocabulary that is missing, or of another kind than GPT-2's
/// byte-level one; as [`Text::read`].
///
/// # Source
/// The keys as <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md> has them.
pub fn gguf_text(file: &Gguf, n_vocabulary: usize) -> Result<Text> {
    let json = tokenizer(file)?.to_string();
    Text::read(file.name(), json.as_bytes(), n_vocabulary)
}

/// The same as a `tokenizer.json` has it.
fn tokenizer(file: &Gguf) -> Result<Json, GgufError> {
    if file.text("tokenizer.ggml.model")? != "gpt2" {
        let expected = "\"gpt2\": a byte-level vocabulary with merges";
        return Err(file.wrong("tokenizer.ggml.model", expected));
    }
    let tokens = file.texts("tokenizer.ggml.tokens")?;
    let ids: BTreeMap<&str, usize> =
        tokens.iter().enumerate().map(|(id, token)| (token.as_str(), id)).collect();
    if ids.len() != tokens.len() {
        return Err(file.wrong("tokenizer.ggml.tokens", "tokens that all differ"));
    }
    let kinds = match file.contains_setting("tokenizer.ggml.token_type") {
        true => file.wholes("tokenizer.ggml.token_type")?,
        false => &[],
    };
    let special = tokens.iter().zip(kinds).enumerate();
    let special =
        special.filter(|(_, (_, kind))| **kind == CONTROL).map(|(id, (token, _))| {
            json!({
                "id": id, "content": token, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true,
            })
        });
    Ok(json!({
        "version": "1.0",
        "added_tokens": special.collect::<Vec<_>>(),
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": cuts(file)?},
        "post_processor": start(file, tokens)?,
        "decoder": {
            "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
            "use_regex": true,
        },
        "model": {
            "type": "BPE", "vocab": ids, "merges": file.texts("tokenizer.ggml.merges")?,
        },
    }))
}

/// Where a text is cut before anything is merged.
fn cuts(file: &Gguf) -> Result<Vec<Json>, GgufError> {
    let words = json!({
        "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
        "use_regex": true,
    });
    match file.text("tokenizer.ggml.pre")? {
        "gpt-2" | "default" => Ok(vec![words]),
        // Each digit by itself.
        "smollm" => Ok(vec![json!({"type": "Digits", "individual_digits": true}), words]),
        _ => {
            Err(file.wrong("tokenizer.ggml.pre", "\"gpt-2\", \"default\" or \"smollm\""))
        }
    }
}

/// The token that is put in front of every text, if one is.
fn start(file: &Gguf, tokens: &[String]) -> Result<Json, GgufError> {
    const ADDS: &str = "tokenizer.ggml.add_bos_token";
    const FIRST: &str = "tokenizer.ggml.bos_token_id";
    if !(file.contains_setting(ADDS) && file.flag(ADDS)?) {
        return Ok(Json::Null);
    }
    let id = file.size(FIRST)?;
    let Some(token) = tokens.get(id) else {
        return Err(file.wrong(FIRST, "one of the vocabulary's ids"));
    };
    let text = json!({"Sequence": {"id": "A", "type_id": 0}});
    let first = json!({"SpecialToken": {"id": token, "type_id": 0}});
    let special = json!({"id": token, "ids": [id], "tokens": [token]});
    Ok(json!({
        "type": "TemplateProcessing",
        "single": [first, text],
        "pair": [first, text, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {token: special},
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Long;
    use crate::testing::{GgufWriter, text};

    fn written(pre: &str, bos: bool) -> GgufWriter {
        let tokens = ["<s>", "a", "b", "ab", "Ġ", "Ġab", "1", "11", "Ã", "©"];
        GgufWriter::default()
            .setting("tokenizer.ggml.model", 8, &text("gpt2"))
            .setting("tokenizer.ggml.pre", 8, &text(pre))
            .texts("tokenizer.ggml.tokens", &tokens)
            .wholes("tokenizer.ggml.token_type", &[3, 1, 1, 1, 1, 1, 1, 1, 1, 1])
            .texts("tokenizer.ggml.merges", &["a b", "Ġ ab", "1 1"])
            .setting("tokenizer.ggml.add_bos_token", 7, &[u8::from(bos)])
            .whole("tokenizer.ggml.bos_token_id", 0)
    }

    fn read(writer: GgufWriter) -> Result<Text> {
        gguf_text(&Gguf::from_bytes("model.gguf", writer.bytes())?, 10)
    }

    fn ids(text: &Text, of: &str) -> Vec<usize> {
        text.pieces(of, 64, Long::Refuse).unwrap().sequence.ids
    }

    #[test]
    fn pieces_are_merged_and_come_back_as_text() {
        let text = read(written("smollm", false)).unwrap();
        let of = "ab ab11é<s>";
        assert_eq!(ids(&text, of), [3, 5, 6, 6, 8, 9, 0]);
        assert_eq!(text.decode(&ids(&text, of)).unwrap(), of);
        // Half a character is none yet.
        assert_eq!(text.decode(&[3, 8]).unwrap(), "ab\u{fffd}");
    }

    #[test]
    fn where_a_text_is_cut_and_what_stands_in_front_is_the_file_s() {
        let text = read(written("gpt-2", true)).unwrap();
        assert_eq!(ids(&text, "ab11"), [0, 3, 7]);
    }

    #[test]
    fn a_vocabulary_of_another_kind_is_refused() {
        let refused = |writer: GgufWriter| read(writer).unwrap_err().to_string();
        insta::assert_snapshot!(refused(written("qwen2", false)), @r#"model.gguf: tokenizer.ggml.pre is "qwen2", expected "gpt-2", "default" or "smollm""#);
        let other =
            GgufWriter::default().setting("tokenizer.ggml.model", 8, &text("llama"));
        insta::assert_snapshot!(refused(other), @r#"model.gguf: tokenizer.ggml.model is "llama", expected "gpt2": a byte-level vocabulary with merges"#);
        insta::assert_snapshot!(refused(GgufWriter::default()), @"model.gguf: tokenizer.ggml.model is missing, expected a text");
        let twice = GgufWriter::default()
            .setting("tokenizer.ggml.model", 8, &text("gpt2"))
            .texts("tokenizer.ggml.tokens", &["a", "a"]);
        insta::assert_snapshot!(refused(twice), @"model.gguf: tokenizer.ggml.tokens is a list of 2, expected tokens that all differ");
        let large = Gguf::from_bytes("model.gguf", written("smollm", false).bytes());
        insta::assert_snapshot!(gguf_text(&large.unwrap(), 9).unwrap_err(), @"model.gguf: the tokenizer gives ids up to 9, and the model has embeddings for 9, from 0: they do not belong together");
    }
}
