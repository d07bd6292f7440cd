//! What the heads of trained models look at, and what they are for: the numbers of the
//! chapter "Sensors".
//!
//! ```text
//! cd crates/4-models/sensors/framework
//! for s in 1 2 3 4 5; do cargo run --release -- train --seed $s --output /tmp/$s.safetensors; done
//! cd ../../../..
//! cargo run --release -p sensors --example heads -- /tmp/[1-5].safetensors
//! ```
//!
//! writes `data/heads.json` in the crate's folder, one line per model. Fixed before any head
//! was looked at: the criteria, which are those of the book's windows, which windows are asked
//! ([`study::asked`]), which sensors stand for which channel, and that the last reading asks.
//! After looking: windows at the end of a life, since the others stand where a model has
//! little to say (nothing is planted in those: the criteria of the transition and the spike
//! mean nothing there); that a correlation has a least size, and that the controls' scores
//! spread as far as the trained ones', since fresh heads are so even that they could meet no
//! other criterion, and met those of correlations by ripples; and last, that a control counts
//! if it has as many such heads as the trained layer, where one was enough before.
//!
//! In the kept file, seeds 2 to 5 have removals alone, of ten random directions which were
//! scaled to move the output as far as a head on average: their weights were not kept when
//! each head got a control of its own.

use std::fs;
use std::path::Path;

use ablation::odds::Count;
use anyhow::{Result, ensure};
use attention::{Rng, SeedableRng};
use sensors::study::{self, Ablation, Judged, WindowCase};
use sensors::{At, Fleet, Prepared, Trained, Windows};
use serde_json::{Value, json};
use tensors::TensorFile;

/// Windows that the criteria are asked of, each of another engine.
const N_WINDOWS: usize = 256;
/// The same at the end of a life, behind which so many cycles remain.
const N_LATE: usize = 128;
const LATE: std::ops::Range<usize> = 0..20;
/// Of the test windows, every so manieth loses its heads.
const EVERY: usize = 20;
/// Draws of each control of the criteria.
const N_DRAWS: usize = 1000;
/// Draws of random directions.
const N_DIRECTIONS: usize = 40;

fn main() -> Result<()> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    ensure!(!paths.is_empty(), "which models? A file for each seed");
    let test = Prepared::of(&Fleet::default().readings(0).0, 0)?.test;
    let mut lines = Vec::new();
    for (path, seed) in paths.iter().zip(1..) {
        println!("{path}, as seed {seed}");
        let trained = Trained::read(TensorFile::open(path)?)?;
        let (fleet, scale) = (Fleet::default(), &trained.scale);
        let planted = study::asked(&fleet, scale, N_WINDOWS, 1000 + seed)?;
        let late = study::asked_late(&fleet, scale, N_LATE, 2000 + seed, LATE)?;
        let line = json!({
            "seed": seed,
            "draws": N_DRAWS,
            "windows": [N_WINDOWS, N_LATE],
            "transition": judged(&trained, &planted, seed)?,
            "late": judged(&trained, &late, seed)?,
            "removed": removed(&trained, &test, seed)?,
        });
        lines.push(line.to_string());
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/heads.json");
    fs::write(&file, format!("[\n{}\n]\n", lines.join(",\n")))?;
    Ok(())
}

/// The trained heads and their controls, by the criteria.
fn judged(trained: &Trained, asked: &[WindowCase], seed: u64) -> Result<Value> {
    let (model, layer) = (trained.fused()?, trained.layer()?);
    let tokens = asked.iter().map(|asked| model.tokens(&asked.readings));
    let tokens = tokens.collect::<sensors::Result<Vec<_>>>()?;
    let windows: Vec<_> = asked.iter().map(|asked| asked.window.clone()).collect();
    let rng = &mut Rng::seed_from_u64(seed);
    let Judged { trained, mixed, fresh } =
        Judged::of(&layer, &tokens, &windows, N_DRAWS, rng)?;
    let [mixed, fresh] = [mixed, fresh].map(|counts| counts.map(Count::hits));
    let spreads: Vec<f64> =
        study::spreads(&layer, &tokens).into_iter().map(round).collect();
    let found = json!({
        "trained": trained,
        "mixed": mixed,
        "fresh": fresh,
        "spreads": spreads,
    });
    println!("  {found}");
    Ok(found)
}

/// The RMSE on test windows without each head, without random directions, without all.
fn removed(trained: &Trained, test: &Windows, seed: u64) -> Result<Value> {
    let at: Vec<At> = test.at.iter().step_by(EVERY).copied().collect();
    let ablation = Ablation::new(trained, test, &at)?;
    let rng = &mut Rng::seed_from_u64(seed);
    let heads = ablation.heads()?;
    let draw = |_| -> Result<Vec<f64>> {
        Ok(ablation.random(&heads, rng)?.into_iter().map(round).collect())
    };
    let random: Vec<Vec<f64>> = (0..N_DIRECTIONS).map(draw).collect::<Result<_>>()?;
    let found = json!({
        "windows": at.len(),
        "whole": round(ablation.whole()?),
        "heads": heads.iter().map(|(rmse, _)| round(*rmse)).collect::<Vec<_>>(),
        "random": random,
        "smaller": round(ablation.smaller(&heads)?),
        "all": round(ablation.all()?),
        "even": round(ablation.even()?),
    });
    println!("  whole {}, without {}", found["whole"], found["heads"]);
    Ok(found)
}

fn round(x: f64) -> f64 {
    (x * 1e4).round() / 1e4 + 0.0 // no −0
}
