//! Layers in files. Those in `layers/`: as people write them, with what their code gave; and what
//! the lines to paste write, where their framework is there.
//!
//! What a file says: masks of every shape are one mask, and what is not read is harmless or
//! refused by its name.

use std::fs;
use std::path::Path;
use std::process::Command;

use attention::{Matrix, Rng, SeedableRng, random_matrix};
use diagnosis::{
    Diagnosis, Mistake, Overrides, Reading, Verdict, diagnose, read, snippets,
};
use tensors::{NewTensor, TensorFile, to_bytes_with};

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
fn frameworks_own_layers_are_right() {
    let torch = "import torch\ntorch.manual_seed(0)\n\
                 mha = torch.nn.MultiheadAttention(12, 3, batch_first=True)";
    let after = "x = torch.randn(2, 5, 12)\nmha(x, x, x)";
    let jax = include_str!("snippets/jax.py");
    let reading = written("torch, safetensors", torch, snippets::TORCH, after);
    expect(reading, Verdict::Right);
    expect(written("jax, safetensors", jax, snippets::JAX, ""), Verdict::Right);
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

const META: &[(&str, &str)] = &[("heads", "2"), ("causal", "true"), ("rotary", "halves")];

fn floats(name: &str, shape: &[usize]) -> NewTensor {
    let rng = &mut Rng::seed_from_u64(1);
    let n = shape.iter().product();
    let numbers = random_matrix::<f64>(1, n, 1.0, rng).map(|x| x as f32);
    NewTensor::new(name, shape, [&numbers]).unwrap()
}

/// A layer of 2 sequences of 3 tokens, behind a prefix, with other tensors and metadata.
fn reading(
    prefix: &str,
    others: Vec<NewTensor>,
    texts: &[(&str, &str)],
) -> Result<Reading, String> {
    let names = ["q_proj", "k_proj", "v_proj", "o_proj"];
    let mut tensors: Vec<NewTensor> = names
        .iter()
        .map(|name| floats(&format!("{prefix}{name}.weight"), &[8, 8]))
        .collect();
    tensors.extend([floats("query", &[2, 3, 8]), floats("output", &[2, 3, 8])]);
    tensors.extend(others);
    let bytes = to_bytes_with(&tensors, texts).unwrap();
    let file = TensorFile::from_bytes("a file", bytes).unwrap();
    read(&[&file], &Overrides::default()).map_err(|error| error.to_string())
}

fn refused(prefix: &str, name: &str) -> String {
    reading(prefix, vec![floats(name, &[2, 2])], META).map_or_else(
        |error| error,
        |reading| reading.assumed.last().cloned().unwrap_or_default(),
    )
}

fn with_text(key: &str, text: &str) -> String {
    let texts = [META, &[(key, text)]].concat();
    reading("", vec![], &texts).map_or_else(|error| error, |_| "read".to_string())
}

#[test]
fn what_would_make_it_another_layer_is_refused_by_its_name() {
    insta::assert_snapshot!(refused("", "surprise"), @"surprise: not known here, and it may change the result: take it out of the file if it does not");
    insta::assert_snapshot!(refused("", "relative_attention_bias.weight"), @"relative_attention_bias.weight: a table of relative positions: this layer adds to its scores by distance, which is not computed here");
    insta::assert_snapshot!(refused("a.", "a.gate.weight"), @"a.gate.weight: gates or scales of heads or of what attention puts out, which is not computed here");
    insta::assert_snapshot!(refused("a.", "a.q_proj.lora_A.weight"), @"a.q_proj.lora_A.weight: an adapter (LoRA) is not merged: it is added to a weight, so merge it into the weight before saving");
    insta::assert_snapshot!(refused("a.", "a.q_norm.weight"), @"a.q_norm.weight is there, and the norm of the other one of queries and keys is not");
    insta::assert_snapshot!(refused("a.", "a.bias_k"), @"a.bias_k: a key or value that is appended to every sequence, which is not computed here");
    insta::assert_snapshot!(refused("a.", "a.q_bias"), @"a.q_bias: not known here, and it may change the result: take it out of the file if it does not");
    insta::assert_snapshot!(refused("a.", "attn_bias"), @"attn_bias: added to the scores by its name: give it as attn_mask, (n_q, n_kv) or (batch · heads, n_q, n_kv), in floats");
    insta::assert_snapshot!(refused("a.", "alibi"), @"alibi: a table of relative positions: this layer adds to its scores by distance, which is not computed here");
    // What is not in the layer's own module is no part of it.
    insta::assert_snapshot!(refused("a.", "b.mlp.weight"), @"no cap");
    insta::assert_snapshot!(refused("", "attn_output_weights"), @"attn_output_weights is not used: what a layer gave, not what it gets");
}

#[test]
fn a_kind_of_norm_that_nothing_says_is_assumed() {
    let norms = || vec![floats("q_norm.weight", &[4]), floats("k_norm.weight", &[4])];
    let assumed = |texts: &[(&str, &str)]| {
        let reading = reading("", norms(), &[META, texts].concat()).unwrap();
        reading.assumed.iter().any(|it| it.contains("subtract no mean"))
    };
    assert!(assumed(&[]));
    assert!(!assumed(&[("qk_norm", "layer")]) && !assumed(&[("qk_norm", "rms")]));
}

#[test]
fn what_metadata_says_of_another_layer_is_refused() {
    insta::assert_snapshot!(with_text("author", "one"), @"read");
    insta::assert_snapshot!(with_text("rope_scaling", "linear"), @"a file: its metadata has rope_scaling: linear, and such positions are not computed here");
    insta::assert_snapshot!(with_text("attention_window_size", "4"), @"a file: its metadata has attention_window_size: 4, and there is no such window here");
    insta::assert_snapshot!(with_text("sliding_window", "none"), @"read");
    insta::assert_snapshot!(with_text("head_dim", "8"), @"a file: its metadata has head_dim: 8, and a head is of another width here");
    insta::assert_snapshot!(with_text("config", r#"{"rope_theta": 5e5}"#), @"a file: its metadata has config.rope_theta: 500000.0, and such positions are not computed here");
    insta::assert_snapshot!(with_text("config", r#"{"rope_theta": 1e4}"#), @"read");
    insta::assert_snapshot!(with_text("offset", "-1"), @r#"the metadata says offset = "-1", which should be a count of tokens"#);
}

#[test]
fn a_mask_is_the_same_in_every_shape() {
    let open = |s: usize, i: usize, j: usize| j <= i && (s == 0 || j < 2);
    let all = |columns: usize| {
        (0..6 * columns).map(move |at| (at / columns / 3, at / columns % 3, at % columns))
    };
    let is_open = |columns: usize| -> Vec<bool> {
        all(columns).map(|(s, i, j)| j < 3 && open(s, i, j)).collect()
    };
    let flags = |name, shape: &[usize], flags: Vec<bool>| {
        NewTensor::flags(name, shape, &flags).unwrap()
    };
    let scores = |name, columns: usize, low: f32| {
        let added = is_open(columns).into_iter().map(|open| if open { 0.0 } else { low });
        let row = Matrix::<f32>::from_iterator(1, 6 * columns, added);
        NewTensor::new(name, &[2, 1, 3, columns], [&row]).unwrap()
    };
    let blocked = || is_open(3).into_iter().map(|open| !open).collect::<Vec<bool>>();
    let causal = [false, true, true, false, false, true, false, false, false];
    let real = vec![true, true, true, true, true, false];
    let padded = || real.iter().map(|open| !open).collect::<Vec<bool>>();
    let files = [
        vec![flags("attention_mask", &[2, 1, 3, 3], is_open(3))],
        vec![flags("attn_mask", &[2, 3, 3], blocked())],
        vec![scores("attention_mask", 3, f32::MIN)],
        vec![scores("mask", 3, f32::NEG_INFINITY)],
        // A static cache, and numbers that are low enough.
        vec![scores("attention_mask", 5, -1e4)],
        vec![
            flags("attn_mask", &[3, 3], causal.to_vec()),
            flags("attention_mask", &[2, 3], real.clone()),
        ],
        vec![
            flags("attn_mask", &[1, 1, 3, 3], causal.to_vec()),
            flags("mask", &[2, 1, 1, 3], padded()),
        ],
        vec![
            flags("attn_mask", &[3, 3], causal.to_vec()),
            flags("key_padding_mask", &[2, 3], padded()),
        ],
    ];
    for (at, file) in files.into_iter().enumerate() {
        let reading = reading("", file, &[("heads", "2")]).unwrap();
        let masks = reading.record.masks;
        assert_eq!(masks.added, None, "{at}");
        let pairs = masks.pairs.unwrap();
        for (s, i, j) in all(3) {
            let of_pairs = pairs[if pairs.len() == 1 { 0 } else { s }][(i, j)];
            let of_padding = masks.padding.as_ref().is_none_or(|all| all[s][j]);
            assert_eq!(of_pairs && of_padding, open(s, i, j), "{at}: {s} {i} {j}");
        }
    }
}

#[test]
fn what_a_mask_adds_is_kept_and_slopes_are_recognised() {
    let slopes = [0.5f32, 0.25];
    let distance = |c: usize| ((c / 3 % 3) as f32 - (c % 3) as f32).abs();
    let of = |more: f32| {
        let added = Matrix::from_fn(1, 18, |_, c| {
            let more = if c == 3 { more } else { 0.0 };
            if c % 3 > c / 3 % 3 { -1e9 } else { -slopes[c / 9] * distance(c) + more }
        });
        let mask = NewTensor::new("attn_mask", &[1, 2, 3, 3], [&added]).unwrap();
        reading("", vec![mask], &[("heads", "2")]).unwrap()
    };
    let alibi = of(0.0);
    assert_eq!(alibi.intent.slopes, Some(vec![0.5, 0.25]));
    let masks = alibi.record.masks;
    assert_eq!((masks.added, masks.pairs.unwrap().len()), (None, 4));
    // With more on one score, it is no slope.
    let other = of(0.5);
    assert!(other.intent.slopes.is_none() && other.record.masks.added.is_some());
}

#[test]
fn no_file_is_no_layer() {
    let file = TensorFile::from_bytes("empty", b"\x02\0\0\0\0\0\0\0{}".to_vec());
    let error = read(&[&file.unwrap()], &Default::default()).unwrap_err().to_string();
    assert!(error.starts_with("no layer was found"), "{error}");
}
