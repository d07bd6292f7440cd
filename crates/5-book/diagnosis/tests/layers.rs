//! The layers in `layers/`: as people write them, with what their code gave.

use std::fs;
use std::path::Path;

use diagnosis::{Diagnosis, Mistake, Overrides, Verdict, diagnose, read};
use tensors::TensorFile;

/// Each with its mistakes, in the words of `layers/README.md`.
const LAYERS: [(&str, &[&str]); 22] = [
    ("r01", &[]),
    ("r03", &[]),
    ("r05", &[]),
    ("r06", &[]),
    ("r07", &[]),
    ("r08", &[]),
    ("a01", &["merged without transpose"]),
    ("a02", &["split without transpose"]),
    ("a03", &["scaled by sqrt(d_model)"]),
    ("a08", &["mask of the opposite sign"]),
    ("a11", &["filled with -1e-9"]),
    ("a13", &["no weight transposed"]),
    ("a21", &["packed head by head"]),
    ("a24", &["rotary pairs and halves exchanged"]),
    ("a27", &["key heads tiled"]),
    ("b01", &["not scaled", "biases left out"]),
    ("k01", &["norms after the rotation"]),
    ("k02", &["norms over all tokens"]),
    ("k03", &["window counted from the first query"]),
    ("k04", &["last key dropped for the sink"]),
    ("s01", &["softmax over queries", "W^O not transposed"]),
    ("u01", &["unknown"]),
];

#[test]
fn each_is_what_it_is() {
    let mut report = String::new();
    for (name, expected) in LAYERS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layers");
        let bytes = fs::read(path.join(format!("{name}.safetensors"))).unwrap();
        let file = TensorFile::from_bytes(name, bytes).unwrap();
        let reading = read(&[&file], &Overrides::default()).unwrap();
        let diagnosis = diagnose(&reading.record, &reading.intent).unwrap();
        let verdict = match expected {
            [] => Verdict::Right,
            ["unknown"] => Verdict::Unknown,
            _ => Verdict::Mistake,
        };
        let names = |set: &Vec<&'static Mistake>| -> Vec<&str> {
            set.iter().map(|mistake| mistake.entry().name.as_str()).collect()
        };
        let sets: Vec<Vec<&str>> = diagnosis.explanations.iter().map(names).collect();
        let Diagnosis { verdict: found, precision, .. } = diagnosis;
        report += &format!("{name} {found:?} {precision} {sets:?}\n");
        assert_eq!(found, verdict, "{name}: {sets:?}");
        let is_named = |set: &Vec<&str>| {
            set.len() == expected.len() && expected.iter().all(|name| set.contains(name))
        };
        let is_explained = verdict != Verdict::Mistake || sets.iter().any(is_named);
        assert!(is_explained, "{name}: {sets:?}");
    }
    insta::assert_snapshot!(report);
}
