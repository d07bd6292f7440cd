//! Many seeds of an experiment: the numbers of the book.
//!
//! ```text
//! cargo run --release -p training --example seeds -- EXPERIMENT
//! cargo run --release -p training --example seeds -- repeats SETTING
//! ```
//!
//! prints one line per run of one of the [`EXPERIMENTS`] and writes `data/EXPERIMENT.json` in
//! the crate's folder, one line per run, numbers to four decimals. What is written holds no
//! times, so a second run on the same machine writes the same file. `dates-model` trains one
//! model and writes `data/dates.safetensors`.

mod dates;
mod lookups;
mod places;
mod repeats;
mod run;
mod shared;
mod stretched;
mod windows;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// All runs of an experiment.
type Runs = fn() -> Result<Vec<Value>>;

/// What can be run, by name.
const EXPERIMENTS: [(&str, Runs); 14] = [
    ("lookups", lookups::runs),
    ("swaps", lookups::swaps),
    ("loudness", lookups::loudness),
    ("codes", lookups::codes),
    ("windows", windows::runs),
    ("repeats", || repeats::runs(std::env::args().nth(2).as_deref())),
    ("shared", shared::runs),
    ("places", places::runs),
    ("stretched", stretched::runs),
    ("dates", dates::runs),
    ("dates-moved", dates::moved_runs),
    ("dates-joined", dates::joined_runs),
    ("dates-small", dates::small_runs),
    ("centuries", dates::century_runs),
];

fn main() -> Result<()> {
    let asked = std::env::args().nth(1).unwrap_or_default();
    if asked == "dates-model" {
        return write(&file("dates", "safetensors"), &dates::model()?);
    }
    let Some((name, runs)) = EXPERIMENTS.iter().find(|(name, _)| *name == asked) else {
        bail!("which: {}, or dates-model?", EXPERIMENTS.map(|(name, _)| name).join(", "));
    };
    let lines: Vec<String> = runs()?.iter().map(Value::to_string).collect();
    let text = format!("[\n{}\n]\n", lines.join(",\n"));
    write(&file(name, "json"), text.as_bytes())
}

/// Where an experiment is kept.
fn file(experiment: &str, extension: &str) -> PathBuf {
    let file = format!("data/{experiment}.{extension}");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(file, bytes)
        .with_context(|| format!("{} could not be written", file.display()))
}
