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

/// Letters alone have tokens, and nothing stands for what is none.
#[test]
fn a_character_without_a_token_is_refused_by_name() {
    let letters = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "post_processor": null, "decoder": null,
        "pre_tokenizer": {
            "type": "Split", "pattern": { "Regex": "" }, "behavior": "Isolated", "invert": false,
        },
        "model": { "type": "WordLevel", "vocab": { "a": 0, "b": 1 }, "unk_token": "<unknown>" },
    });
    let text = Text::read("letters.json", letters.to_string().as_bytes(), 2).unwrap();
    assert_eq!(text.pieces("abba", 9, Long::Refuse).unwrap().pieces.len(), 4);
    let refused = text.pieces("abëa", 9, Long::Refuse).unwrap_err();
    insta::assert_snapshot!(refused, @"letters.json: 'ë' has no token, and no token stands for unknown ones");
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

fn ids(text: &Text, of: &str) -> Vec<usize> {
    text.pieces(of, 64, Long::Refuse).unwrap().sequence.ids
}

const BERT: &str = "BertTokenizer";
#[test]
fn settings_beside_a_tokenizer_are_followed_or_refused() {
    let none = |_: &mut Value| {};
    let the = |config| ids(&beside(none, config).unwrap(), "The");
    assert_eq!(the(json!({})), [2, 4, 3]);
    assert_eq!(the(json!({"tokenizer_class": BERT, "do_lower_case": false})), [2, 1, 3]);
    // A class that takes the file as it is has no such key.
    assert_eq!(the(json!({"do_lower_case": false})), [2, 4, 3]);
    let cased = |json: &mut Value| json["normalizer"]["lowercase"] = json!(false);
    let class = json!({"tokenizer_class": "DistilBertTokenizerFast"});
    insta::assert_snapshot!(refused(cased, class), @"no do_lower_case says that capitals are kept: write it into tokenizer_config.json, false or true");
    let ends = json!({"add_bos_token": false, "bos_token": "[CLS]"});
    insta::assert_snapshot!(refused(none, ends), @"add_bos_token is false, and the tokenizer puts [CLS] there");
    let ends = json!({"add_eos_token": true, "eos_token": {"content": "[PAD]"}});
    insta::assert_snapshot!(refused(none, ends), @"add_eos_token is true, and the tokenizer does not put [PAD] there");
    let other = |json: &mut Value| json["normalizer"] = json!({"type": "Lowercase"});
    let class = json!({"tokenizer_class": BERT, "do_lower_case": false});
    insta::assert_snapshot!(refused(other, class), @r#"BertTokenizer has no such Lowercase as its normalizer; with "tokenizer_class": "PreTrainedTokenizerFast" in tokenizer_config.json it is read as it is"#);
    let token = json!({"added_tokens_decoder": {"2": {"content": "<s>"}}});
    insta::assert_snapshot!(refused(none, token), @r#"content of token 2 is "<s>" in it, and "[CLS]" there"#);
}

#[test]
fn a_class_builds_its_parts_whatever_the_file_says() {
    let bert = |more: Value| {
        let mut config = json!({"tokenizer_class": BERT});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        config
    };
    let open = |change: fn(&mut Value), more| beside(change, bert(more)).unwrap();
    let bare = |json: &mut Value| {
        json["post_processor"] = Value::Null;
        json["normalizer"] = Value::Null;
        json["model"]["continuing_subword_prefix"] = json!("@@");
        json["model"]["max_input_chars_per_word"] = json!(2);
    };
    assert_eq!(ids(&open(bare, json!({})), "The banks"), [2, 4, 5, 6, 3]);
    let swapped = json!({"cls_token": "[PAD]", "unk_token": "[SEP]"});
    assert_eq!(ids(&open(|_| (), swapped), "the xyz"), [0, 4, 3, 3]);
    // A token that only the class has is none of the model's.
    let mask = open(|_| (), json!({})).pieces("the [MASK]", 9, Long::Refuse);
    assert!(matches!(mask, Err(Error::Token { id: 9, .. })), "{mask:?}");
    let class = |name: &str| refused(|_| (), json!({"tokenizer_class": name}));
    insta::assert_snapshot!(class("RobertaTokenizer"), @r#"RobertaTokenizer needs a BPE model, and it is WordPiece; with "tokenizer_class": "PreTrainedTokenizerFast" in tokenizer_config.json it is read as it is"#);
    insta::assert_snapshot!(class("HerbertTokenizer"), @"tokenizer_class is HerbertTokenizer, which is not known here");
    let dropout = |json: &mut Value| json["model"]["dropout"] = json!(0.5);
    insta::assert_snapshot!(refused(dropout, json!({"tokenizer_class": "PreTrainedTokenizerFast"})), @"the model's dropout is 0.5, which gives other tokens each time");
}

#[test]
fn a_token_that_only_another_file_has_is_refused() {
    let with = |config: Value| refused(|_| (), config);
    insta::assert_snapshot!(with(json!({"additional_special_tokens": ["bank"]})), @"additional_special_tokens is bank, which is none of the added_tokens there: load the tokenizer and save it anew with save_pretrained");
    insta::assert_snapshot!(with(json!({"extra_special_tokens": {"image": "<i>"}})), @"extra_special_tokens is <i>, which is none of the added_tokens there: load the tokenizer and save it anew with save_pretrained");
    insta::assert_snapshot!(with(json!({"pad_token": {"content": "<pad>"}})), @"pad_token is <pad>, which is none of the added_tokens there: load the tokenizer and save it anew with save_pretrained");
    let known = json!({"additional_special_tokens": ["[SEP]"], "mask_token": null});
    assert_eq!(ids(&beside(|_| (), known).unwrap(), "the"), [2, 4, 3]);
    let also = |name: &str, json: Value| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tokenizer.json"), tokenizer()).unwrap();
        std::fs::write(folder.path().join(name), json.to_string()).unwrap();
        let error = Text::open(folder.path(), 9).map(|_| ()).map_err(|it| it.to_string());
        error.map_err(|error| error.split_once("tokenizer.json: ").unwrap().1.to_owned())
    };
    insta::assert_snapshot!(also("special_tokens_map.json", json!({"sep_token": "the"})).unwrap_err(), @"sep_token is the, which is none of the added_tokens there: load the tokenizer and save it anew with save_pretrained");
    insta::assert_snapshot!(also("added_tokens.json", json!({"[SEP]": 8})).unwrap_err(), @"[SEP] has the id 8 in it, and 3 there");
    assert_eq!(also("added_tokens.json", json!({"[SEP]": 3})), Ok(()));
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

/// A class that has its own parts looks into the model of the file.
#[test]
fn a_model_that_is_no_object_is_refused() {
    for (model, class) in
        [json!([]), json!(3), json!("BPE"), Value::Null].into_iter().flat_map(|model| {
            ["BertTokenizer", "GPT2Tokenizer"].map(|it| (model.clone(), it))
        })
    {
        let refused = made(json!({"model": model}), "bert", Some(class), "a");
        assert!(
            refused.ends_with("tokenizer.json: no tokenizer: its model is no object"),
            "{model} of {class}: {refused}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), "[]").unwrap();
    std::fs::write(folder.path().join("config.json"), r#"{"model_type": "bert"}"#)
        .unwrap();
    let refused = Text::open(folder.path(), 9).unwrap_err().to_string();
    assert!(refused.ends_with("its model is no object"), "{refused}");
}

/// What a folder makes of a text: its `tokenizer.json` has these parts, its `config.json`
/// this `model_type`, and its `tokenizer_config.json` this class.
fn made(parts: Value, model_type: &str, class: Option<&str>, text: &str) -> String {
    let token = |(id, content): (usize, &str)| {
        json!({
            "id": id, "content": content, "single_word": false, "lstrip": false,
            "rstrip": false, "normalized": false, "special": true,
        })
    };
    let added = [(0, "<s>"), (1, "</s>")].map(token);
    let mut json = json!({
        "version": "1.0", "truncation": null, "padding": null, "normalizer": null,
        "pre_tokenizer": null, "post_processor": null, "decoder": null,
        "added_tokens": added,
    });
    json.as_object_mut().unwrap().extend(parts.as_object().unwrap().clone());
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, json: Value| {
        std::fs::write(folder.path().join(name), json.to_string()).unwrap();
    };
    write("tokenizer.json", json);
    write("config.json", json!({"model_type": model_type}));
    if let Some(class) = class {
        write("tokenizer_config.json", json!({"tokenizer_class": class}));
    }
    match Text::open(folder.path(), 64).and_then(|it| it.pieces(text, 64, Long::Refuse)) {
        Ok(found) => found.pieces.join(" "),
        Err(error) => error.to_string(),
    }
}

fn pairs(tokens: &[&str], merges: &[[&str; 2]]) -> Value {
    let ids: serde_json::Map<_, _> =
        tokens.iter().zip(0..).map(|(it, id)| ((*it).to_string(), json!(id))).collect();
    json!({"type": "BPE", "dropout": 1., "vocab": ids, "merges": merges})
}

#[test]
fn bytes_are_cut_and_prefixed_as_the_class_does() {
    let model = pairs(
        &["<s>", "</s>", "1", "2", "12", "a", "Ġ", "Ġa"],
        &[["1", "2"], ["Ġ", "a"]],
    );
    let prefixed = json!({
        "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
        "use_regex": true,
    });
    let of = |model_type, class| {
        let parts = json!({"model": model, "pre_tokenizer": prefixed});
        made(parts, model_type, class, "a12 a")
    };
    assert_eq!(of("gpt2", None), "a 12 Ġa");
    assert_eq!(of("gpt_neox", None), "a 12 Ġa");
    assert_eq!(of("roberta", None), "<s> a 12 Ġa </s>");
    assert_eq!(of("qwen2", Some("PreTrainedTokenizerFast")), "a 1 2 Ġa");
    assert_eq!(of("llama", Some("GPT2TokenizerFast")), "a 12 Ġa");
    // As the file is, with its dropout.
    for class in ["LlamaTokenizer", "PreTrainedTokenizerFast"] {
        let refused = of("llama", Some(class));
        assert!(refused.ends_with("other tokens each time"), "{class}: {refused}");
    }
    assert!(of("mistral", Some("GPT2Tokenizer")).ends_with("other tokens each time"));
    let digits = json!({"type": "Digits", "individual_digits": true});
    let parts = json!({"model": model, "pre_tokenizer": digits});
    let refused = made(parts, "llama", Some("GPT2Tokenizer"), "12");
    assert!(refused.contains("GPT2Tokenizer has no such Digits"), "{refused}");
}

#[test]
fn spaces_become_pieces_as_the_class_does() {
    let model = pairs(&["<s>", "</s>", "▁", "a", "▁a"], &[["▁", "a"]]);
    let prepend = json!({"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]});
    let of = |class| {
        let parts = json!({"model": model, "normalizer": prepend});
        made(parts, "llama", Some(class), "a<s>a")
    };
    assert_eq!(of("LlamaTokenizer"), "▁a <s> a");
    assert!(of("GemmaTokenizer").contains("GemmaTokenizer has no such Prepend"));
    let scores = [("<s>", 0.), ("</s>", 0.), ("▁", -9.), ("<unk>", 0.), ("▁a", -1.)];
    let parts = json!({
        "model": {"type": "Unigram", "unk_id": 3, "vocab": scores},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": true},
    });
    for model_type in ["xlm-roberta", "camembert"] {
        assert_eq!(made(parts.clone(), model_type, None, "a  a "), "<s> ▁a ▁a </s>");
    }
}

/// As transformers 5.24 have it of a file that transformers 4 wrote: words are cut at every
/// space, and an end is put behind them, whatever the file has there.
#[test]
fn t5_cuts_words_and_puts_an_end_behind_them() {
    let scores = [("<pad>", 0.), ("</s>", 0.), ("<unk>", 0.), ("▁", -9.), ("▁a", -1.)];
    let parts = |kind: &str, added: Value| {
        json!({
            "model": {"type": kind, "unk_id": 0, "vocab": scores},
            "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "split": true},
            "added_tokens": added,
        })
    };
    let end = json!([{
        "id": 1, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": true,
    }]);
    let of = |class| made(parts("Unigram", end.clone()), "t5", class, "a  a\na");
    assert_eq!(of(None), "▁a ▁a ▁a </s>");
    assert_eq!(of(Some("T5TokenizerFast")), "▁a ▁a ▁a </s>");
    assert_eq!(of(Some("PreTrainedTokenizerFast")), "▁a ▁ ▁a \na");
    let refused = made(parts("Unigram", json!([])), "t5", None, "a");
    assert!(refused.contains("T5Tokenizer needs </s> as an added token"), "{refused}");
    let refused = made(parts("BPE", end.clone()), "t5", None, "a");
    assert!(refused.contains("needs a Unigram model"), "{refused}");
}
