//! What the 72 heads of a whole trained model do, and what it loses without them: all of it
//! left out where the model is not.

mod ablation;
mod atlas;
mod claims;
mod few_bits;
mod pairs;
mod pronouns;

use std::fs;
use std::sync::OnceLock;

use attention::LayerParameters;
use lessons::trained;
use lessons::trained_heads::whole;
use model_files::Sequence;
use models::encoders::Encoder;
use serde_json::Value;
use workshop::paths;

type Parameters = Encoder<LayerParameters<f32>, f32>;

/// The model, or `None` and a message.
fn minilm() -> Option<&'static Parameters> {
    static MODEL: OnceLock<Option<Parameters>> = OnceLock::new();
    let read = || {
        let folder = paths::minilm();
        let is_there = folder.is_dir();
        is_there.then(|| Encoder::load(folder, LayerParameters::clone).unwrap())
    };
    let model = MODEL.get_or_init(read).as_ref();
    if model.is_none() {
        println!("left out: `cargo learn look --download` fetches the model");
    }
    model
}

/// Three decimals, which are kept.
fn kept_decimals(x: f64) -> f64 {
    (x * 1e3).round() / 1e3 + 0.0
}

/// A part of what the lesson has of the heads.
#[track_caller]
fn assert_kept(part: &str, found: &Value) {
    let kept = serde_json::to_value(whole::findings().unwrap()).unwrap();
    assert!(*found == kept[part], "{part} of data/minilm.json is to be {found}");
}

/// A text of `tests/data/models/ids.tsv`.
struct Text {
    sequence: Sequence,
    /// Of a pair: the pronoun, the two nouns, and the control.
    asked: Vec<usize>,
}

/// The texts of a kind.
fn texts(kind: &str) -> Vec<Text> {
    let path = paths::workspace().join("tests/data/models/ids.tsv");
    let numbers = |text: &str| -> Vec<usize> {
        text.split_whitespace().map(|number| number.parse().unwrap()).collect()
    };
    let text = |line: &str| {
        let mut parts = line.split('\t');
        let mut part = || parts.next().unwrap().to_owned();
        (part() == kind).then(|| Text {
            sequence: Sequence::new(numbers(&part())),
            asked: numbers(&part()),
        })
    };
    fs::read_to_string(path).unwrap().lines().filter_map(text).collect()
}

/// `[CLS]` and `[SEP]` are no part of a text.
fn is_special(n: usize) -> Vec<bool> {
    (0..n).map(|i| i == 0 || i + 1 == n).collect()
}

/// Which tokens are words or pieces of one: no `[CLS]`, no `[SEP]`, no mark.
fn words(sequence: &Sequence) -> Vec<usize> {
    static PIECES: OnceLock<Vec<String>> = OnceLock::new();
    let pieces = PIECES.get_or_init(|| {
        let json = fs::read(paths::minilm().join("tokenizer.json")).unwrap();
        let json: Value = serde_json::from_slice(&json).unwrap();
        let vocabulary = json["model"]["vocab"].as_object().unwrap();
        let mut pieces = vec![String::new(); vocabulary.len()];
        for (piece, id) in vocabulary {
            pieces[usize::try_from(id.as_u64().unwrap()).unwrap()].clone_from(piece);
        }
        pieces
    });
    let is_word = |&at: &usize| trained::is_word(&pieces[sequence.ids[at]]);
    (0..sequence.n_tokens()).filter(is_word).collect()
}
