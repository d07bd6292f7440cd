//! Maps of transformers given as a file, against our own of the same model; and what is taken
//! away.

use std::fs;
use std::path::Path;

use attention::Matrix;
use fused_heads::FusedAttention;
use maps::TextHeads;
use models::decoders::{AsRead, Decoder};
use models::encoders::Encoder;
use tempfile::{TempDir, tempdir};
use tensors::{NewTensor, TensorFile, to_bytes_with};

use crate::compare::{self, Draws};
use crate::view::View;
use crate::{report, source, texts};
use models::ModelFiles;

use super::{at, command};

/// A file of maps as PyTorch's users write it, from a tiny model's reference: its `attn.L` of
/// every sequence, and which tokens are padding.
fn written(folder: &TempDir, name: &str) -> String {
    let reference = texts::models().join(name).join("reference.safetensors");
    let reference = TensorFile::open(reference).unwrap();
    let mut tensors = Vec::new();
    for name in reference.names().iter().filter(|name| name.starts_with("attn.")) {
        let tensor = reference.tensor(name).unwrap();
        let matrices = tensor.matrices().unwrap();
        tensors.push(NewTensor::new(name, tensor.shape(), &matrices).unwrap());
    }
    let mask = reference.tensor("attention_mask").unwrap();
    let flags: Vec<bool> = mask.integers().unwrap().iter().map(|&it| it == 1).collect();
    tensors.push(NewTensor::flags("attention_mask", mask.shape(), &flags).unwrap());
    let path = at(folder, &format!("{name}.safetensors"));
    fs::write(&path, to_bytes_with(&tensors, &[]).unwrap()).unwrap();
    path
}

/// The `nth` text of a file of maps, and what is said of it.
fn text_of(path: &str, nth: usize) -> anyhow::Result<(View, String)> {
    source::of_text(source::of_file(path.as_ref(), None)?, nth)
}

/// Our own maps of the reference's sequences in f64, padding cut: `[text][layer][head]`.
fn ours(name: &str) -> Vec<Vec<Vec<Matrix>>> {
    let folder = texts::models().join(name);
    let input = TensorFile::open(folder.join("reference.safetensors")).unwrap();
    let model = ModelFiles::open(&folder).unwrap();
    let sequences = model.sequences(&input).unwrap();
    let maps = sequences.iter().map(|sequence| {
        let attn = match &model {
            ModelFiles::Encoder(folder) => {
                let stage = FusedAttention::<f64>::new;
                let model = Encoder::read(folder, stage);
                model.unwrap().forward(sequence).unwrap().attn
            }
            ModelFiles::Decoder(files) => {
                let model: AsRead<f64> = Decoder::read(files).unwrap();
                model.forward_at(sequence).unwrap().attn
            }
            ModelFiles::Translator(_) => unreachable!("it has two texts"),
        };
        let real = sequence.is_real.iter().enumerate().filter(|it| *it.1);
        let real: Vec<usize> = real.map(|(at, _)| at).collect();
        let cut = |map: Matrix| map.select_rows(&real).select_columns(&real);
        attn.into_iter().map(|heads| heads.into_iter().map(cut).collect()).collect()
    });
    maps.collect()
}

fn largest_difference(text: &TextHeads, ours: &[Vec<Matrix>]) -> f64 {
    assert_eq!(text.maps.len(), ours.len());
    let own = ours.iter().flatten();
    let pairs = text.heads().map(|(_, map)| map).zip(own);
    pairs.map(|(a, b)| (a.map(f64::from) - b).amax()).fold(0.0, f64::max)
}

