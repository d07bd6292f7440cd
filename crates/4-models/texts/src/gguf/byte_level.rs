//! GPT-2's kind of vocabulary: bytes as characters, and a list of merges.

use serde_json::{Value as Json, json};

use super::{Gguf, GgufError, GgufResult, Parts, Tokens, flag};

/// Where a text is cut before anything is merged, by the names that llama.cpp has for it.
///
/// # Source
/// `llm_tokenizer_bpe` in `llama-vocab.cpp` of llama.cpp: which names mean the same, which
/// take a piece whole that is a token, and which put a token in front of every text.
struct Cuts {
    /// With spaces between them.
    names: &'static str,
    /// Each cuts what those before it left.
    patterns: &'static [&'static str],
    /// Whether, as in Llama 3, a piece that is a token stays whole, whatever the merges say,
    /// and a token is put in front of every text.
    is_llama3: bool,
}

const fn cuts(names: &'static str, patterns: &'static [&'static str]) -> Cuts {
    Cuts { names, patterns, is_llama3: false }
}

const GPT2: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)";
const DIGIT: &str = r"\p{N}";
const LLAMA3: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const CUTS: [Cuts; 7] = [
    cuts("gpt-2 phi-2 mpt olmo jais trillion exaone4", &[GPT2]),
    cuts("smollm starcoder refact command-r codeshell exaone minerva-7b", &[DIGIT, GPT2]),
    Cuts {
        is_llama3: true,
        ..cuts("llama-bpe llama3 llama-v3 falcon3 pixtral lfm2", &[LLAMA3])
    },
    cuts("dbrx smaug-bpe", &[LLAMA3]),
    cuts("qwen2 deepseek-r1-qwen stablelm2 megrez hunyuan", &[QWEN2]),
    cuts("falcon", &[r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"]),
    // What llama.cpp does for want of better: like no model's own.
    cuts("default", &[r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"]),
];

/// All names, for messages: a test compares them with the list above.
const NAMES: &str = "one of gpt-2, phi-2, mpt, olmo, jais, trillion, exaone4, smollm, \
                     starcoder, refact, command-r, codeshell, exaone, minerva-7b, \
                     llama-bpe, llama3, llama-v3, falcon3, pixtral, lfm2, dbrx, smaug-bpe, \
                     qwen2, deepseek-r1-qwen, stablelm2, megrez, hunyuan, falcon, default";

pub(super) fn parts(file: &Gguf, tokens: &Tokens) -> GgufResult<Parts> {
    const PRE: &str = "tokenizer.ggml.pre";
    let name = file.text(PRE)?;
    let cuts = CUTS.iter().find(|cuts| cuts.names.split(' ').any(|it| it == name));
    let cuts = cuts.ok_or_else(|| file.wrong(PRE, NAMES))?;
    const SPACE: &str = "tokenizer.ggml.add_space_prefix";
    if flag(file, SPACE, false)? {
        return Err(file.wrong(SPACE, "false"));
    }
    let bytes = json!({
        "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
        "use_regex": false,
    });
    let split = |pattern: &&str| {
        json!({
            "type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated",
            "invert": false,
        })
    };
    let steps: Vec<Json> =
        cuts.patterns.iter().map(split).chain([bytes.clone()]).collect();
    Ok(Parts {
        pre_tokenizer: json!({"type": "Sequence", "pretokenizers": steps}),
        decoder: bytes,
        model: json!({
            "type": "BPE", "vocab": tokens.ids, "merges": merges(file, tokens)?,
            "ignore_merges": cuts.is_llama3,
        }),
        scored: None,
        adds_first: cuts.is_llama3.then_some(None),
    })
}

/// The merges, each of two tokens that give a third.
///
/// # Errors
/// [`GgufError::Merge`] for one of, or to, what is no token.
fn merges<'a>(file: &'a Gguf, tokens: &Tokens) -> GgufResult<Vec<[&'a str; 2]>> {
    let merges = file.texts("tokenizer.ggml.merges")?;
    let pair = |(at, merge): (usize, &'a String)| {
        let wrong = |token: &str| {
            let (merge, token) = (merge.clone(), token.to_string());
            GgufError::Merge { file: file.name().to_string(), at, merge, token }
        };
        // A token may begin with a space.
        let space = merge.char_indices().skip(1).find(|(_, c)| *c == ' ');
        let Some((space, _)) = space else { return Err(lonely(file, at, merge)) };
        let (left, right) = (&merge[..space], &merge[space + 1..]);
        let both = format!("{left}{right}");
        match [left, right, &both]
            .into_iter()
            .find(|token| !tokens.ids.contains_key(*token))
        {
            Some(missing) => Err(wrong(missing)),
            None => Ok([left, right]),
        }
    };
    merges.iter().enumerate().map(pair).collect()
}

fn lonely(file: &Gguf, at: usize, merge: &str) -> GgufError {
    let what = format!("tokenizer.ggml.merges: merge {at} is {merge}: no two tokens");
    GgufError::Header { file: file.name().to_string(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_has_all_names() {
        let names = CUTS.iter().flat_map(|cuts| cuts.names.split(' '));
        assert_eq!(NAMES, format!("one of {}", names.collect::<Vec<_>>().join(", ")));
    }
}
