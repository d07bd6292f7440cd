//! The command as it is run: its results where nobody reads, and where a disk is full.

mod ends;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use attention::Matrix;
use ends::errors;
use tensors::{Existing, NewTensor, TensorFile, save};

/// A layer of d_model 4 without biases, and three tokens.
fn write_layer(folder: &Path) {
    let weight = Matrix::from_fn(12, 4, |i, j| (i as f64 - 2.0 * j as f64) / 10.0);
    let out = Matrix::<f64>::identity(4, 4);
    let query = Matrix::from_fn(3, 4, |i, j| (i + j) as f64);
    let tensors = [
        NewTensor::new("in_proj_weight", &[12, 4], [&weight]).unwrap(),
        NewTensor::new("out_proj.weight", &[4, 4], [&out]).unwrap(),
        NewTensor::new("query", &[3, 4], [&query]).unwrap(),
    ];
    save(&folder.join("layer.safetensors"), &tensors, Existing::Keep).unwrap();
}

fn command(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_terminal"));
    command.current_dir(folder).args(words.split(' ')).stderr(Stdio::piped());
    command
}

const ATTEND: &str = "attend layer.safetensors layer.safetensors --heads 2";

/// Each that prints and needs no minutes.
const COMMANDS: [&str; 3] = ["tour", "count", ATTEND];

#[test]
fn nobody_who_reads_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    write_layer(folder.path());
    for words in COMMANDS {
        ends::well_where_nobody_reads(command(folder.path(), words));
    }
    let results = folder.path().join("attended.safetensors");
    assert_eq!(TensorFile::open(results).unwrap().names(), ["attn_heads", "output"]);
}

/// Two heads of 40,000 tokens: a file of a megabyte, and 26 GB of maps.
#[test]
fn maps_that_would_fill_the_memory_are_refused_with_their_number() {
    let folder = tempfile::tempdir().unwrap();
    write_layer(folder.path());
    let long = Matrix::<f64>::zeros(40_000, 4);
    let query = NewTensor::new("query", &[40_000, 4], [&long]).unwrap();
    save(&folder.path().join("long.safetensors"), &[query], Existing::Keep).unwrap();
    let words = "attend layer.safetensors long.safetensors --heads 2";
    let output = command(folder.path(), words).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains("have 3200000000 shares"), "{}", errors(&output));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    write_layer(folder.path());
    for words in COMMANDS {
        ends::with_an_error_on_a_full_disk(command(folder.path(), words));
    }
    assert!(folder.path().join("attended.safetensors").exists());
}

#[test]
fn of_many_onto_one_new_file_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    write_layer(folder.path());
    let start = || command(folder.path(), ATTEND).stdout(Stdio::null()).spawn().unwrap();
    let children: Vec<_> = (0..6).map(|_| start()).collect();
    let ended = children.into_iter().map(|child| child.wait_with_output().unwrap());
    let ended: Vec<Output> = ended.collect();
    let n = ended.iter().filter(|output| output.status.success()).count();
    assert_eq!(n, 1, "{:?}", ended.iter().map(errors).collect::<Vec<_>>());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// A case of tests/data/models/cases as `attend` answers it: what it writes, or its error.
fn case(name: &str) -> Result<(TensorFile, TensorFile), String> {
    let folder = tempfile::tempdir().unwrap();
    let cases =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/models/cases");
    let case = cases.join(name);
    let [layer, input, reference] = ["layer", "tensors", "reference"]
        .map(|file| case.join(format!("{file}.safetensors")));
    let mut attend = command(folder.path(), "attend --heads 4 --unused");
    let output = attend.args([&layer, &input]).output().unwrap();
    let results = folder.path().join("attended.safetensors");
    match output.status.success() {
        true => {
            Ok((TensorFile::open(results).unwrap(), TensorFile::open(reference).unwrap()))
        }
        false => {
            assert!(!results.exists());
            // With the separator of the system behind it.
            let case = case.join("").display().to_string();
            Err(errors(&output).replace(&case, ""))
        }
    }
}

