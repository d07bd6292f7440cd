//! What every experiment measures and keeps of a training.

use std::ops::ControlFlow;
use std::time::Instant;

use ablation::Replacement;
use anyhow::Result;
use attention::{Matrix, Rng, SeedableRng};
use serde_json::{Map, Value, json};
use training::one_layer::{Ablation, Task, strongest, train};
use training::{Schedule, Training};

/// The seeds of the book's tables.
pub const SEEDS: std::ops::Range<u64> = 0..10;

/// A run of each seed, printed as it comes, with the time that it took.
pub fn of_seeds(run: impl Fn(u64) -> Result<Value>) -> Result<Vec<Value>> {
    let timed = |seed| {
        let start = Instant::now();
        let run = run(seed)?;
        println!("{run}  {:.1} s", start.elapsed().as_secs_f64());
        Ok(run)
    };
    SEEDS.map(timed).collect()
}

/// Trains to the end, and prints what it scored.
pub fn trained(
    what: &str,
    task: &impl Task,
    n_heads: usize,
    schedule: &Schedule,
) -> Result<Training> {
    let start = Instant::now();
    let trained = train(task, n_heads, schedule, |_| ControlFlow::Continue(()))?;
    let last = trained.last();
    let scores: Vec<String> =
        last.scores.iter().map(|s| format!("{:5.1}", 100.0 * s)).collect();
    println!(
        "{what}, {n_heads} heads, rate {}, {} steps, seed {}: {}  mean {:5.1} %  {:.2} s",
        schedule.rate,
        schedule.n_steps,
        schedule.seed,
        scores.join(" "),
        100.0 * last.score(),
        start.elapsed().as_secs_f64(),
    );
    Ok(trained)
}

/// What is kept of a training: its scores on the way and at the end, what its heads attend
/// to, and what removing them costs.
pub fn kept(schedule: &Schedule, trained: &Training) -> Result<Value> {
    let looks = &trained.looks;
    let last = trained.last();
    Ok(json!({
        "heads": trained.model.n_heads(),
        "rate": schedule.rate,
        "steps": schedule.n_steps,
        "seed": schedule.seed,
        "scores": rounded(&last.scores),
        "curve": {
            "step": looks.iter().map(|look| look.step).collect::<Vec<_>>(),
            "loss": looks.iter().map(|look| round(look.loss)).collect::<Vec<_>>(),
            "score": looks.iter().map(|look| round(look.score())).collect::<Vec<_>>(),
        },
        "focus_before": rows(&looks[0].focus),
        "focus": rows(&last.focus),
        "attending": strongest(&last.focus),
        "removed": ablations(schedule.seed, trained)?,
    }))
}

/// What each target loses, by what the ablated part is replaced by.
fn ablations(seed: u64, trained: &Training) -> Result<Value> {
    let mut all = Map::new();
    for how in Replacement::ALL {
        let rng = &mut Rng::seed_from_u64(seed);
        let found = Ablation::of(&trained.model, &trained.test, how, rng)?;
        let scales: Vec<f64> = found.controls.iter().map(|c| c.scale).collect();
        let of_how = json!({
            "heads": rows(&found.losses()),
            "needed": found.needed(),
            "random": rows(&found.control_losses()),
            "scales": rounded(&scales),
        });
        all.insert(how.name().to_owned(), of_how);
    }
    Ok(all.into())
}

/// To four decimals.
pub fn round(x: f64) -> f64 {
    let rounded = (x * 1e4).round() / 1e4;
    rounded + 0.0 // no −0
}

pub fn rounded(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|&x| round(x)).collect()
}

pub fn rows(matrix: &Matrix) -> Vec<Vec<f64>> {
    let row = |i: usize| matrix.row(i).iter().map(|&x| round(x)).collect();
    (0..matrix.nrows()).map(row).collect()
}
