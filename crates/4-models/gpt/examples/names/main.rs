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
use std::path::Path;

use anyhow::{Context, Result};
use attention::{Rng, SeedableRng};
use gpt::{Architecture, Model, NAMES, RUNGS, Schedule, Split, Training};
use serde_json::{Value, json};

/// Some runs: what they are called, their sizes, how they are trained, how many names they learn
/// from, the parts that they have not, and the chance of dropout.
type Runs = (&'static str, Architecture, Schedule, usize, &'static [&'static str], f64);

const SMALL: Architecture = Architecture::SMALL;
const ALL: usize = usize::MAX;
const RUNS: [Runs; 7] = [
    ("small", SMALL, Schedule::SMALL, ALL, &[], 0.0),
    ("larger", Architecture::LARGER, Schedule::LARGER, ALL, &[], 0.0),
    ("small, longer", SMALL, Schedule::PAGE, ALL, &[], 0.0),
    ("no attention", SMALL, Schedule::SMALL, ALL, &["w_o", "b_o"], 0.0),
    ("no positions", SMALL, Schedule::SMALL, ALL, &["positions"], 0.0),
    ("few names", SMALL, Schedule::SMALL, 200, &[], 0.0),
    ("few names, dropout", SMALL, Schedule::SMALL, 200, &[], 0.2),
];

/// How many letters the counts see that the first of these are compared with, and by how much
/// they are to be better.
const MARGINS: [(usize, f64); 3] = [(1, 0.05), (2, 0.01), (2, 0.01)];

fn main() -> Result<()> {
    let split = Split::of(NAMES.lines());
    let most = MARGINS.map(|(n, by)| split.counted_loss(n) - by);
    let mut lines = Vec::new();
    for (nth, runs) in RUNS.into_iter().enumerate() {
        for seed in 0..10 {
            let line = run(runs, seed, &split, most.get(nth).copied())?;
            println!("{line}");
            lines.push(line.to_string());
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/seeds.json");
    fs::write(&file, format!("[\n{}\n]\n", lines.join(",\n")))
        .with_context(|| format!("{} could not be written", file.display()))
}

/// The losses on names that were learned from, and on the others; with dropout left on too; and
/// without each head of a small model for which there is a loss that it is to reach.
fn run(runs: Runs, seed: u64, split: &Split, most: Option<f64>) -> Result<Value> {
    let (name, architecture, schedule, n_names, left_out, p) = runs;
    let ([.., rung], rng) = (RUNGS, &mut Rng::seed_from_u64(seed));
    let mut training =
        Training::new(rung, architecture, schedule, rng)?.without(left_out);
    if p > 0.0 {
        training = training.with_dropout(p, Rng::seed_from_u64(100 + seed))?;
    }
    // Evenly from the list, which is sorted.
    let every = split.learned.len().div_ceil(n_names);
    let learned: Vec<_> = split.learned.iter().step_by(every).cloned().collect();
    training.run(&learned, &mut Rng::seed_from_u64(1000 + seed))?;
    let model = Model::new(architecture, training.parameters())?;
    let (dropping, _) = training.gradients(&split.test)?;
    let mut line = json!({
        "model": name,
        "seed": seed,
        "n_names": learned.len(),
        "learned": round(model.loss(&learned)?),
        "test": round(model.loss(&split.test)?),
        "dropping": round(dropping),
    });
    if let Some(most) = most {
        line["most"] = round(most);
        if architecture == SMALL {
            let without = |head| model.without(0, head)?.loss(&split.test);
            let losses = (0..SMALL.n_heads).map(|head| Ok(round(without(head)?)));
            line["without"] = json!(losses.collect::<Result<Vec<_>>>()?);
        }
    }
    Ok(line)
}

/// To four decimals.
fn round(x: f64) -> Value {
    json!((x * 1e4).round() / 1e4)
}
