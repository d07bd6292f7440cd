//! With the trained models, where they are.

use std::fs;
use std::path::{Path, PathBuf};

use ::texts::{Long, Pieces, Text};
use clap::Parser;
use maps::habits::Habit;
use models::decoders::Files;
use models::encoders;
use tempfile::{TempDir, tempdir};
use tensors::TensorFile;
use workshop::paths;

use crate::{Command, habits, renamed, report, source, texts};

mod files;
mod sentences;
mod translated;
mod written;

/// Where a trained model is, if it was fetched.
fn fetched(path: PathBuf, command: &str) -> Option<PathBuf> {
    if path.exists() {
        return Some(path);
    }
    println!("left out: `cargo learn {command} --download` fetches {}", path.display());
    None
}

fn minilm() -> Option<PathBuf> {
    fetched(paths::minilm(), "look")
}

fn smollm2() -> Option<PathBuf> {
    fetched(paths::smollm2(), "write")
}

/// The text of this name in pieces, whose ids are those of the reference.
fn pieces_as_in(
    file: &TensorFile,
    name: &str,
    tokenizer: &Text,
    longest: usize,
) -> Pieces {
    let text = file.text(name).unwrap();
    let found = tokenizer.pieces(text, longest, Long::Refuse).unwrap();
    let ids = file.tensor(&format!("{name}.input_ids")).unwrap().integers().unwrap();
    let found_ids: Vec<i128> = found.sequence.ids.iter().map(|&id| id as i128).collect();
    assert_eq!(found_ids, ids, "{text}");
    found
}

#[test]
fn odd_texts_become_the_ids_and_pieces_of_the_reference() {
    let Some(folder) = minilm() else { return };
    let config = encoders::Files::open(&folder).unwrap().config;
    let tokenizer = Text::open(&folder, config.n_vocabulary).unwrap();
    let file = texts::models().join("minilm-sentences.safetensors");
    let file = TensorFile::open(file).unwrap();
    for name in ["s00", "s03", "s08", "s13", "s17"] {
        let found = pieces_as_in(&file, name, &tokenizer, config.longest());
        assert_eq!(found.pieces.join(" "), file.text(&format!("{name}.tokens")).unwrap());
    }
}

#[test]
fn a_vocabulary_in_gguf_gives_the_ids_and_pieces_of_the_reference() {
    let Some(path) = smollm2() else { return };
    let files = Files::open(path).unwrap();
    let tokenizer = files.text().unwrap();
    let file = TensorFile::open(texts::models().join("smollm2.safetensors")).unwrap();
    for name in ["p00", "p02"] {
        let found = pieces_as_in(&file, name, &tokenizer, files.config.n_positions);
        let pieces = file.text(&format!("{name}.tokens")).unwrap();
        assert_eq!(found.pieces.join("\u{1f}"), pieces);
        let text = file.text(name).unwrap();
        assert_eq!(tokenizer.decode(&found.sequence.ids).unwrap(), text);
    }
    // Digits by themselves, several bytes a character, spaces in a row, special tokens.
    for text in ["In 1984,  naïve 数学 👋\n\tend", "<|im_start|>user\n12<|im_end|>"]
    {
        let ids = tokenizer.pieces(text, 99, Long::Refuse).unwrap().sequence.ids;
        assert_eq!(tokenizer.decode(&ids).unwrap(), text);
    }
}

#[test]
fn a_report_of_a_decoder_has_every_head() {
    let Some(path) = smollm2() else { return };
    let view = source::of_sentence(&path, "The pilot flew.", Long::Refuse).unwrap();
    let report = report::of(&view, Some((29, 8)));
    assert!(report.starts_with("4 tokens: The _pilot _flew .\n"), "{report}");
    assert!(report.contains("1/k for each of the k keys"), "{report}");
    assert!(report.contains("first is The, last is not there"), "{report}");
    assert!(view.text.maps.iter().flatten().all(|map| map[(1, 2)] == 0.0));
}

#[test]
fn the_ids_that_tests_read_are_those_of_the_tokenizer() {
    let Some(folder) = minilm() else { return };
    let kept = fs::read_to_string(texts::models().join("ids.tsv")).unwrap();
    assert_eq!(kept, texts::table(&folder).unwrap());
}

#[test]
fn a_report_has_every_head_with_its_controls() {
    let Some(folder) = minilm() else { return };
    let view =
        source::of_sentence(&folder, "The pilot flew the plane.", Long::Refuse).unwrap();
    let report = report::of(&view, Some((0, 2)));
    assert!(report.starts_with("8 tokens: [CLS] the pilot flew the plane . [SEP]\n"));
    for head in ["0.0  ", "0.11 ", "5.11 "] {
        assert!(report.lines().any(|line| line.starts_with(head)), "{head}:\n{report}");
    }
    assert!(report.contains("Head 0.2 in full"));
    assert!(view.check((6, 0)).is_err());
}

/// A command with these arguments and more of them; what it refuses, in words.
pub(crate) fn command(words: &[&str], more: &[&str]) -> Result<(), String> {
    let command = Command::try_parse_from([&["learn"], words, more].concat());
    let outcome = command.map_err(anyhow::Error::from).and_then(|it| it.run());
    outcome.map_err(|error| format!("{error:#}"))
}

