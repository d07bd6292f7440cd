//! The zoo under PyTorch, as it is kept, computes what the bank computes.

use std::collections::BTreeMap;
use std::fs;

use diagnosis::{Overrides, State, bank, computed, mistake, read};
use sha2::{Digest, Sha256};
use tensors::TensorFile;
use workshop::paths;
use zoo::{SOURCE, with_table};

const RENEW: &str =
    "`cargo learn zoo --keep PYTHON` renews it, with a Python that has PyTorch";
/// So far apart two computations may be.
const CLOSE: f64 = 1e-5;

fn kept(name: &str) -> TensorFile {
    let path = paths::workspace().join(format!("tests/data/zoo/{name}.safetensors"));
    TensorFile::open(path).unwrap_or_else(|error| panic!("{error}; {RENEW}"))
}

/// The hash of texts, with the line ends of the repository.
fn hash(texts: impl IntoIterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    texts.into_iter().for_each(|text| hash.update(text.replace("\r\n", "\n")));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How far PyTorch's output of a layer with a mistake, or without, is from the bank's.
fn difference(outputs: &TensorFile, layer: &str, id: &str) -> f64 {
    let reading = read(&[&kept(layer)], &Overrides::default()).unwrap();
    let mut record = reading.record;
    let mistakes = Vec::from_iter(mistake(id));
    assert!(id == "right" || mistakes.len() == 1, "the bank has no {id}");
    // What is infinite or no number is so in both.
    let far = |(a, b): (&f64, &f64)| match a.to_string() == b.to_string() {
        true => 0.0,
        false => f64::INFINITY.min((a - b).abs()),
    };
    // Of outputs, every second column is kept.
    let apart = |state, record: &_, name: &str| {
        let own = computed(record, &reading.intent, state, &mistakes).unwrap_or_default();
        let of = outputs.tensor(name).unwrap().matrices().unwrap();
        let step = if state == State::Output { 2 } else { 1 };
        let own = own.iter().flat_map(|m| m.column_iter().step_by(step));
        let (own, of) = (own.flatten().collect::<Vec<_>>(), of.iter().flatten());
        if own.len() != of.clone().count() {
            return f64::INFINITY;
        }
        own.into_iter().zip(of).map(far).fold(0.0, f64::max)
    };
    let name = format!("{layer} {id}");
    let map = format!("{name} map");
    let Some(own) = outputs.get(&map) else {
        return apart(State::Output, &record, &name);
    };
    // Which of its weights are 0 is drawn, and all else follows.
    record.tensors.insert(State::Attn, own.matrices().unwrap());
    apart(State::Attn, &record, &map).max(apart(State::Output, &record, &name))
}

#[test]
fn every_switch_computes_what_the_bank_computes() {
    let outputs = kept("outputs");
    let source = hash([SOURCE.to_owned()]);
    assert_eq!(outputs.text("zoo.py"), Some(source.as_str()), "it has changed: {RENEW}");
    let mut most: BTreeMap<String, f64> = BTreeMap::new();
    for name in outputs.names().iter().filter(|name| !name.ends_with(" map")) {
        let (layer, id) = name.split_once(' ').unwrap();
        let most = most.entry(id.to_owned()).or_default();
        *most = most.max(difference(&outputs, layer, id));
    }
    most.iter().for_each(|(id, far)| println!("{id} {far:.1e}"));
    let wrong: Vec<_> = most.iter().filter(|(_, far)| **far > CLOSE).collect();
    assert!(wrong.is_empty(), "the bank computes something else: {wrong:?}");
    let is_missing = |id: &&str| !most.contains_key(*id);
    let missing: Vec<&str> = bank().map(|it| it.id).filter(is_missing).collect();
    assert!(missing.is_empty(), "no layer shows {missing:?}");
    println!(
        "{} switches, at most {:.1e} apart",
        most.len() - 1,
        most.values().fold(0.0, |a, b| b.max(a))
    );
}

#[test]
fn the_table_of_mistakes_is_the_banks() {
    let source = SOURCE.replace("\r\n", "\n");
    assert!(with_table(&source).unwrap() == source, "the table is another: {RENEW}");
}

/// The scores are of the tests that are there.
#[test]
fn the_suites_are_those_that_were_scored() {
    let folder = paths::workspace().join("crates/tools/zoo/python");
    let mut files: Vec<_> = fs::read_dir(folder.join("suites")).unwrap().collect();
    files.sort_by_key(|file| file.as_ref().unwrap().file_name());
    let suites =
        files.into_iter().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let sources = hash(suites.chain([SOURCE.to_owned()]));
    let scores = paths::workspace().join("tests/data/zoo/scores.json");
    let scores = fs::read_to_string(scores).unwrap();
    assert!(scores.contains(&sources), "a suite has changed: {RENEW}");
}
