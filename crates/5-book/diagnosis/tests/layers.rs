//! The layers in `layers/`: as people write them, with what their code gave; and what the lines
//! to paste write, where their framework is there.

use std::fs;
use std::path::Path;
use std::process::Command;

use diagnosis::{
    Diagnosis, Mistake, Overrides, Reading, Verdict, diagnose, read, snippets,
};
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

/// What a program with these lines in it writes; nothing where a package that it needs is not
/// there.
fn written(packages: &str, before: &str, snippet: &str, after: &str) -> Option<Reading> {
    let folder = tempfile::tempdir().unwrap();
    let python = |program: &str| {
        let mut python = Command::new("python3");
        python.current_dir(folder.path()).args(["-c", program]).output()
    };
    let has = python(&format!("import {packages}"));
    if !has.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no {packages}");
        return None;
    }
    let output = python(&format!("{before}\n{snippet}\n{after}")).expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = TensorFile::open(folder.path().join("layer.safetensors")).unwrap();
    Some(read(&[&file], &Overrides::default()).unwrap())
}

fn expect(reading: Option<Reading>, verdict: Verdict) {
    let Some(reading) = reading else { return };
    let diagnosis = diagnose(&reading.record, &reading.intent).unwrap();
    assert_eq!(diagnosis.verdict, verdict, "{:?}", diagnosis.explanations);
}

#[test]
fn pytorchs_own_layer_is_right() {
    let before = "import torch\ntorch.manual_seed(0)\n\
                  mha = torch.nn.MultiheadAttention(12, 3, batch_first=True)";
    let after = "x = torch.randn(2, 5, 12)\nmha(x, x, x)";
    let reading = written("torch, safetensors", before, snippets::TORCH, after);
    expect(reading, Verdict::Right);
}

const MODULE: &str = include_str!("snippets/module.py");

#[test]
fn a_module_of_ones_own_is_right_or_not() {
    let mask = "torch.tensor([[False] * 5, [False] * 3 + [True] * 2])";
    for (dim, mask, verdict) in [
        ("-1", "None", Verdict::Right),
        ("-1", mask, Verdict::Right),
        ("-2", "None", Verdict::Mistake),
    ] {
        let before = MODULE.replace("SOFTMAX", dim).replace("MASK", mask);
        let reading = written("torch, safetensors", &before, snippets::MODULE, "");
        let has_mask = reading.as_ref().is_some_and(|it| !it.record.masks.is_empty());
        assert!(reading.is_none() || has_mask == (mask != "None"));
        expect(reading, verdict);
    }
}

#[test]
fn jax_is_right() {
    let before = include_str!("snippets/jax.py");
    let reading = written("jax, safetensors", before, snippets::JAX, "");
    expect(reading, Verdict::Right);
}