/// A path as an argument.
pub(crate) fn word(path: impl AsRef<Path>) -> String {
    path.as_ref().to_str().unwrap().to_owned()
}

/// A file of a folder as an argument.
pub(crate) fn at(folder: &TempDir, file: &str) -> String {
    word(folder.path().join(file))
}

#[test]
fn an_option_that_look_had_is_answered_by_its_command() {
    let now = |words: &str| renamed(words.split(' '));
    let expected = "`look --maps` is `cargo learn maps FILE` now";
    assert_eq!(now("look --maps=a.safetensors").as_deref(), Some(expected));
    assert_eq!(now("look --head 5.7"), None);
    assert_eq!(now("write --without 5.7"), None);
}

/// A tiny model that is run on its reference's input, and that reference.
fn reference_run(name: &str, out: &str) -> (TensorFile, TensorFile) {
    let model = texts::models().join(name);
    let input = model.join("reference.safetensors");
    command(&["model", &word(&model), &word(&input), "--output", out], &[]).unwrap();
    (TensorFile::open(out).unwrap(), TensorFile::open(input).unwrap())
}

#[test]
fn a_tiny_model_is_run_and_written_whole_or_not_at_all() {
    let folder = tempdir().unwrap();
    let out = at(&folder, "out.safetensors");
    for (name, n_tensors) in [("gemma2-1", 8), ("roberta-1", 7)] {
        let _ = fs::remove_file(&out);
        let (found, expected) = reference_run(name, &out);
        assert_eq!(found.names().len(), n_tensors, "{name}");
        assert!(difference(&found, &expected) < 2e-5, "{name}");
    }
    let model = texts::models().join("roberta-1");
    let input = word(model.join("reference.safetensors"));
    let run = |more: &[&str]| {
        command(&["model", &word(&model), &input, "--output", &out], more)
    };
    let refused = run(&[]).unwrap_err();
    assert!(refused.contains("exists already"), "{refused}");
    run(&["--force", "--dtype", "f32"]).unwrap();
    assert_eq!(TensorFile::open(&out).unwrap().tensor("attn.0").unwrap().dtype(), "F32");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn no_file_that_is_read_is_written_over() {
    let folder = copy_of("llama-1", "reference.safetensors");
    fs::write(folder.path().join("tokenizer.json"), "{}").unwrap();
    let input = at(&folder, "reference.safetensors");
    let run = |out: &str| {
        command(&["model", &at(&folder, "."), &input, "--output", out, "--force"], &[])
    };
    let read =
        ["config.json", "model.safetensors", "tokenizer.json", "reference.safetensors"];
    for out in read.map(|name| at(&folder, name)) {
        let before = fs::read(&out).unwrap();
        let refused = run(&out).unwrap_err();
        let expected = format!("{out} is read by this command and is not written over");
        assert!(refused.starts_with(&expected), "{refused}");
        assert!(fs::read(&out).unwrap() == before, "{out} was written over");
    }
    let other = at(&folder, "layers.safetensors");
    run(&other).unwrap();
    run(&other).unwrap();
}

/// The largest difference between a command's output and its reference, rows of padding left
/// aside.
fn difference(found: &TensorFile, expected: &TensorFile) -> f64 {
    let mut largest = 0.0f64;
    let mask = expected.tensor("attention_mask");
    let is_real = mask.map_or(Vec::new(), |mask| mask.integers().unwrap());
    for name in found.names() {
        let [found, expected] = [found, expected].map(|file| {
            let tensor = file.tensor(&name).unwrap();
            (tensor.shape().to_vec(), tensor.numbers().unwrap())
        });
        assert_eq!(found.0, expected.0, "{name}");
        let n_tokens = found.0[found.0.len() - 2];
        let width = found.0[found.0.len() - 1];
        let per_sequence = found.1.len() / found.0[0];
        for (i, (a, b)) in found.1.iter().zip(&expected.1).enumerate() {
            let (sequence, row) = (i / per_sequence, i / width % n_tokens);
            if is_real.get(sequence * n_tokens + row) != Some(&0) {
                largest = largest.max((a - b).abs());
            }
        }
    }
    largest
}

/// A case's model on these arguments: its output, and what it should be.
fn case(name: &str, args: &[&str]) -> Result<(TensorFile, TensorFile), String> {
    let folder = tempdir().unwrap();
    let out = at(&folder, "out.safetensors");
    let case = texts::models().join("cases").join(name);
    command(&["model", &word(case.join("model")), "--output", &out], args)?;
    let open = |path: PathBuf| TensorFile::open(path).unwrap();
    Ok((open(out.into()), open(case.join("reference.safetensors"))))
}

#[test]
fn positions_of_an_input_are_those_of_the_model() {
    let name = "gpt2-left-padding-position_ids";
    let input = texts::models().join("cases").join(name).join("input.safetensors");
    let (found, expected) = case(name, &[&word(input)]).unwrap();
    assert!(difference(&found, &expected) < 2e-5);
}

#[test]
fn a_tokenizer_is_read_with_its_settings_and_where_it_is_used() {
    for (name, text) in [
        ("tokenizer_config-says-cased", "The Bank of Paris."),
        ("tokenizer-has-a-token-more", "the banks overflow"),
    ] {
        let (found, expected) = case(name, &["--text", text]).unwrap();
        assert!(difference(&found, &expected) < 2e-5, "{name}");
    }
    let refused = case("tokenizer-has-a-token-more", &["--text", "the [PAD2] bank"]);
    let refused = refused.unwrap_err();
    let (_, why) = refused.split_once("tokenizer.json: ").unwrap();
    insta::assert_snapshot!(why, @"token 18, [PAD2], is beyond the model's table of 18 embeddings, which count from 0: the text has a token that the model does not know");
}

/// A copy of a tiny model, with another of its files.
fn copy_of(name: &str, file: &str) -> TempDir {
    let folder = tempdir().unwrap();
    for file in ["config.json", "model.safetensors", file] {
        let from = texts::models().join(name).join(file);
        let to = folder.path().join(from.file_name().unwrap());
        fs::copy(from, to).unwrap();
    }
    folder
}

/// A tiny model with a tokenizer that is not its family's.
pub(crate) fn tiny(name: &str) -> TempDir {
    let folder = copy_of(name, "../tokenizer.json");
    let class = r#"{"tokenizer_class": "PreTrainedTokenizerFast"}"#;
    if name != "bert-1" {
        fs::write(folder.path().join("tokenizer_config.json"), class).unwrap();
    }
    folder
}

#[test]
fn a_page_replaces_nothing_unasked() {
    let folder = tiny("bert-1");
    let look = |html: &str, more: &[&str]| {
        let (model, page) = (word(&folder), at(&folder, html));
        command(&["look", "the bank", "--model", &model, "--html", &page], more)
    };
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        let before = fs::read(folder.path().join(file)).unwrap();
        let refused = look(file, &["--force"]).unwrap_err();
        assert!(refused.contains("name another file with --html"), "{refused}");
        assert!(fs::read(folder.path().join(file)).unwrap() == before, "{file}");
    }
    look("page.html", &[]).unwrap();
    let refused = look("page.html", &[]).unwrap_err();
    assert!(refused.contains("write over it with --force"), "{refused}");
    look("page.html", &["--force"]).unwrap();
}

