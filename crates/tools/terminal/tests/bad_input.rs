//! `cargo learn diagnose` on files that say what makes no sense.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// How it ends, and the error.
fn diagnose(path: &Path, options: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_terminal"));
    let output = command.arg("diagnose").arg(path).args(options).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The error of what cannot be read.
#[track_caller]
fn refused(path: &Path, options: &[&str]) -> String {
    let (status, error) = diagnose(path, options);
    assert_eq!(status, Some(2), "{error}");
    error
}

/// A right layer in a file whose header is changed, and behind which zeros follow as far as
/// it says: a hole that takes no place on the disk.
fn layer(folder: &Path, name: &str, change: impl FnOnce(&mut Value, u64)) -> PathBuf {
    let layers = "../../5-book/diagnosis/tests/layers";
    let layers = Path::new(env!("CARGO_MANIFEST_DIR")).join(layers);
    let bytes = fs::read(layers.join(format!("{name}.safetensors"))).unwrap();
    let (length, rest) = bytes.split_first_chunk().unwrap();
    let (header, numbers) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let mut header: Value = serde_json::from_slice(header).unwrap();
    change(&mut header, numbers.len() as u64);
    let ends = header.as_object().unwrap().values();
    let ends = ends.filter_map(|tensor| tensor["data_offsets"][1].as_u64());
    let header_text = header.to_string();
    let length = (header_text.len() as u64).to_le_bytes();
    let path = folder.join("layer.safetensors");
    fs::write(&path, [&length, header_text.as_bytes(), numbers].concat()).unwrap();
    let n_bytes = 8 + header_text.len() as u64 + ends.max().unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(n_bytes).unwrap();
    path
}

/// With another tensor, of zeros.
fn with(folder: &Path, name: &str, tensor: &str, shape: &[u64]) -> PathBuf {
    layer(folder, name, |header, from| {
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
        let path = layer(folder.path(), "r01", |header, _| {
            header["__metadata__"][key] = text.into();
        });
        let error = refused(&path, &[]);
        assert!(error.contains(", which should be a finite number"), "{key}: {error}");
    }
}

/// Others are multiplied and divided by them.
#[test]
fn sizes_that_no_layer_has_are_refused_before_they_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let masked = with(folder.path(), "r03", "mask", &[2, 7, 7]);
    for heads in ["18446744073709551615", "9223372036854775808", "3"] {
        let error = refused(&masked, &["--heads", heads, "--kv-heads", "1"]);
        assert!(error.contains("among") && error.contains(heads), "{error}");
    }
    let path = with(folder.path(), "r03", "k", &[2, 0, 7, 4]);
    let error = refused(&path, &["--heads", "4", "--kv-heads", "0"]);
    assert!(error.contains("at least one head"), "{error}");
    let path = layer(folder.path(), "r06", |header, from| {
        let offsets = [from, from + 7 * 4];
        header["key"] = json!({"dtype": "F32", "shape": [7], "data_offsets": offsets});
    });
    let error = refused(&path, &[]);
    assert!(error.contains("key has shape (7)"), "{error}");
}

/// Tens of gigabytes: read, they would end this test.
#[test]
#[cfg(unix)]
fn what_is_huge_is_refused_by_its_shape_and_what_is_not_used_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let huge = [1 << 18, 1 << 18];
    let path = with(folder.path(), "r01", "embeddings.weight", &huge);
    assert_eq!(diagnose(&path, &[]).0, Some(0));
    for (tensor, options) in
        [("mask", vec![]), ("decoder.qkv.weight", vec!["--prefix", "decoder."])]
    {
        let path = with(folder.path(), "r01", tensor, &huge);
        let error = refused(&path, &options);
        assert!(error.contains("entries, and 134217728 at most are read"), "{error}");
    }
}

#[test]
fn nothing_in_names_moves_the_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let name = "x\u{1b}]0;y\u{7}\u{202e}\u{9b}31m";
    let is_plain = |text: &str| {
        text.contains("]0;y") && !text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}'])
    };
    let path = with(folder.path(), "r01", &format!("{name}.qkv.weight"), &[1]);
    for options in [vec![], vec!["--name", name], vec!["--heads", name]] {
        let error = refused(&path, &options);
        assert!(is_plain(&error), "{error}");
    }
    let error = refused(&folder.path().join("x\u{202e}y"), &[]);
    assert!(error.contains(r"x\u202ey"), "{error}");
}
