//! What each part is for: every variant with several seeds.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{Context, Result};
use sensors::{Architecture, At, Plain, Features};
use serde_json::{Value, json};

use crate::evaluate::{Evaluation, judge};
use crate::learn::learn;
use crate::{Common, STOPPED, plan, prepared};

/// Every so many windows of each test engine are judged, counted from the last.
const EVERY: usize = 5;

/// Trains what the file does not have yet, and writes it after each run.
pub fn run(common: &Common, n_seeds: u64, output: &Path) -> Result<()> {
    let prepared = prepared(common)?;
    let d_in = prepared.scale.sensors.len();
    let mut runs = kept(output)?;
    let has = |runs: &[Value], name: &str, seed: u64| {
        runs.iter().any(|run| run["variant"] == name && run["seed"] == seed)
    };
    for (name, seen) in Features::ALL {
        if !has(&runs, name, 0) {
            let (test, plain) = (&prepared.test, Plain::fit(&prepared.train, seen)?);
            let of = |at: &At| plain.predict(test, at);
            let judged = judge(test, EVERY, |all| {
                Ok(all.iter().map(of).collect::<Result<_, _>>()?)
            })?;
            runs.push(line(name, 0, plain.n_weights(), &judged));
        }
    }
    for seed in 1..=n_seeds {
        for (name, architecture) in Architecture::VARIANTS {
            if has(&runs, name, seed) {
                continue;
            }
            println!("{name}, seed {seed}");
            let began = Instant::now();
            let net = learn(architecture, &prepared, &plan(common, seed), &STOPPED);
            if STOPPED.load(Ordering::Relaxed) {
                return Ok(());
            }
            let judged = Evaluation::of(&net?, &prepared.test, EVERY)?;
            println!("{name}, seed {seed}: {judged}");
            let mut run = line(name, seed, architecture.n_parameters(d_in), &judged);
            run["epochs"] = json!(common.epochs);
            run["seconds"] = json!(began.elapsed().as_secs());
            runs.push(run);
            write(output, &runs)?;
        }
    }
    write(output, &runs)
}

fn line(name: &str, seed: u64, n_parameters: usize, judged: &Evaluation) -> Value {
    let round = |x: f64| (x * 1e3).round() / 1e3;
    json!({
        "variant": name,
        "seed": seed,
        "parameters": n_parameters,
        "rmse": round(judged.rmse),
        "rmse_last": round(judged.rmse_last),
        "score": round(judged.score),
    })
}

fn kept(path: &Path) -> Result<Vec<Value>> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).context("the file holds no runs"),
        Err(_) => Ok(Vec::new()),
    }
}

/// One run per line.
fn write(path: &Path, runs: &[Value]) -> Result<()> {
    let lines: Vec<String> = runs.iter().map(Value::to_string).collect();
    Ok(std::fs::write(path, format!("[\n{}\n]\n", lines.join(",\n")))?)
}
