use super::*;
use crate::Growing;
use crate::Long;
use model_files::testing::{GgufWriter, text};

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
    insta::assert_snapshot!(refused(written("poro-chat", false)), @r#"model.gguf: tokenizer.ggml.pre is "poro-chat", expected one of gpt-2, phi-2, mpt, olmo, jais, trillion, exaone4, smollm, starcoder, refact, command-r, codeshell, exaone, minerva-7b, llama-bpe, llama3, llama-v3, falcon3, pixtral, lfm2, dbrx, smaug-bpe, qwen2, deepseek-r1-qwen, stablelm2, megrez, hunyuan, falcon, default"#);
    let other = GgufWriter::default().setting("tokenizer.ggml.model", 8, &text("bert"));
    insta::assert_snapshot!(refused(other), @r#"model.gguf: tokenizer.ggml.model is "bert", expected "gpt2" (a byte-level vocabulary with merges) or "llama" (SentencePiece's)"#);
    insta::assert_snapshot!(refused(GgufWriter::default()), @"model.gguf: tokenizer.ggml.model is missing, expected a text");
    let twice = GgufWriter::default()
        .setting("tokenizer.ggml.model", 8, &text("gpt2"))
        .texts("tokenizer.ggml.tokens", &["a", "a"]);
    insta::assert_snapshot!(refused(twice), @"model.gguf: tokenizer.ggml.tokens is a list of 2, expected tokens that all differ");
    let large = Gguf::from_bytes("model.gguf", written("smollm", false).bytes());
    insta::assert_snapshot!(gguf_text(&large.unwrap(), 9).unwrap_err(), @"model.gguf: the tokenizer gives ids up to 9, and the model has embeddings for 9, from 0: they do not belong together");
}

/// A vocabulary of all bytes, some pieces and some tokens that were added.
fn bytes_and(
    pre: &str,
    pieces: &[&str],
    merges: &[&str],
    added: &[(&str, i32)],
) -> GgufWriter {
    let printed = |byte: u32| match byte {
        33..=126 | 161..=172 | 174..=255 => byte,
        0..=32 => 256 + byte,
        127..=160 => 256 + 33 + byte - 127,
        _ => 256 + 67,
    };
    let bytes = (0..256).map(|byte| char::from_u32(printed(byte)).unwrap().to_string());
    let bytes: Vec<String> = bytes.collect();
    let added_tokens = added.iter().map(|(token, _)| *token);
    let tokens: Vec<&str> = bytes
        .iter()
        .map(String::as_str)
        .chain(pieces.iter().copied())
        .chain(added_tokens)
        .collect();
    let mut kinds = vec![1; 256 + pieces.len()];
    kinds.extend(added.iter().map(|(_, kind)| *kind));
    GgufWriter::default()
        .setting("tokenizer.ggml.model", 8, &text("gpt2"))
        .setting("tokenizer.ggml.pre", 8, &text(pre))
        .texts("tokenizer.ggml.tokens", &tokens)
        .wholes("tokenizer.ggml.token_type", &kinds)
        .texts("tokenizer.ggml.merges", merges)
}

fn pieces(writer: GgufWriter, of: &str) -> Vec<String> {
    let file = Gguf::from_bytes("model.gguf", writer.bytes()).unwrap();
    gguf_text(&file, 1000).unwrap().pieces(of, 999, Long::Refuse).unwrap().pieces
}

#[test]
fn a_character_of_several_tokens_is_told_when_it_is_whole() {
    let file = Gguf::from_bytes("m.gguf", bytes_and("gpt-2", &[], &[], &[]).bytes());
    let text = gguf_text(&file.unwrap(), 256).unwrap();
    let mut growing = Growing::default();
    let told: Vec<String> = "aé€b"
        .bytes()
        .map(|byte| growing.add(&text, &[usize::from(byte)]).unwrap())
        .collect();
    assert_eq!(told, ["a", "", "é", "", "", "€", "b"]);
    assert_eq!(growing.ids().len(), 7);
}

#[test]
fn tokens_that_were_added_are_taken_whole() {
    let added = [("<s>", 3), ("<think>", 4), ("<unk>", 2), ("<x>", 5), ("<y>", 1)];
    let of = "hi<think> a<s><unk><x>";
    let found = pieces(bytes_and("gpt-2", &["hi"], &["h i"], &added), of);
    assert_eq!(found, ["hi", "<think>", "Ġ", "a", "<s>", "<unk>", "<", "x", ">"]);
}

#[test]
fn tokens_stand_in_front_and_behind_as_the_settings_say() {
    let ends = |pre: &str, bos: Option<u8>, eos: Option<u8>| {
        let mut writer = bytes_and(pre, &[], &[], &[("<s>", 3), ("</s>", 3)])
            .whole("tokenizer.ggml.bos_token_id", 256)
            .whole("tokenizer.ggml.eos_token_id", 257);
        for (key, flag) in [("add_bos_token", bos), ("add_eos_token", eos)] {
            if let Some(flag) = flag {
                writer = writer.setting(&format!("tokenizer.ggml.{key}"), 7, &[flag]);
            }
        }
        pieces(writer, "a").join(" ")
    };
    assert_eq!(ends("gpt-2", None, None), "a");
    assert_eq!(ends("gpt-2", Some(1), Some(0)), "<s> a");
    assert_eq!(ends("gpt-2", None, Some(1)), "a </s>");
    assert_eq!(ends("gpt-2", Some(1), Some(1)), "<s> a </s>");
    assert_eq!(ends("llama-bpe", None, None), "<s> a");
    assert_eq!(ends("llama-bpe", Some(0), None), "a");
}

#[test]
fn each_name_cuts_a_text_in_its_way() {
    let joined = ["12", "123", "1234", "'S", "!?", "x!"];
    let merges = ["1 2", "12 3", "123 4", "' S", "! ?", "x !"];
    let cut =
        |pre: &str, of: &str| pieces(bytes_and(pre, &joined, &merges, &[]), of).join(" ");
    assert_eq!(cut("gpt-2", "1234"), "1234");
    assert_eq!(cut("smollm", "1234"), "1 2 3 4");
    assert_eq!(cut("qwen2", "1234"), "1 2 3 4");
    assert_eq!(cut("dbrx", "1234"), "123 4");
    assert_eq!(cut("default", "1234"), "123 4");
    assert_eq!(cut("gpt-2", "a'S"), "a ' S");
    assert_eq!(cut("qwen2", "a'S"), "a 'S");
    assert_eq!(cut("gpt-2", "x!?"), "x !?");
    assert_eq!(cut("falcon", "x !?"), "x Ġ !?");
    assert_eq!(cut("gpt-2", "x !?"), "x Ġ !?");
}

#[test]
fn a_piece_that_is_a_token_stays_whole_where_merges_are_ignored() {
    let writer = |pre| {
        bytes_and(pre, &["abc"], &[], &[("<s>", 3)])
            .whole("tokenizer.ggml.bos_token_id", 257)
    };
    assert_eq!(pieces(writer("llama-bpe"), "abc"), ["<s>", "abc"]);
    assert_eq!(pieces(writer("dbrx"), "abc"), ["a", "b", "c"]);
}

#[test]
fn merges_of_what_is_no_token_are_refused() {
    let refused =
        |merges: &[&str]| read(bytes_and("gpt-2", &["ab"], merges, &[])).unwrap_err();
    insta::assert_snapshot!(refused(&["a b", "ab c"]), @r#"model.gguf: tokenizer.ggml.merges: merge 1 is "ab c", and the vocabulary has no "abc""#);
    insta::assert_snapshot!(refused(&["a b", "x\u{202e}y a"]), @r#"model.gguf: tokenizer.ggml.merges: merge 1 is "x\u{202e}y a", and the vocabulary has no "x\u{202e}y""#);
    insta::assert_snapshot!(refused(&["ab"]), @"model.gguf: tokenizer.ggml.merges: merge 0 is ab: no two tokens");
}

#[test]
fn settings_that_would_change_a_text_are_refused() {
    let with = |key: &str, kind, value: &[u8]| {
        let writer = bytes_and("gpt-2", &[], &[], &[]).setting(key, kind, value);
        gguf_text(&Gguf::from_bytes("model.gguf", writer.bytes()).unwrap(), 256)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    insta::assert_snapshot!(with("tokenizer.ggml.add_space_prefix", 7, &[1]).unwrap_err(), @"model.gguf: tokenizer.ggml.add_space_prefix is true, expected false");
    insta::assert_snapshot!(with("tokenizer.ggml.add_sep_token", 7, &[1]).unwrap_err(), @"model.gguf: tokenizer.ggml.add_sep_token is true, expected false");
    insta::assert_snapshot!(with("tokenizer.ggml.precompiled_charsmap", 8, &text("x")).unwrap_err(), @r#"model.gguf: tokenizer.ggml.precompiled_charsmap is "x": what that changes is not known here"#);
    assert_eq!(with("tokenizer.ggml.padding_token_id", 0, &[1]), Ok(()));
    let few = GgufWriter::default()
        .setting("tokenizer.ggml.model", 8, &text("gpt2"))
        .texts("tokenizer.ggml.tokens", &["a", "b"])
        .wholes("tokenizer.ggml.token_type", &[1]);
    insta::assert_snapshot!(read(few).unwrap_err(), @"model.gguf: tokenizer.ggml.token_type is a list of 1, expected a kind for each token");
    let odd = GgufWriter::default()
        .setting("tokenizer.ggml.model", 8, &text("gpt2"))
        .texts("tokenizer.ggml.tokens", &["a", "b"])
        .wholes("tokenizer.ggml.token_type", &[1, 16385]);
    insta::assert_snapshot!(read(odd).unwrap_err(), @"model.gguf: tokenizer.ggml.token_type: token 1 is of kind 16385, expected 0 to 6");
}

/// Pieces with scores, as SentencePiece has them.
fn scored(prefix: Option<u8>) -> GgufWriter {
    let tokens = [
        ("<unk>", 2, 0.0),
        ("<s>", 3, 0.0),
        ("</s>", 3, 0.0),
        ("<0xC3>", 6, 0.0),
        ("<0xA9>", 6, 0.0),
        ("▁a", 1, -3.0),
        ("bc", 1, -2.0),
        ("ab", 1, -1.0),
        ("abc", 1, -4.0),
        ("▁", 1, -5.0),
        ("a", 1, -6.0),
        ("b", 1, -7.0),
        ("c", 1, -8.0),
        ("  ", 4, 0.0),
    ];
    let mut scores = 6_u32.to_le_bytes().to_vec();
    scores.extend((tokens.len() as u64).to_le_bytes());
    scores.extend(tokens.iter().flat_map(|token| f32::to_le_bytes(token.2)));
    let writer = GgufWriter::default()
        .setting("tokenizer.ggml.model", 8, &text("llama"))
        .texts("tokenizer.ggml.tokens", &tokens.map(|token| token.0))
        .wholes("tokenizer.ggml.token_type", &tokens.map(|token| token.1))
        .setting("tokenizer.ggml.scores", 9, &scores);
    match prefix {
        None => writer,
        Some(flag) => writer.setting("tokenizer.ggml.add_space_prefix", 7, &[flag]),
    }
}

#[test]
fn pieces_with_scores_are_merged_the_best_first() {
    // "ab" before "▁a", and bytes for what no piece has.
    assert_eq!(pieces(scored(None), "abc é").join(" "), "<s> ▁ abc ▁ <0xC3> <0xA9>");
    assert_eq!(pieces(scored(Some(0)), "abc a").join(" "), "<s> abc ▁a");
    assert_eq!(pieces(scored(Some(0)), "a  a").join(" "), "<s> a    a");
    assert_eq!(pieces(scored(None), "a</s>a").join(" "), "<s> ▁a </s> ▁a");
    let file = Gguf::from_bytes("model.gguf", scored(None).bytes()).unwrap();
    let text = gguf_text(&file, 14).unwrap();
    let ids = ids(&text, "abc éa");
    assert_eq!(text.decode(&ids[1..]).unwrap(), "abc éa");
}

/// A few pieces with these scores.
fn of_equal_scores(pieces: &[(&str, f32)]) -> GgufWriter {
    let mut scores = 6_u32.to_le_bytes().to_vec();
    scores.extend((pieces.len() as u64).to_le_bytes());
    scores.extend(pieces.iter().flat_map(|piece| piece.1.to_le_bytes()));
    let tokens: Vec<&str> = pieces.iter().map(|piece| piece.0).collect();
    GgufWriter::default()
        .setting("tokenizer.ggml.model", 8, &text("llama"))
        .texts("tokenizer.ggml.tokens", &tokens)
        .setting("tokenizer.ggml.scores", 9, &scores)
        .setting("tokenizer.ggml.add_bos_token", 7, &[0])
        .setting("tokenizer.ggml.add_space_prefix", 7, &[0])
}

#[test]
fn of_equal_scores_the_leftmost_is_merged_first() {
    let all = ["bc", "ab", "a", "b", "c"].map(|piece| (piece, 0.));
    assert_eq!(pieces(of_equal_scores(&all), "abc").join(" "), "ab c");
    assert_eq!(pieces(of_equal_scores(&all), "bcabc").join(" "), "bc ab c");
    // Zeros of both signs are equal.
    let zeros = [("bc", 0.), ("ab", -0.), ("a", 0.), ("b", 0.), ("c", 0.)];
    assert_eq!(pieces(of_equal_scores(&zeros), "abc").join(" "), "ab c");
    let file = Gguf::from_bytes("model.gguf", of_equal_scores(&all).bytes()).unwrap();
    let refused = gguf_text(&file, 9).unwrap().pieces("aé", 9, Long::Refuse);
    insta::assert_snapshot!(refused.unwrap_err(), @"model.gguf: no tokenizer: a text has the byte 0xc3, and no token is <0xC3>");
}

#[test]
fn a_long_text_is_cut_and_an_empty_one_refused() {
    let file = Gguf::from_bytes("model.gguf", scored(None).bytes()).unwrap();
    let text = gguf_text(&file, 14).unwrap();
    let cut = text.pieces("abc</s>abc", 3, Long::Cut).unwrap();
    assert_eq!((cut.pieces.join(" ").as_str(), cut.n_uncut), ("<s> ▁ abc", 6));
    let refused = text.pieces("", 9, Long::Refuse).unwrap_err();
    assert!(matches!(refused, crate::Error::EmptyText), "{refused}");
}

#[test]
fn a_token_with_the_name_of_one_that_ends_a_text_is_taken_whole() {
    let end = |kind| bytes_and("gpt-2", &[], &[], &[("<|im_end|>", kind)]);
    for kind in [1, 3, 4, 5] {
        assert_eq!(pieces(end(kind), "a<|im_end|>"), ["a", "<|im_end|>"], "{kind}");
    }
    let gap = |more: &[(&str, i32)]| {
        let added = [&[("<fim_prefix>", 1)], more].concat();
        bytes_and("gpt-2", &[], &[], &added)
    };
    assert_eq!(pieces(gap(&[]), "<fim_prefix>"), ["<fim_prefix>"]);
    // The settings name another.
    let other = gap(&[]).whole("tokenizer.ggml.fim_pre_token_id", 0);
    assert_eq!(pieces(other, "<fim_prefix>").len(), 12);
    let two = Gguf::from_bytes("model.gguf", gap(&[("<PRE>", 1)]).bytes()).unwrap();
    insta::assert_snapshot!(gguf_text(&two, 300).unwrap_err(), @"model.gguf: tokenizer.ggml.token_type is a list of 258, expected a kind that is not normal for tokens that mark a gap");
    let answers = [("</s>", 3), ("<|tool_response>", 1)];
    let of = pieces(bytes_and("gpt-2", &[], &[], &answers), "</s><|tool_response>");
    assert_eq!(of, ["<", "/", "s", ">", "<|tool_response>"]);
}

#[test]
fn the_longest_token_goes_before_the_first() {
    let added = [("ab>", 4), (">cdef", 4)];
    let found = pieces(bytes_and("gpt-2", &[], &[], &added), "ab>cdef");
    assert_eq!(found, ["a", "b", ">cdef"]);
}
