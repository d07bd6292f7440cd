//! `cargo learn diagnose` as it is run, and files for it.

#![allow(dead_code)] // each of the test programs uses a part

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// How it ended, and what it said.
pub struct Ended {
    pub status: Option<i32>,
    pub out: String,
    pub error: String,
}

impl Ended {
    #[track_caller]
    pub fn with(&self, status: i32) -> &Self {
        assert_eq!(self.status, Some(status), "{}{}", self.out, self.error);
        self
    }

    #[track_caller]
    pub fn says(&self, words: &str) -> &Self {
        assert!(self.out.contains(words), "{words}: {}", self.out);
        self
    }

    /// Whether that is what it cannot read.
    #[track_caller]
    pub fn refuses(&self, words: &str) -> &Self {
        self.with(2);
        assert!(self.error.contains(words), "{words}: {}", self.error);
        self
    }

    /// Its output without the first line, whose path is another on every machine.
    pub fn without_path(&self) -> String {
        self.out.lines().skip(1).map(|line| format!("{line}\n")).collect()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

pub fn run(arguments: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_diagnose"));
    let output = command.arg("diagnose").args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    Ended { status: output.status.code(), out, error }
}

pub fn diagnose(file: &Path, options: &[&str]) -> Ended {
    run(&[&[file.to_str().unwrap()], options].concat())
}

/// One of the layers that the diagnosis is tested with.
pub fn layer(name: &str) -> PathBuf {
    let layers = "../../5-book/diagnosis/tests/layers";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(layers).join(format!("{name}.safetensors"))
}

/// Such a layer in a file whose header and numbers are changed, and behind which zeros follow
/// as far as the header says: a hole that takes no place on the disk.
pub fn changed(
    folder: &Path,
    name: &str,
    change: impl FnOnce(&mut Value, &mut [u8]),
) -> PathBuf {
    let bytes = fs::read(layer(name)).unwrap();
    let (length, rest) = bytes.split_first_chunk().unwrap();
    let (header, numbers) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let mut header: Value = serde_json::from_slice(header).unwrap();
    let mut numbers = numbers.to_vec();
    change(&mut header, &mut numbers);
    let ends = header.as_object().unwrap().values();
    let ends = ends.filter_map(|tensor| tensor["data_offsets"][1].as_u64());
    let header_text = header.to_string();
    let length = (header_text.len() as u64).to_le_bytes();
    let path = folder.join("layer.safetensors");
    fs::write(&path, [&length, header_text.as_bytes(), &numbers].concat()).unwrap();
    let n_bytes = 8 + header_text.len() as u64 + ends.max().unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(n_bytes).unwrap();
    path
}
