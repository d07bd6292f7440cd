use serde_json::json;

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
