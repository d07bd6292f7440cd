//! What the heads of trained models look at, and what they are for: the numbers of the
//! chapter "Sensors".
//!
//! ```text
//! cd crates/4-models/sensors/framework
//! for s in 1 2 3 4 5; do cargo run --release -- train --seed $s --output /tmp/$s.safetensors; done
//! cd ../../..
//! cargo run --release -p sensors --example heads -- /tmp/[1-5].safetensors
//! ```
//!
//! writes `data/heads.json` in the crate's folder, one line per model. The criteria are those
//! of the book's windows, unchanged. Fixed before any head was looked at: which windows are asked
//! ([`study::asked`]), which sensors stand for which channel, that the last reading asks as
//! in the book, and that all thirty are asked as well, since the model's pool takes the mean of
//! all. These windows stand at the beginning of the decline, where a model has little to say;
//! so, after looking, windows of all ages were asked as well, with the same criteria (nothing
//! is planted in them: those of the transition and the spike mean nothing there), and even
//! shares were tried in place of the heads' own. The removals were first measured on a quarter as many windows, with random directions as
//! they are and predictions that were not capped; no verdict has changed since.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use attention::{Matrix, Rng, SeedableRng};
use fused_heads::FusedAttention;
use model_files::TensorFile;
use sensors::study::{self, Ablation, Asking, WindowCase};
use sensors::{At, Fleet, Prepared, Remaining, Trained, Windows};
use serde_json::{Map, Value, json};
use training::{HeadMeasures, found};

/// Windows that the criteria are asked of, each of another engine.
const N_WINDOWS: usize = 256;
/// Of the test windows, every so manieth loses its heads.
const EVERY: usize = 10;
/// How long engines will still run, and how many windows are asked of each.
const BY_LIFE: [(usize, usize); 4] = [(0, 20), (20, 60), (60, 125), (125, 400)];
const N_LATE: usize = 128;
/// Draws of random directions, as for the book's windows.
const N_DRAWS: usize = 10;

fn main() -> Result<()> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    ensure!(!paths.is_empty(), "which models? A file for each seed");
    let test = Prepared::of(&Fleet::default().readings(0).0, 0)?.test;
    let mut lines = Vec::new();
    for (path, seed) in paths.iter().zip(1..) {
        println!("{path}, as seed {seed}");
        let trained = Trained::read(TensorFile::open(path)?)?;
        let line = json!({
            "seed": seed,
            "heads": heads(&trained, seed)?,
            "by_life": by_life(&trained, seed)?,
            "removed": removed(&trained, &test, seed)?,
        });
        lines.push(line.to_string());
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/heads.json");
    fs::write(&file, format!("[\n{}\n]\n", lines.join(",\n")))?;
    Ok(())
}

/// The trained heads and their controls, by the criteria.
fn heads(trained: &Trained, seed: u64) -> Result<Value> {
    let asked = study::asked(&Fleet::default(), &trained.scale, N_WINDOWS, 1000 + seed)?;
    let mut all = Map::new();
    for (name, model) in &models(trained, seed)? {
        let mut of = Map::new();
        for (asking, which) in [("last", Asking::Last), ("all", Asking::All)] {
            let judged = judged(model, &asked, which, *name == "trained")?;
            println!("  {name:10} {asking:4} {}", judged["found"]);
            of.insert(asking.to_owned(), judged);
        }
        all.insert((*name).to_owned(), Value::Object(of));
    }
    Ok(Value::Object(all))
}

/// The trained model and its controls.
fn models(
    trained: &Trained,
    seed: u64,
) -> Result<[(&'static str, Remaining<FusedAttention>); 4]> {
    let rng = &mut Rng::seed_from_u64(seed);
    Ok([
        ("trained", trained.fused()?),
        ("fresh", study::fresh(trained, rng)?),
        ("untrained", study::untrained(trained, rng)?),
        ("directions", {
            let cut = study::directions(&trained.layer()?, rng)?;
            trained.model(|_| FusedAttention::new(&cut))?
        }),
    ])
}

/// The same by how long the engine will still run, where the last reading asks.
fn by_life(trained: &Trained, seed: u64) -> Result<Value> {
    let models = models(trained, seed)?;
    let mut all = Vec::new();
    for (from, to) in BY_LIFE {
        let asked = study::asked_late(
            &Fleet::default(),
            &trained.scale,
            N_LATE,
            2000 + seed,
            from..to,
        )?;
        let mut of = Map::from_iter([
            ("from".to_owned(), json!(from)),
            ("to".to_owned(), json!(to)),
        ]);
        for (name, model) in &models {
            let judged = judged(model, &asked, Asking::Last, false)?;
            println!("  {from:3} to {to:3} {name:10} {}", judged["found"]);
            of.insert((*name).to_owned(), judged);
        }
        all.push(Value::Object(of));
    }
    Ok(Value::Array(all))
}

/// The RMSE on test windows without each head, without random directions, without all.
fn removed(trained: &Trained, test: &Windows, seed: u64) -> Result<Value> {
    let at: Vec<At> = test.at.iter().step_by(EVERY).copied().collect();
    let ablation = Ablation::new(trained, test, &at)?;
    let rng = &mut Rng::seed_from_u64(seed);
    let n_heads = trained.layer()?.dims().n_heads();
    let heads = (0..n_heads).map(|head| Ok(round(ablation.head(head)?)));
    let heads: Result<Vec<f64>> = heads.collect();
    let random = (0..N_DRAWS).map(|_| Ok(round(ablation.random(rng)?)));
    let random: Result<Vec<f64>> = random.collect();
    let even = (0..n_heads).map(|head| Ok(round(ablation.even_head(head)?)));
    let even: Result<Vec<f64>> = even.collect();
    let found = json!({
        "windows": at.len(),
        "whole": round(ablation.whole()?),
        "heads": heads?,
        "random": random?,
        "all": round(ablation.all()?),
        "even": round(ablation.even()?),
        "even_heads": even?,
    });
    println!("  {found}");
    Ok(found)
}

fn judged(
    model: &Remaining<FusedAttention>,
    asked: &[WindowCase],
    asking: Asking,
    with_rows: bool,
) -> Result<Value> {
    let windows: Vec<_> = asked.iter().map(|asked| asked.window.clone()).collect();
    let rows = study::rows(model, asked, asking)?;
    let measures: Vec<HeadMeasures> =
        rows.iter().map(|rows| HeadMeasures::of(rows, &windows)).collect();
    let found = found(&measures);
    let measures: Vec<Value> = measures.iter().map(numbers).collect();
    let mut judged = json!({ "found": found, "measures": measures });
    if with_rows {
        let row =
            |rows: &Matrix| rounded(&rows.row_mean().iter().copied().collect::<Vec<_>>());
        judged["rows"] = rows.iter().map(row).collect();
    }
    Ok(judged)
}

/// What the criteria look at in a head, by name, averaged over windows.
fn numbers(head: &HeadMeasures) -> Value {
    json!({
        "recent": round(head.recent),
        "transition": round(head.transition),
        "spike": round(head.spike),
        "early": round(head.early),
        "late": round(head.late),
        "channels": rounded(&head.channels),
        "time": round(head.time),
        "within": round(head.within),
        "most": round(head.most),
        "entropy": round(head.entropy),
    })
}

fn round(x: f64) -> f64 {
    (x * 1e4).round() / 1e4 + 0.0 // no −0
}

fn rounded(numbers: &[f64]) -> Value {
    json!(numbers.iter().copied().map(round).collect::<Vec<_>>())
}
