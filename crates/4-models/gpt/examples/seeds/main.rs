//! Ten seeds of two models: the numbers of the book.
//!
//! ```text
//! cargo run --release -p gpt --example seeds
//! ```
//!
//! prints one line per run and writes `data/seeds.json`, one line per run, numbers to four
//! decimals: the loss on names that no model saw, and on those that it learned from. What is
//! written holds no times, so a second run on the same machine writes the same file.
//!
//! The margins were fixed before the runs: the small model is to be below the loss of pairs by
//! 0.05, and that of the page below the loss of threes by 0.01, each on all ten seeds.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use attention::{Rng, SeedableRng};
use gpt::{Architecture, Counts, NAMES, RUNGS, Schedule, Split, Training};
use serde_json::{Value, json};

/// The models by name: their sizes, how they are trained, how many letters the counts see that
/// they are compared with, and by how much they are to be better.
const MODELS: [(&str, Architecture, Schedule, usize, f64); 2] = [
    ("small", Architecture::SMALL, Schedule::SMALL, 1, 0.05),
    ("page", Architecture::PAGE, Schedule::PAGE, 2, 0.01),
];

fn main() -> Result<()> {
    let split = Split::of(NAMES.lines());
    let mut lines = Vec::new();
    for (name, architecture, schedule, n_before, margin) in MODELS {
        let counted = Counts::of(&split.learned, n_before).loss(&split.test);
        let most = counted - margin;
        println!("{name}: {architecture:?}, {schedule:?}; at most {most:.4}");
        let runs = (0..10).map(|seed| run(seed, architecture, schedule, &split));
        let runs = runs.collect::<Result<Vec<_>>>()?;
        let n_below = runs.iter().filter(|[_, test]| *test <= most).count();
        println!("{name}: {n_below} of {} are", runs.len());
        lines.extend(runs.iter().enumerate().map(|(seed, [learned, test])| {
            let [learned, test, most] = [*learned, *test, most].map(round);
            json!({ "model": name, "seed": seed, "learned": learned, "test": test, "most": most })
        }));
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/seeds.json");
    fs::write(&file, format!("[\n{}\n]\n", lines.join(",\n")))
        .with_context(|| format!("{} could not be written", file.display()))
}

/// The losses on the names that were learned from and on the others.
fn run(
    seed: u64,
    architecture: Architecture,
    schedule: Schedule,
    split: &Split,
) -> Result<[f64; 2]> {
    let (start, rng, [.., rung]) = (Instant::now(), &mut Rng::seed_from_u64(seed), RUNGS);
    let mut training = Training::new(rung, architecture, schedule, rng)?;
    training.run(&split.learned, rng, |_, _| ControlFlow::Continue(()))?;
    let seconds = start.elapsed().as_secs_f64();
    let loss = |names: &[Vec<usize>]| {
        let (loss, _) = rung.gradients(architecture, training.parameters(), names)?;
        anyhow::Ok(loss)
    };
    let [learned, test] = [loss(&split.learned)?, loss(&split.test)?];
    println!(
        "  seed {seed}: {test:.4}, of what it learned from {learned:.4}; {seconds:.2} s"
    );
    Ok([learned, test])
}

/// To four decimals.
fn round(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}