#[test]
fn a_mask_of_a_larger_layer_is_its_attention_s() {
    let (found, expected) = case("attend-src_key_padding_mask").unwrap();
    for name in ["output", "attn_heads"] {
        let [found, expected] =
            [&found, &expected].map(|file| file.tensor(name).unwrap().numbers().unwrap());
        let largest = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        assert!(largest.fold(0.0, f64::max) < 1e-12, "{name}");
    }
}

#[test]
fn a_table_of_rotations_is_refused() {
    insta::assert_snapshot!(case("attend-esm-rotary").unwrap_err(), @"error: layer.safetensors: esm.encoder.layer.0.attention.self.rotary_embeddings.inv_freq: a table of rotary positions: this layer rotates queries and keys, which is not computed here");
}

/// A layer with a name and a mask of its tokens' padding as INPUT and WEIGHTS at once.
fn output_of(prefix: &str, mask: Option<&str>) -> Result<Vec<f64>, String> {
    let folder = tempfile::tempdir().unwrap();
    let weight = Matrix::from_fn(12, 4, |i, j| (i as f64 - 2.0 * j as f64) / 10.0);
    let out = Matrix::<f64>::identity(4, 4);
    let query = Matrix::from_fn(3, 4, |i, j| (i + j) as f64);
    let scores = Matrix::from_row_slice(1, 3, &[0.0, 0.0, f64::NEG_INFINITY]);
    let mut tensors = vec![NewTensor::new("query", &[1, 3, 4], [&query]).unwrap()];
    for prefix in [prefix, if prefix.is_empty() { "" } else { "self_attn." }] {
        let names =
            ["in_proj_weight", "out_proj.weight"].map(|it| format!("{prefix}{it}"));
        if tensors.iter().all(|tensor| tensor.name() != names[0]) {
            tensors.push(NewTensor::new(&names[0], &[12, 4], [&weight]).unwrap());
            tensors.push(NewTensor::new(&names[1], &[4, 4], [&out]).unwrap());
        }
    }
    tensors.extend(mask.map(|name| NewTensor::new(name, &[1, 3], [&scores]).unwrap()));
    save(&folder.path().join("layer.safetensors"), &tensors, Existing::Keep).unwrap();
    let mut attend = command(folder.path(), ATTEND);
    let output = attend.args(["--prefix", prefix]).output().unwrap();
    if !output.status.success() {
        return Err(errors(&output));
    }
    let file = TensorFile::open(folder.path().join("attended.safetensors")).unwrap();
    Ok(file.tensor("output").unwrap().numbers().unwrap())
}

#[test]
fn a_mask_of_another_attention_is_not_applied() {
    let cross = |mask| output_of("multihead_attn.", mask);
    let unmasked = cross(None).unwrap();
    assert_eq!(cross(Some("tgt_key_padding_mask")).unwrap(), unmasked);
    assert_ne!(cross(Some("memory_key_padding_mask")).unwrap(), unmasked);
    assert_ne!(cross(Some("key_padding_mask")).unwrap(), unmasked);
    insta::assert_snapshot!(cross(Some("src_key_padding_mask")).unwrap_err(), @"error: layer.safetensors: src_key_padding_mask: the mask of an attention of tokens to each other, and this layer attends to another sequence: leave it out, or call it memory_key_padding_mask or memory_mask if it is of that sequence's tokens");
    let itself = |mask| output_of("self_attn.", mask);
    insta::assert_snapshot!(itself(Some("memory_key_padding_mask")).unwrap_err(), @"error: layer.safetensors: memory_key_padding_mask: the mask of an attention to another sequence (memory), which this layer is not: leave it out, or call it key_padding_mask or attn_mask if it is this layer's");
}

#[test]
fn one_file_may_hold_a_layer_and_its_masks() {
    let unmasked = output_of("", None).unwrap();
    assert_ne!(output_of("", Some("key_padding_mask")).unwrap(), unmasked);
    insta::assert_snapshot!(output_of("", Some("inputs.key_padding_mask")).unwrap_err(), @"error: layer.safetensors: inputs.key_padding_mask: a mask by a name that does not say what True means: give key_padding_mask, (batch, n_kv), or attn_mask, (n_q, n_kv), in which True is blocked");
}
