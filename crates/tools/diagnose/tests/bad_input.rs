//! `cargo learn diagnose` on files that say what makes no sense.

mod run;

use std::path::{Path, PathBuf};

use run::{changed, diagnose};
use serde_json::json;

/// A right layer with another tensor, of zeros.
fn with(folder: &Path, name: &str, tensor: &str, shape: &[u64]) -> PathBuf {
    changed(folder, name, |header, numbers| {
        let from = numbers.len() as u64;
        let offsets = [from, from + shape.iter().product::<u64>()];
        header[tensor] = json!({"dtype": "U8", "shape": shape, "data_offsets": offsets});
    })
}

#[test]
fn numbers_without_a_meaning_in_the_metadata_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (key, text) in [
        ("scale", "NaN"),
        ("scale", "0"),
        ("base", "-inf"),
        ("rope_theta", "-1"),
        ("cap", "0"),
        ("softcap", "1e999"),
    ] {
        let path = changed(folder.path(), "r01", |header, _| {
            header["__metadata__"][key] = text.into();
        });
        diagnose(&path, &[]).refuses(", which should be a finite number");
    }
}

/// Others are multiplied and divided by them.
#[test]
fn sizes_that_no_layer_has_are_refused_before_they_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let masked = with(folder.path(), "r03", "mask", &[2, 7, 7]);
    for heads in ["18446744073709551615", "9223372036854775808", "3"] {
        let options = ["--heads", heads, "--kv-heads", "1"];
        diagnose(&masked, &options).refuses("among").refuses(heads);
    }
    let path = with(folder.path(), "r03", "k", &[2, 0, 7, 4]);
    let options = ["--heads", "4", "--kv-heads", "0"];
    diagnose(&path, &options).refuses("at least one head");
    let path = changed(folder.path(), "r06", |header, numbers| {
        let offsets = [numbers.len(), numbers.len() + 7 * 4];
        header["key"] = json!({"dtype": "F32", "shape": [7], "data_offsets": offsets});
    });
    diagnose(&path, &[]).refuses("key has shape (7)");
}

/// Tens of gigabytes: read, they would end this test.
#[test]
#[cfg(unix)]
fn what_is_huge_is_refused_by_its_shape_and_what_is_not_used_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let huge = [1 << 18, 1 << 18];
    let path = with(folder.path(), "r01", "embeddings.weight", &huge);
    diagnose(&path, &[]).with(0);
    for (tensor, options) in
        [("mask", vec![]), ("decoder.qkv.weight", vec!["--prefix", "decoder."])]
    {
        let path = with(folder.path(), "r01", tensor, &huge);
        diagnose(&path, &options).refuses("entries, and 134217728 at most are read");
    }
}

#[test]
fn nothing_in_names_moves_the_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let name = "x\u{1b}]0;y\u{7}\u{202e}\u{9b}31m";
    let path = with(folder.path(), "r01", &format!("{name}.qkv.weight"), &[1]);
    for options in [vec![], vec!["--name", name], vec!["--heads", name]] {
        let ended = diagnose(&path, &options);
        let error = &ended.refuses("]0;y").error;
        assert!(!error.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}']), "{error}");
    }
    diagnose(&folder.path().join("x\u{202e}y"), &[]).refuses(r"x\u202ey");
}
