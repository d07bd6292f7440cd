//! Tokens that are taken whole for their names, whatever kind a file gives them.
//!
//! # Source
//! `llama_vocab::impl::load` in `llama-vocab.cpp` of
//! <https://github.com/ggml-org/llama.cpp>: "control-looking token … its type will be
//! overridden".

use std::collections::BTreeMap;

use super::{CONTROL, Gguf, GgufResult, NORMAL, USER_DEFINED, is_whole};

/// What ends a turn or a text; spaces are between names.
const ENDS: &str = "<|eot_id|> <|im_end|> <|end|> <|return|> <|call|> <|flush|> <|calls|> \
    <end_of_turn> <|endoftext|> </s> <|eom_id|> <EOT> _<EOT> [EOT] [EOS] <|end_of_text|> \
    <end_of_utterance> <eos> <turn|> <|tool_response> <｜end▁of▁sentence｜> [e~[";

/// Parts of a conversation, which are taken whole as if added by hand.
const PARTS: &str = "<|channel|> <|message|> <|start|> <|constrain|>";

/// What a gap between two texts is marked with: the settings that name the token, and the
/// names that one is known by where no setting does.
const GAPS: [(&str, &str); 6] = [
    (
        "fim_pre_token_id prefix_token_id",
        "<|fim_prefix|> <fim-prefix> <fim_prefix> <｜fim▁begin｜> <PRE> ▁<PRE> \
         <|code_prefix|> <|prefix|>",
    ),
    (
        "fim_suf_token_id suffix_token_id",
        "<|fim_suffix|> <fim-suffix> <fim_suffix> <｜fim▁hole｜> <SUF> ▁<SUF> \
         <|code_suffix|> <|suffix|>",
    ),
    (
        "fim_mid_token_id middle_token_id",
        "<|fim_middle|> <fim-middle> <fim_middle> <｜fim▁end｜> <MID> ▁<MID> \
         <|code_middle|> <|middle|>",
    ),
    ("fim_pad_token_id", "<|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD]"),
    ("fim_rep_token_id", "<|fim_repo|> <|repo_name|> <fim-repo> <REPO> <reponame>"),
    ("fim_sep_token_id", "<|file_sep|>"),
];

/// Gives the tokens with these names the kind that the names speak of.
///
/// # Errors
/// [`GgufError::Setting`](model_files::GgufError) for several names of one part, of which one
/// would be taken.
pub(super) fn name_control(
    file: &Gguf,
    ids: &BTreeMap<String, usize>,
    kinds: &mut [i128],
) -> GgufResult<()> {
    let there = |names: &str| -> Vec<usize> {
        names.split(' ').filter_map(|name| ids.get(name).copied()).collect()
    };
    for (settings, names) in GAPS {
        let is_said =
            |name: &str| file.contains_setting(&format!("tokenizer.ggml.{name}"));
        let found = there(names);
        if settings.split(' ').any(is_said) || found.iter().all(|id| is_whole(kinds[*id]))
        {
            continue;
        }
        let [id] = found[..] else {
            let expected = "a kind that is not normal for tokens that mark a gap";
            return Err(file.wrong("tokenizer.ggml.token_type", expected));
        };
        kinds[id] = CONTROL;
    }
    for id in there(ENDS) {
        if !is_whole(kinds[id]) {
            kinds[id] = CONTROL;
        }
    }
    for id in there(PARTS) {
        kinds[id] = USER_DEFINED;
    }
    if let ([_], [id]) = (&there("<|tool_response>")[..], &there("</s>")[..]) {
        kinds[*id] = NORMAL;
    }
    Ok(())
}