/// Of 1e-6, which a share in f32 leaves room for; parts of GPT-2 compute in f32 in transformers,
/// and there it is 2e-5.
#[test]
fn maps_of_transformers_in_a_file_are_our_own() {
    let folder = tempdir().unwrap();
    for (name, most, is_causal) in [("bert-1", 1e-6, false), ("gpt2-1", 2e-5, true)] {
        let path = written(&folder, name);
        let ours = ours(name);
        let mut largest = 0f64;
        for (nth, expected) in ours.iter().enumerate() {
            let (view, notes) = text_of(&path, nth).unwrap();
            assert_eq!(view.text.is_causal, is_causal, "{notes}");
            assert_eq!(notes.contains("are padding"), nth == 1, "{notes}");
            assert!(!notes.contains("do not sum"), "{notes}");
            largest = largest.max(largest_difference(&view.text, expected));
        }
        println!("{name}: largest difference {largest:.1e}");
        assert!(largest <= most, "{name}: {largest:e}");
        // The planted fault: another text's maps are far off.
        let (view, _) = text_of(&path, 0).unwrap();
        assert!(largest_difference(&view.text, &ours[2]) > 1e-2, "{name}");
        let missing = text_of(&path, 3).err().unwrap().to_string();
        let expected = "there is no text 3: it has texts 0 to 2";
        assert!(missing.ends_with(expected), "{missing}");
    }
}

#[test]
fn a_head_is_taken_away_in_every_form() {
    let folder = tempdir().unwrap();
    let maps = &written(&folder, "bert-1");
    let outs = ["a.svg", "a.csv", "a.json", "a.safetensors", "a.png"];
    let outs = outs.map(|name| at(&folder, name));
    let mut args = vec!["maps", maps, "--head", "1.2", "--mm", "60"];
    args.extend(outs.iter().flat_map(|out| ["--save", out.as_str()]));
    command(&args, &[]).unwrap();
    let read = |nth: usize| fs::read(&outs[nth]).unwrap();
    assert!(String::from_utf8(read(0)).unwrap().contains("width=\"60mm\""));
    let csv = String::from_utf8(read(1)).unwrap();
    assert_eq!(csv.lines().count(), 1 + 11 * 11);
    assert!(csv.lines().nth(1).unwrap().starts_with("1,2,0,0,"), "{csv}");
    let [(again, _), (first, _)] = [&outs[3], maps].map(|it| text_of(it, 0).unwrap());
    assert_eq!(again.text, first.text);
    let png = read(4);
    assert!(png.starts_with(b"\x89PNG"));
    // 60 mm at 600 dots an inch.
    let width = u32::from_be_bytes(png[16..20].try_into().unwrap());
    assert!(width.abs_diff(1417) <= 6, "{width}");
    // Nothing is written over, and no input at all.
    let refused = command(&args, &[]).unwrap_err();
    assert!(refused.contains("exists already"), "{refused}");
    command(&args, &["--force"]).unwrap();
    let refused = command(&["maps", maps, "--save", maps, "--force"], &[]).unwrap_err();
    assert!(refused.contains("is read by this command"), "{refused}");
    let layer = at(&folder, "layer.csv");
    command(&["maps", maps, "--head", "2", "--save", &layer], &[]).unwrap();
    let csv = fs::read_to_string(layer).unwrap();
    assert_eq!(csv.lines().count(), 1 + 4 * 11 * 11);
    for wrong in [["--save", "a.pdf"], ["--head", "9"], ["--head", "3.0"], ["--mm", "5"]]
    {
        let out = at(&folder, "new.svg");
        assert!(command(&["maps", maps, "--save", &out], &wrong).is_err(), "{wrong:?}");
        assert!(!Path::new(&out).exists(), "{wrong:?}");
    }
}

/// A formula, markup, what moves a cursor and what reverses a line, in the terminal.
#[test]
fn hostile_tokens_are_text_in_the_terminal() {
    let folder = tempdir().unwrap();
    let maps = written(&folder, "gpt2-1");
    let tokens =
        "=1+1\n<b>\n\u{1b}[31mred\n\u{202e}abc\nשלום\n\"q\"\na\tb\n\u{7}\ni\nj\nk";
    let path = folder.path().join("tokens.txt");
    fs::write(&path, tokens).unwrap();
    // The file has three texts, and lines name one.
    assert!(source::of_file(maps.as_ref(), Some(&path)).is_err());
    let (mut view, _) = text_of(&maps, 0).unwrap();
    view.text.pieces = tokens.lines().map(str::to_owned).collect();
    let report = report::of(&view, Some((0, 0)));
    assert!(!report.contains(['\u{1b}', '\u{202e}', '\u{7}', '\t']), "{report}");
    assert!(report.contains("=1+1 <b> [31mred abc שלום"), "{report}");
}

