//! Repeated tokens with two layers, and with what two layers are compared with.

use std::time::Instant;

use anyhow::Result;
use attention::{Matrix, Rng, SeedableRng};
use serde_json::{Map, Value, json};
use training::{
    Architecture, HeadRemoval, HeadShares, PredictorTrainer, PredictorTraining, Removal,
    Repeats, Schedule,
};

use crate::run::{SEEDS, round, rounded, rows};

/// Two layers; one as large; two without positions, and without residuals.
pub fn runs() -> Result<Vec<Value>> {
    let two = Architecture::TWO_LAYERS;
    let built = [
        ("two layers", two),
        ("one layer", Architecture::ONE_WIDE_LAYER),
        ("no positions", Architecture { positions: false, ..two }),
        ("no residual", Architecture { residual: false, ..two }),
    ];
    let mut runs = Vec::new();
    for (name, built) in built {
        for seed in SEEDS {
            let start = Instant::now();
            let schedule = Schedule::usual(seed);
            let trainer = PredictorTrainer::new(built, Repeats::default(), schedule)?;
            let trained = trainer.finish()?;
            let score = 100.0 * trained.last().score;
            let seconds = start.elapsed().as_secs_f64();
            println!("{name}, seed {seed}: {score:5.1} %  {seconds:.1} s");
            runs.push(kept(name, built, seed, &trained)?);
        }
    }
    Ok(runs)
}

/// What is kept of a training: its scores on the way, where its heads look, and what
/// removing them costs.
fn kept(
    name: &str,
    built: Architecture,
    seed: u64,
    trained: &PredictorTraining,
) -> Result<Value> {
    let looks = &trained.looks;
    let most = |of: fn(&HeadShares) -> &Matrix, layer: usize| {
        let layer = layer.min(built.n_layers - 1);
        let most = looks.iter().map(|look| of(&look.shares).row(layer).max());
        rounded(&most.collect::<Vec<_>>())
    };
    let losses: Vec<f64> = looks.iter().filter_map(|look| look.loss).collect();
    Ok(json!({
        "built": name,
        "seed": seed,
        "parameters": trained.model.n_parameters(),
        "score": round(trained.last().score),
        "before": round(looks[0].score),
        "other_periods": round(other_periods(seed, trained)?),
        "curve": {
            "step": looks.iter().map(|look| look.step).collect::<Vec<_>>(),
            "loss": rounded(&losses),
            "score": rounded(&looks.iter().map(|look| look.score).collect::<Vec<_>>()),
            "previous": most(|shares| &shares.previous, 0),
            "after_last_same": most(|shares| &shares.after_last_same, 1),
        },
        "shares_before": shares(&looks[0].shares),
        "shares": shares(&trained.last().shares),
        "removed": removed(seed, trained)?,
    }))
}

/// The score on sequences whose periods are shorter or longer than all that were trained.
fn other_periods(seed: u64, trained: &PredictorTraining) -> Result<f64> {
    let rng = &mut Rng::seed_from_u64(seed);
    let both = [4..=5, 13..=16].map(|periods| {
        let sequences = Repeats { periods, ..Repeats::default() }.draw(200, rng)?;
        trained.model.score(&sequences)
    });
    let [shorter, longer] = both;
    Ok((shorter? + longer?) / 2.0)
}

fn shares(shares: &HeadShares) -> Value {
    json!({
        "previous": rows(&shares.previous),
        "same_place": rows(&shares.same_place),
        "last_same": rows(&shares.last_same),
        "after_last_same": rows(&shares.after_last_same),
    })
}

/// The scores without each head and without random directions, by what replaces them.
fn removed(seed: u64, trained: &PredictorTraining) -> Result<Value> {
    let mut all = Map::new();
    for how in Removal::ALL {
        let rng = &mut Rng::seed_from_u64(seed);
        let found = HeadRemoval::of(&trained.model, &trained.test, how, rng)?;
        let of_how =
            json!({ "heads": rows(&found.without), "random": rows(&found.controls) });
        all.insert(how.name().to_owned(), of_how);
    }
    Ok(all.into())
}
