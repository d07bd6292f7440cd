use serde_json::{Value, json};

use super::*;

/// A tokenizer of BERT's kind with a vocabulary of nine.
fn tokenizer() -> Vec<u8> {
    let words =
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "bank", "##s", "over", "##flow"];
    let vocabulary: serde_json::Map<_, _> = words
        .iter()
        .enumerate()
        .map(|(id, word)| ((*word).to_string(), json!(id)))
        .collect();
    let special = |id: usize| {
        json!({
            "id": id, "content": words[id], "single_word": false, "lstrip": false,
            "rstrip": false, "normalized": false, "special": true,
        })
    };
    let tokenizer = json!({
        "version": "1.0",
        "truncation": {
            "max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right",
        },
        "padding": {
            "strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
        },
        "added_tokens": (0..4).map(special).collect::<Vec<_>>(),
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2],
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary,
        },
    });
    serde_json::to_vec(&tokenizer).unwrap()
}

fn text() -> Text {
    Text::read("tokenizer.json", &tokenizer(), 9).unwrap()
}

#[test]
fn a_text_becomes_pieces_between_special_ones() {
    let found = text().pieces("The Bänks overflow?", 64, Long::Refuse).unwrap();
    let pieces = ["[CLS]", "the", "bank", "##s", "over", "##flow", "[UNK]", "[SEP]"];
    assert_eq!(found.pieces, pieces);
    assert_eq!(found.sequence, Sequence::new(vec![2, 4, 5, 6, 7, 8, 1, 3]));
    let special: Vec<usize> = (0..8).filter(|&i| found.is_special[i]).collect();
    assert_eq!((special, found.n_uncut), (vec![0, 7], 8));
}

#[test]
fn a_long_text_is_cut_only_on_request() {
    let text = text();
    let long = |long| text.pieces("the banks overflow the bank", 5, long);
    insta::assert_snapshot!(long(Long::Refuse).unwrap_err(), @"the text has 9 tokens, [CLS] and [SEP] or the like among them, and the model has 5 positions");
    let cut = long(Long::Cut).unwrap();
    assert_eq!(cut.pieces, ["[CLS]", "the", "bank", "##s", "[SEP]"]);
    assert_eq!(cut.n_uncut, 9);
    assert!(text.pieces("the", 1, Long::Cut).is_err(), "no room for a token");
    // What was cut leaves no trace in what comes next.
    assert_eq!(text.pieces("the bank the bank", 6, Long::Refuse).unwrap().n_uncut, 6);
}

#[test]
fn nothing_to_read_is_refused() {
    for empty in ["", "  \n\t ", "\u{0}"] {
        let refused = text().pieces(empty, 64, Long::Refuse).unwrap_err();
        assert!(matches!(refused, Error::EmptyText), "{empty:?}: {refused}");
    }
    assert_eq!(text().pieces("👋", 64, Long::Refuse).unwrap().pieces[1], "[UNK]");
}

#[test]
fn a_tokenizer_of_another_model_is_refused_with_both_numbers() {
    let refused = Text::read("tokenizer.json", &tokenizer(), 8).unwrap_err();
    insta::assert_snapshot!(refused, @"tokenizer.json: the tokenizer gives ids up to 8, and the model has embeddings for 8, from 0: they do not belong together");
    let refused = Text::read("tokenizer.json", b"{}", 8).unwrap_err().to_string();
    assert!(refused.starts_with("tokenizer.json: no tokenizer: "), "{refused}");
}

/// The tokenizer with one part changed, in a folder with these settings beside it.
fn beside(change: impl Fn(&mut Value), config: Value) -> Result<Text> {
    let folder = tempfile::tempdir().unwrap();
    let mut json: Value = serde_json::from_slice(&tokenizer()).unwrap();
    change(&mut json);
    std::fs::write(folder.path().join("tokenizer.json"), json.to_string()).unwrap();
    let path = folder.path().join("tokenizer_config.json");
    std::fs::write(path, config.to_string()).unwrap();
    Text::open(folder.path(), 9)
}