/// A decoder's queries on an encoder's keys: a table, a picture and a page.
#[test]
fn maps_between_two_texts_are_shown() {
    let folder = tempdir().unwrap();
    let map = Matrix::from_row_slice(2, 3, &[0.1, 0.8, 0.1, 0.7, 0.1, 0.2]);
    let tensor = NewTensor::new("attn.0", &[1, 2, 3], [&map]).unwrap();
    let names =
        [("tokens", "[\"der\",\"Hund\",\"</s>\"]"), ("queries", "[\"a\",\"dog\"]")];
    let path = at(&folder, "cross.safetensors");
    fs::write(&path, to_bytes_with(&[tensor], &names).unwrap()).unwrap();
    let (view, notes) = text_of(&path, 0).unwrap();
    assert!(notes.contains("read as 2 queries on 3 keys of another text"), "{notes}");
    let report = report::of(&view, Some((0, 0)));
    assert!(report.contains("2 queries: a dog"), "{report}");
    assert!(report.contains("a → Hund .80 (.10),  dog → der .70 (.10)"), "{report}");
    let page = at(&folder, "page.html");
    command(&["maps", &path, "--html", &page], &[]).unwrap();
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(r#""queries":{"pieces":["a","dog"]"#), "{page}");
}

/// A text of the file beside another of it, beside itself, and beside other heads.
#[test]
fn two_files_are_shown_side_by_side() {
    let folder = tempdir().unwrap();
    let [bert, gpt2] = ["bert-1", "gpt2-1"].map(|name| written(&folder, name));
    let view = |path: &str, nth| text_of(path, nth).unwrap().0;
    let first = view(&bert, 0);
    let of = |second: &View| compare::report(&first, second, &Draws::default()).unwrap();
    let same = of(&view(&bert, 0));
    assert!(same.contains("0 of 12 heads differ"), "{same}");
    assert!(same.lines().any(|line| line.starts_with("0.0        .00")), "{same}");
    assert!(of(&view(&bert, 2)).contains("of its rows"));
    let shorter = of(&view(&bert, 1));
    assert!(shorter.contains("7 tokens") && shorter.contains("each kind of key"));
    let mut other = view(&gpt2, 0);
    other.text.maps.pop();
    let refused =
        compare::report(&first, &other, &Draws::default()).unwrap_err().to_string();
    assert!(refused.contains("has 3 layers of 4 heads, and"), "{refused}");
    let words = ["maps", &bert, "--against", &gpt2];
    command(&words, &[]).unwrap();
    let page = at(&folder, "both.html");
    command(&words, &["--html", &page]).unwrap();
    let page = fs::read_to_string(page).unwrap();
    assert_eq!(page.matches("\"packed\":").count(), 2);
}

/// A first token alone, which is no part of a text.
#[test]
fn a_text_of_one_token_is_not_compared() {
    let folder = tempdir().unwrap();
    let written = |name: &str, n: usize, tokens: &str| {
        let map = Matrix::from_element(n, n, 1.0 / n as f64);
        let tensor = NewTensor::new("attn.0", &[1, n, n], [&map]).unwrap();
        let path = at(&folder, name);
        let bytes = to_bytes_with(&[tensor], &[("tokens", tokens)]).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    };
    let one = written("one.safetensors", 1, "[\"<s>\"]");
    let two = written("two.safetensors", 2, "[\"<s>\", \"dog\"]");
    let refused = command(&["maps", &one, "--against", &two], &[]).unwrap_err();
    insta::assert_snapshot!(refused, @"a text of one token, special ones aside, shows nothing to compare: <s> and <s> dog");
    // One file is not written twice.
    let out = at(&folder, "out.csv");
    let words = ["maps", &two, "--save", &out];
    let refused = command(&words, &["--save", &out]).unwrap_err();
    assert!(refused.ends_with("two files are to be written there"));
    assert!(!Path::new(&out).exists());
    command(&words, &[]).unwrap();
}
