//! Ten seeds of two models: the numbers of the book.
//!
//! ```text
//! cargo run --release -p gpt --features fast --example names
//! ```
//!
//! prints one line per run and writes `data/seeds.json`, one line per run, numbers to four
//! decimals: the loss on names that no model saw, and on those that it learned from. What is
//! written holds no times, so a second run on the same machine writes the same file.
//!
//! The margins were fixed before the runs: the small model is to be below the loss of pairs by
//! 0.05, and the larger one below the loss of threes by 0.01, each on all ten seeds; and so is
//! the small one that is trained for longer, as in a page.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result};
use attention::{Rng, SeedableRng};
use gpt::{Architecture, Counts, Model, NAMES, RUNGS, Schedule, Split, Training};
use serde_json::{Value, json};

/// The models by name: their sizes, how they are trained, how many letters the counts see that
/// they are compared with, and by how much they are to be better.
const MODELS: [(&str, Architecture, Schedule, usize, f64); 3] = [
    ("small", Architecture::SMALL, Schedule::SMALL, 1, 0.05),
    ("larger", Architecture::LARGER, Schedule::LARGER, 2, 0.01),
    ("small, longer", Architecture::SMALL, Schedule::PAGE, 2, 0.01),
];

/// The small model with something changed: what it is called, the parts that it has not, how
/// many names it learns from, and the chance of dropout.
const CHANGED: [(&str, &[&str], usize, f64); 4] = [
    ("no attention", &["w_o", "b_o"], usize::MAX, 0.0),
    ("no positions", &["positions"], usize::MAX, 0.0),
    ("few names", &[], 200, 0.0),
    ("few names, dropout", &[], 200, 0.2),
];

fn main() -> Result<()> {
    let split = Split::of(NAMES.lines());
    let mut lines = Vec::new();
    for (name, architecture, schedule, n_before, margin) in MODELS {
        let most = Counts::of(&split.learned, n_before).loss(&split.test) - margin;
        println!("{name}: {architecture:?}, {schedule:?}; at most {most:.4}");
        for seed in 0..10 {
            let training = begin(seed, architecture, schedule)?;
            let mut line = run(training, seed, &split, usize::MAX)?;
            line["model"] = json!(name);
            line["most"] = round(most);
            if architecture == Architecture::SMALL {
                line["without"] = without_each(&line, &split)?;
            }
            line.as_object_mut().context("an object")?.remove("parameters");
            println!("  {line}");
            lines.push(line.to_string());
        }
    }
    for (name, left_out, n_names, p) in CHANGED {
        for seed in 0..10 {
            let training = begin(seed, Architecture::SMALL, Schedule::SMALL)?;
            let rng = Rng::seed_from_u64(100 + seed);
            let training = training.without(left_out);
            let training =
                if p > 0.0 { training.with_dropout(p, rng)? } else { training };
            let mut line = run(training, seed, &split, n_names)?;
            line["model"] = json!(name);
            line.as_object_mut().context("an object")?.remove("parameters");
            println!("  {line}");
            lines.push(line.to_string());
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/seeds.json");
    fs::write(&file, format!("[\n{}\n]\n", lines.join(",\n")))
        .with_context(|| format!("{} could not be written", file.display()))
}

fn begin(
    seed: u64,
    architecture: Architecture,
    schedule: Schedule,
) -> attention::Result<Training> {
    let [.., rung] = RUNGS;
    Training::new(rung, architecture, schedule, &mut Rng::seed_from_u64(seed))
}

/// The losses on names that were learned from, and on the others; with dropout, that with
/// dropout left on too.
fn run(
    mut training: Training,
    seed: u64,
    split: &Split,
    n_names: usize,
) -> Result<Value> {
    // Evenly from the list, which is sorted.
    let every = split.learned.len().div_ceil(n_names);
    let learned: Vec<_> = split.learned.iter().step_by(every).cloned().collect();
    let rng = &mut Rng::seed_from_u64(1000 + seed);
    training.run(&learned, rng, |_, _| ControlFlow::Continue(()))?;
    let model = Model::new(training.architecture(), training.parameters())?;
    let (dropping, _) = training.gradients(&split.test)?;
    Ok(json!({
        "seed": seed,
        "n_names": learned.len(),
        "learned": round(model.loss(&learned)?),
        "test": round(model.loss(&split.test)?),
        "dropping": round(dropping),
        "parameters": training.parameters(),
    }))
}

/// The losses of the small model without each of its heads.
fn without_each(line: &Value, split: &Split) -> Result<Value> {
    let parameters: Vec<f64> = serde_json::from_value(line["parameters"].clone())?;
    let model = Model::new(Architecture::SMALL, &parameters)?;
    let loss = |head| Ok(round(model.without(0, head)?.loss(&split.test)?));
    let losses: Result<Vec<Value>> = (0..Architecture::SMALL.n_heads).map(loss).collect();
    Ok(json!(losses?))
}

/// To four decimals.
fn round(x: f64) -> Value {
    json!((x * 1e4).round() / 1e4)
}