/// What heads do over lines is told, sorted, and taken away; what cannot be is refused first.
#[test]
fn a_file_of_texts_is_measured() {
    let folder = tiny("bert-1");
    let texts = folder.path().join("texts.txt");
    fs::write(&texts, "a b a b\n\nb a a\n").unwrap();
    let measured = habits::measure(folder.path(), &texts, Long::Refuse).unwrap();
    assert_eq!(measured.texts.n_texts, 2);
    let table = measured.table(Some(Habit::Previous));
    assert!(table.starts_with("2 texts in "), "{table}");
    let of_row =
        |row: &str| row.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap();
    let shares: Vec<f64> = table.lines().skip(6).map(of_row).collect();
    assert_eq!(shares.len(), measured.texts.heads.concat().len());
    assert!(shares.is_sorted_by(|a, b| a >= b), "{table}");
    let words = ["habits", &word(texts), "--model", &word(&folder)];
    let refused = command(&words, &["--save", &at(&folder, "out.json")]).unwrap_err();
    assert!(refused.contains("of many texts there are numbers"), "{refused}");
}

#[test]
fn numbers_that_are_none_are_no_result() {
    let folder = tiny("bert-1");
    let path = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let n_header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value =
        serde_json::from_slice(&bytes[8..8 + n_header]).unwrap();
    let of = &header["encoder.layer.1.attention.self.query.weight"]["data_offsets"];
    let [from, to] = [0, 1].map(|i| of[i].as_u64().unwrap() as usize);
    bytes[8 + n_header..][from..to].as_chunks_mut().0.fill(f32::NAN.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let out = at(&folder, "out.safetensors");
    let words = ["model", &word(&folder), "--text", "the bank", "--output", &out];
    let refused = command(&words, &[]).unwrap_err();
    insta::assert_snapshot!(refused, @"sequence 0: NaN or infinity begins in the attention of layer 1, counted from 0: the model's weights are not finite there, or too large for this precision");
    assert!(!Path::new(&out).exists());
    let refused =
        source::of_sentence(folder.path(), "the bank", Long::Refuse).map(|_| ());
    assert!(refused.unwrap_err().to_string().contains("layer 1"));
}

#[test]
#[cfg(unix)]
fn what_never_ends_is_not_read() {
    let folder = tiny("bert-1");
    for file in ["config.json", "tokenizer.json"] {
        let path = folder.path().join(file);
        let before = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let words = ["model", &word(&folder), "--text", "the bank"];
        let refused = command(&words, &[]).unwrap_err();
        assert!(refused.ends_with("it is not a regular file"), "{refused}");
        fs::remove_file(&path).unwrap();
        fs::write(&path, before).unwrap();
    }
}
