//! Models that read one text and write another.

use std::fs;
use std::path::Path;

use models::{ModelFiles, Part};
use tensors::TensorFile;

use crate::source::ModelSource;
use crate::translate::{of_sentence, title};

use super::{Long, TempDir, at, command, tiny, word};

const FAMILIES: [&str; 4] = ["marian-1", "bart-1", "mbart-1", "t5-1"];

/// `cargo learn look` with this model and these arguments.
fn look(folder: &TempDir, words: &[&str]) -> Result<(), String> {
    command(&["look", "--model", &word(folder)], words)
}

#[test]
fn a_sentence_has_three_kinds_of_maps() {
    for name in FAMILIES {
        let folder = tiny(name);
        let opened = ModelSource::of(folder.path()).unwrap();
        let ModelFiles::Translator(files) = &opened.files else { unreachable!() };
        let found =
            of_sentence(&opened, files, ("the bank of the river", Long::Refuse), 7)
                .unwrap();
        let [source, written, cross] = &found.views;
        assert_eq!(source.text.pieces.len(), 7); // [CLS] and [SEP] among them
        let n_read = written.text.pieces.len();
        assert!((1..=7).contains(&n_read), "{n_read}");
        assert!(written.text.is_causal && !source.text.is_causal);
        assert_eq!(cross.text.pieces, source.text.pieces);
        assert_eq!(cross.text.asking().0, written.text.pieces);
        for view in &found.views {
            assert!(view.text.uniform().is_some());
            for (_, map) in view.text.heads() {
                let expected = (view.text.asking().0.len(), view.text.pieces.len());
                assert_eq!(map.shape(), expected);
                map.row_iter().for_each(|row| assert!((row.sum() - 1.0).abs() < 1e-5));
            }
        }
        assert!(found.notes.contains("bytes per token written"), "{}", found.notes);
    }
}

#[test]
fn the_page_has_all_kinds_and_what_is_saved_is_the_kind_that_was_asked() {
    let folder = tiny("bart-1");
    let [page, csv] = ["page.html", "maps.csv"].map(|name| at(&folder, name));
    look(&folder, &["the bank", "--write", "5", "--html", &page]).unwrap();
    let page = fs::read_to_string(page).unwrap();
    for part in Part::ALL {
        assert!(page.contains(&format!("<h2>{}</h2>", title(part))), "{part:?}");
    }
    assert_eq!(page.matches("<p><q>").count(), 1, "what was written stands there once");
    for id in ["id=\"heads\"", "id=\"heads1\"", "id=\"heads2\"", "href=\"#heads2\""] {
        assert!(page.contains(id), "{id}");
    }
    let rows = |kind: &str| {
        let save =
            ["the bank", "--write", "5", "--save", &csv, "--force", "--kind", kind];
        look(&folder, &save).unwrap();
        fs::read_to_string(&csv).unwrap().lines().count() - 1
    };
    // 4 tokens read each other in 2 layers of 4 heads; 5 are written, by 3 layers of 3.
    assert_eq!(rows("source"), 2 * 4 * 4 * 4);
    assert_eq!(rows("cross"), 3 * 3 * 5 * 4);
    assert!(rows("written") < 3 * 3 * 5 * 5 + 1);
}

#[test]
fn what_makes_no_sense_of_two_texts_is_refused_by_name() {
    let folder = tiny("t5-1");
    let model = &word(&folder);
    let refused =
        |more: &[&str]| look(&folder, &[&["the bank"], more].concat()).unwrap_err();
    insta::assert_snapshot!(refused(&["--queries", "last"]), @"--queries: not for t5, which reads one text and writes another: it has three kinds of maps, all of them whole");
    let other = |words: &[&str]| {
        command(words, &["--model", model]).unwrap_err().replace(model, "FOLDER")
    };
    insta::assert_snapshot!(other(&["compare", "the bank", "the river"]), @"FOLDER is of the family t5, which reads one text and writes another: it has three kinds of maps, and `cargo learn look` shows them of one sentence");
    insta::assert_snapshot!(other(&["habits", "texts.txt"]), @"FOLDER is of the family t5, which reads one text and writes another: it has three kinds of maps, and `cargo learn look` shows them of one sentence");
    insta::assert_snapshot!(other(&["ablate", "the bank", "--heads", "0.1"]), @"FOLDER is of the family t5: heads of a model that reads one text and writes another are not switched off here");
    insta::assert_snapshot!(other(&["logits", "the bank"]), @"a model of the family t5 does not go on with a text, and has no logits of a next token: `cargo learn logits` is for those that do");
    insta::assert_snapshot!(look(&folder, &[""]).unwrap_err(), @"the text is empty: no token is left of it");
    insta::assert_snapshot!(refused(&["--head", "7.0"]), @"there is no head 7.0: the model has layers 0 to 2 and heads 0 to 3");
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    fs::write(folder.path().join("source.spm"), []).unwrap();
    insta::assert_snapshot!(refused(&[]).replace(model, "FOLDER"), @"FOLDER: it has source.spm and no tokenizer.json: SentencePiece's own files are not read here, and save_pretrained of Marian's tokenizer writes no other. With `cargo learn model` ids of any tokenizer are read: input_ids and decoder_input_ids");
}

