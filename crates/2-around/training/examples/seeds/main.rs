//! Many seeds of an experiment: the numbers of the book.
//!
//! ```text
//! cargo run --release -p training --example seeds -- lookups
//! cargo run --release -p training --example seeds -- swaps
//! cargo run --release -p training --example seeds -- loudness
//! cargo run --release -p training --example seeds -- codes
//! cargo run --release -p training --example seeds -- windows
//! cargo run --release -p training --example seeds -- repeats [SETTING]
//! cargo run --release -p training --example seeds -- shared
//! cargo run --release -p training --example seeds -- places
//! cargo run --release -p training --example seeds -- stretched
//! cargo run --release -p training --example seeds -- dates
//! cargo run --release -p training --example seeds -- dates-model
//! cargo run --release -p training --example seeds -- dates-moved
//! cargo run --release -p training --example seeds -- centuries
//! cargo run --release -p training --example seeds -- dates-joined
//! cargo run --release -p training --example seeds -- dates-small
//! ```
//!
//! prints one line per run and writes `data/EXPERIMENT.json` in the crate's
//! folder, one line per run, numbers to four decimals. What is written holds no times, so a second run on the
//! same machine writes the same file. `dates-model` trains one model and writes
//! `data/dates.safetensors`.

mod centuries;
mod codes;
mod dates;
mod dates_joined;
mod lookups;
mod loudness;
mod places;
mod repeats;
mod run;
mod shared;
mod stretched;
mod swaps;
mod windows;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

fn main() -> Result<()> {
    let experiment = std::env::args().nth(1).context(
        "which: lookups, swaps, loudness, codes, windows, repeats, shared, places, \
         stretched, dates, dates-model, dates-moved, dates-joined, dates-small or \
         centuries?",
    )?;
    if experiment == "dates-model" {
        return write(&file("dates", "safetensors"), &dates::model()?);
    }
    let runs = match experiment.as_str() {
        "lookups" => lookups::runs()?,
        "swaps" => swaps::runs()?,
        "loudness" => loudness::runs()?,
        "codes" => codes::runs()?,
        "windows" => windows::runs()?,
        "repeats" => repeats::runs(std::env::args().nth(2).as_deref())?,
        "shared" => shared::runs()?,
        "places" => places::runs()?,
        "stretched" => stretched::runs()?,
        "dates" => dates::runs()?,
        "dates-joined" => dates_joined::runs()?,
        "dates-moved" => dates::moved_runs()?,
        "centuries" => centuries::runs()?,
        "dates-small" => dates::small_runs()?,
        other => bail!("there is no experiment {other}"),
    };
    let lines: Vec<String> = runs.iter().map(Value::to_string).collect();
    let text = format!("[\n{}\n]\n", lines.join(",\n"));
    write(&file(&experiment, "json"), text.as_bytes())
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
