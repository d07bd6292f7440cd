//! Ten seeds of an experiment: the numbers of the book.
//!
//! ```text
//! cargo run --release -p training --example seeds -- lookups
//! cargo run --release -p training --example seeds -- windows
//! ```
//!
//! prints a line a run and writes `crates/training/data/EXPERIMENT.json`, a run a line,
//! numbers to four decimals. What is written holds no times, so a second run on the same
//! machine writes the same file.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use attention::{Matrix, Rng, SeedableRng};
use serde_json::{Value, json};
use training::{
    Ablation, Lookups, SPECIALISATIONS, Settings, Sizes, Trained, Windows,
    specialisations, strongest, train,
};

const SEEDS: std::ops::Range<u64> = 0..10;

fn main() -> Result<()> {
    let experiment = std::env::args().nth(1).context("which: lookups or windows?")?;
    let runs = match experiment.as_str() {
        "lookups" => lookups()?,
        "windows" => windows()?,
        other => bail!("there is no experiment {other}: lookups or windows?"),
    };
    let lines: Vec<String> = runs.iter().map(Value::to_string).collect();
    let file = format!("data/{experiment}.json");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::write(&file, format!("[\n{}\n]\n", lines.join(",\n")))
        .with_context(|| format!("{} could not be written", file.display()))
}

/// The default setting with 1 to 8 heads; then one head for four times as long, and three
/// heads in shorter steps.
fn lookups() -> Result<Vec<Value>> {
    let usual = [1, 2, 3, 4, 6, 8].map(|n_heads| Lookups::settings(n_heads, 0));
    let longer = Settings { n_steps: 4000, ..Lookups::settings(1, 0) };
    let shorter_steps = [1, 3, 4]
        .map(|n_heads| Settings { rate: 0.003, ..Lookups::settings(n_heads, 0) });
    let mut runs = Vec::new();
    for settings in usual.into_iter().chain([longer]).chain(shorter_steps) {
        let mut means = Vec::new();
        for seed in SEEDS {
            let settings = Settings { seed, ..settings.clone() };
            let start = Instant::now();
            let trained =
                train(&Lookups::default(), &settings, |_| ControlFlow::Continue(()))?;
            let seconds = start.elapsed().as_secs_f64();
            let scores: Vec<String> = trained
                .last()
                .scores
                .iter()
                .map(|s| format!("{:5.1}", 100.0 * s))
                .collect();
            println!(
                "{} heads, rate {}, {} steps, seed {seed}: {}  mean {:5.1} %  {seconds:.2} s",
                settings.n_heads,
                settings.rate,
                settings.n_steps,
                scores.join(" "),
                100.0 * trained.last().score()
            );
            means.push(trained.last().score());
            let mut run = run(&settings, &trained)?;
            if settings.n_heads == 1 {
                let sizes = Sizes::of(&trained.model, &trained.test)?;
                println!("    {sizes:.3?}");
                run["sizes"] = json!({
                    "mean": rounded(&sizes.mean),
                    "std_dev": rounded(&sizes.std_dev),
                    "by_identity": round(sizes.by_identity),
                    "by_role": round(sizes.by_role),
                    "as_is": round(sizes.as_is),
                    "equal": round(sizes.equal),
                    "exchanged": round(sizes.exchanged),
                    "other_role": round(sizes.other_role),
                });
            }
            runs.push(run);
        }
        means.sort_by(f64::total_cmp);
        println!(
            "  {} heads: least {:.1} %, median {:.1} %, most {:.1} %\n",
            settings.n_heads,
            100.0 * means[0],
            50.0 * (means[4] + means[5]),
            100.0 * means[9]
        );
    }
    Ok(runs)
}

/// Eight heads, and which of the source's specialisations appear.
fn windows() -> Result<Vec<Value>> {
    let task = Windows::default();
    let mut runs = Vec::new();
    let mut seeds_with = [[0; 8]; 2];
    for n_heads in [8, 1] {
        for seed in SEEDS {
            let settings = Windows::settings(n_heads, seed);
            let start = Instant::now();
            let trained = train(&task, &settings, |_| ControlFlow::Continue(()))?;
            let seconds = start.elapsed().as_secs_f64();
            let scores: Vec<String> =
                trained.last().scores.iter().map(|s| format!("{s:5.2}")).collect();
            println!(
                "{n_heads} heads, seed {seed}: R² {}  {seconds:.2} s",
                scores.join(" ")
            );
            let mut run = run(&settings, &trained)?;
            for (nth, (key, model)) in
                [("found_before", &trained.before), ("found", &trained.model)]
                    .into_iter()
                    .enumerate()
            {
                let found = specialisations(&task, model, 1000 + seed)?;
                println!("    {key}: {found:?}");
                if n_heads == 8 {
                    for (count, heads) in seeds_with[nth].iter_mut().zip(&found) {
                        *count += usize::from(!heads.is_empty());
                    }
                }
                run[key] = json!(found);
            }
            runs.push(run);
        }
    }
    println!("\nOf ten seeds with 8 heads, in how many does some head …");
    for (i, (name, criterion)) in SPECIALISATIONS.iter().enumerate() {
        let [before, after] = [0, 1].map(|nth| seeds_with[nth][i]);
        println!("  {name:15} before {before:2}, after {after:2}   {criterion}");
    }
    Ok(runs)
}

/// What every experiment keeps of a run.
fn run(settings: &Settings, trained: &Trained) -> Result<Value> {
    let rng = &mut Rng::seed_from_u64(settings.seed);
    let ablation = Ablation::of(&trained.model, &trained.test, rng)?;
    let last = trained.last();
    Ok(json!({
        "heads": settings.n_heads,
        "rate": settings.rate,
        "steps": settings.n_steps,
        "seed": settings.seed,
        "scores": rounded(&last.scores),
        "curve": {
            "step": trained.looks.iter().map(|look| look.step).collect::<Vec<_>>(),
            "loss": trained.looks.iter().map(|look| round(look.loss)).collect::<Vec<_>>(),
            "score": trained.looks.iter().map(|look| round(look.score())).collect::<Vec<_>>(),
        },
        "focus_before": rows(&trained.looks[0].focus),
        "focus": rows(&last.focus),
        "ablation": rows(&ablation.losses()),
        "control": rounded(&ablation.control_losses()),
        "needed": ablation.needed(),
        "attending": strongest(&last.focus),
    }))
}

fn round(x: f64) -> f64 {
    let rounded = (x * 1e4).round() / 1e4;
    rounded + 0.0 // no −0
}

fn rounded(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|&x| round(x)).collect()
}

fn rows(matrix: &Matrix) -> Vec<Vec<f64>> {
    let row = |i: usize| matrix.row(i).iter().map(|&x| round(x)).collect();
    (0..matrix.nrows()).map(row).collect()
}