/// A file of ids that are all 0.
fn zeros(names: &[&str], n: usize) -> Vec<u8> {
    let tensor = |(nth, name): (usize, &&str)| {
        let range = [nth * n, (nth + 1) * n];
        let info =
            serde_json::json!({"dtype": "U8", "shape": [1, n], "data_offsets": range});
        ((*name).to_owned(), info)
    };
    let header: serde_json::Map<_, _> = names.iter().enumerate().map(tensor).collect();
    let header = serde_json::Value::from(header).to_string();
    let length = (header.len() as u64).to_le_bytes();
    [&length, header.as_bytes(), &vec![0; names.len() * n]].concat()
}

/// T5 has no longest text, and ids of any length fit a small file: what comes of them is
/// counted before any of it is computed.
#[test]
fn what_would_fill_the_memory_is_refused_with_its_size() {
    let folder = tiny("t5-1");
    let refused = |most: &str| look(&folder, &["the bank", "--write", most]).unwrap_err();
    insta::assert_snapshot!(refused("1000000"), @"`--write` asks for up to 1000000 tokens: 12 maps of 1000000 queries on 1000000 keys take 48000.0 GB, and 2.1 GB at most are kept");
    insta::assert_snapshot!(refused("18446744073709551615"), @"`--write` asks for up to 18446744073709551615 tokens: 12 maps of 18446744073709551615 queries on 4 keys take 3541774862152.2 GB, and 2.1 GB at most are kept");
    let [ids, both, out] = ["ids", "both", "out"].map(|name| at(&folder, name));
    fs::write(&ids, zeros(&["input_ids"], 200_000)).unwrap();
    fs::write(&both, zeros(&["input_ids", "decoder_input_ids"], 200_000)).unwrap();
    let run = |folder: &TempDir, ids: &str| {
        command(&["model", &word(folder), ids, "--output", &out], &[]).unwrap_err()
    };
    insta::assert_snapshot!(run(&folder, &both), @"1 text of up to 200000 tokens, and 200000 to write: all their maps and states take 10240.4 GB, and 4.3 GB at most are kept");
    // A decoder of any number of positions.
    let llama = tiny("llama-1");
    let config = llama.path().join("config.json");
    let json = fs::read_to_string(&config).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&json).unwrap();
    json["max_position_embeddings"] = (1u64 << 30).into();
    fs::write(&config, json.to_string()).unwrap();
    insta::assert_snapshot!(run(&llama, &ids), @"1 text of up to 200000 tokens: all their maps and states take 3840.3 GB, and 4.3 GB at most are kept");
}

#[test]
fn the_tensors_are_the_references() {
    for name in FAMILIES {
        let folder = tiny(name);
        let input = crate::texts::models().join(name).join("reference.safetensors");
        let (input, output) = (word(input), at(&folder, "out.safetensors"));
        let words = ["model", &word(&folder), "--output", &output];
        command(&words, &[&input, "--unused"]).unwrap();
        let [expected, found] =
            [&input, &output].map(|path| TensorFile::open(path).unwrap());
        let is_result = |name: &String| !name.contains("ids") && !name.contains("mask");
        let names: Vec<String> = expected.names().into_iter().filter(is_result).collect();
        assert_eq!(names, found.names(), "{name}");
        for tensor in &names {
            let [a, b] = [&expected, &found].map(|file| file.tensor(tensor).unwrap());
            assert_eq!(a.shape(), b.shape(), "{tensor}");
        }
        // All queries of the first text are real.
        let first = |file: &TensorFile| file.matrices("logits").unwrap().swap_remove(0);
        let off = (first(&expected) - first(&found)).amax();
        assert!(off < 2e-5, "{name}: {off:e}");
        command(&words, &["--text", "the river", "--force"]).unwrap();
        assert!(TensorFile::open(&output).unwrap().contains("cross.2"), "{name}");
    }
}

/// A text that is read from a file is not written over, whatever the model is.
#[test]
fn the_file_that_is_read_stays_as_it_is() {
    for name in ["bart-1", "bert-1"] {
        let folder = tiny(name);
        let text = &at(&folder, "text.csv");
        fs::write(text, "the bank of the river").unwrap();
        look(&folder, &["--file", text]).unwrap();
        let args = ["--file", text, "--save", text, "--force"];
        let refused = look(&folder, &args).unwrap_err();
        assert!(refused.contains("name another file with --save"), "{refused}");
        assert_eq!(fs::read_to_string(text).unwrap(), "the bank of the river");
    }
}

/// A file of one layer's maps would be read as the first of them.
#[test]
fn one_layer_is_no_file_of_maps() {
    let folder = tiny("llama-1");
    let out = &at(&folder, "out.safetensors");
    let args = ["the bank", "--queries", "0", "--save", out];
    let refused = look(&folder, &[&args[..], &["--head", "1"]].concat()).unwrap_err();
    assert!(refused.contains("a file of maps has all layers"), "{refused}");
    assert!(!Path::new(out).exists());
    look(&folder, &args).unwrap();
    command(&["maps", out], &[]).unwrap();
}