fn refused(change: impl Fn(&mut Value), config: Value) -> String {
    let error = beside(change, config).unwrap_err().to_string();
    let names = error.split("tokenizer").count();
    assert!(names > 2, "both files are named: {error}");
    error.split_once("tokenizer.json: ").unwrap().1.to_owned()
}

#[test]
fn settings_beside_a_tokenizer_are_followed_or_refused() {
    let none = |_: &mut Value| {};
    let ids = |text: Text| text.pieces("The", 9, Long::Refuse).unwrap().sequence.ids;
    assert_eq!(ids(beside(none, json!({})).unwrap()), [2, 4, 3]);
    assert_eq!(ids(beside(none, json!({"do_lower_case": false})).unwrap()), [2, 1, 3]);
    let cased = |json: &mut Value| json["normalizer"]["lowercase"] = json!(false);
    let class = json!({"tokenizer_class": "BertTokenizer"});
    insta::assert_snapshot!(refused(cased, class), @"it does not have do_lower_case, and lowercases without it");
    let ends = json!({"add_bos_token": false, "bos_token": "[CLS]"});
    insta::assert_snapshot!(refused(none, ends), @"add_bos_token is false, and the tokenizer puts [CLS] there");
    let ends = json!({"add_eos_token": true, "eos_token": {"content": "[PAD]"}});
    insta::assert_snapshot!(refused(none, ends), @"add_eos_token is true, and the tokenizer does not put [PAD] there");
    let other = |json: &mut Value| json["normalizer"] = json!({"type": "Lowercase"});
    insta::assert_snapshot!(refused(other, json!({"do_lower_case": false})), @"do_lower_case is false, and the normalizer lowercases");
    let token = json!({"added_tokens_decoder": {"2": {"content": "<s>"}}});
    insta::assert_snapshot!(refused(none, token), @r#"content of token 2 is "<s>" in it, and "[CLS]" there"#);
    let space = |json: &mut Value| {
        json["pre_tokenizer"] = json!({
            "type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": true,
        });
    };
    insta::assert_snapshot!(refused(space, json!({"add_prefix_space": false})), @"add_prefix_space is false, and the tokenizer puts a space in front");
}

#[test]
fn the_start_is_cut_where_the_settings_say_so() {
    let text = beside(|_| {}, json!({"truncation_side": "left"})).unwrap();
    let cut = text.pieces("the banks overflow the bank", 5, Long::Cut).unwrap();
    assert_eq!(cut.pieces, ["[CLS]", "##flow", "the", "bank", "[SEP]"]);
}

#[test]
fn what_makes_the_library_panic_is_an_error() {
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut json: Value = serde_json::from_slice(&tokenizer()).unwrap();
        change(&mut json);
        let text = Text::read("tokenizer.json", json.to_string().as_bytes(), 9);
        let outcome = text.and_then(|text| text.pieces("the banks", 9, Long::Refuse));
        outcome.unwrap_err().to_string()
    };
    let template = changed(&|json| {
        json["post_processor"] = json!({
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}],
            "pair": [{"SpecialToken": {"id": "<s>", "type_id": 0}}],
            "special_tokens": {},
        });
    });
    assert!(template.starts_with("tokenizer.json: no tokenizer: "), "{template}");
    let grown = changed(&|json| {
        let replace = json!({
            "type": "Replace", "pattern": {"String": "a"}, "content": "a".repeat(1000),
        });
        let all = json!({"type": "Sequence", "normalizers": [replace, replace]});
        json["normalizer"] = all;
    });
    insta::assert_snapshot!(grown, @"tokenizer.json: no tokenizer: its replacements make a character into 1000000");
    let map = changed(&|json| {
        json["normalizer"] =
            json!({"type": "Precompiled", "precompiled_charsmap": "////fwAAAAA="});
    });
    insta::assert_snapshot!(map, @"tokenizer.json: no tokenizer: its precompiled_charsmap announces a table of 2147483647 bytes and has 5");
}
