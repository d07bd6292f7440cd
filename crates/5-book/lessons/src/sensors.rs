//! “Sensors”: from the sensors of an engine to how long it will run.

pub mod engine;
pub mod heads;
pub mod leak;
pub mod life;
pub mod measured;
pub mod model;
pub mod reach;

use crate::Entry;
use crate::numbers::ends;
use crate::seeds::{numbers, rows};
use ablation::odds::z_score;
use anyhow::{Context, Result, ensure};
use attention::{Rng, SeedableRng};
use sensors::{Fleet, GROUPS, HEADS, SEEDS, SimulatedEngine};
use serde_json::Value;

pub(crate) const FIGURES: &[Entry] = &[
    ("engine-life", life::figure),
    ("sensor-jobs", measured::jobs),
    ("sensor-ablations", measured::ablations),
    ("sensor-parts", measured::parts),
];

/// Seeds of each measurement.
pub const N_SEEDS: usize = 5;

/// An engine that no training has seen.
pub fn lived(fleet: &Fleet, number: usize) -> SimulatedEngine {
    // The engines of the training come one after the other from seed 0.
    fleet.engine(1, &mut Rng::seed_from_u64(5000 + number as u64))
}

/// The sensors of a group.
///
/// # Errors
/// An unknown group.
pub fn group(name: &str) -> Result<&'static [usize]> {
    let found = GROUPS.iter().find(|(group, _)| *group == name);
    Ok(found.with_context(|| format!("no group {name}"))?.1)
}

/// The runs of one variant, seed by seed.
///
/// # Errors
/// If it was not measured.
pub fn runs(variant: &str) -> Result<Vec<Value>> {
    let all: Vec<Value> = serde_json::from_str(SEEDS)?;
    let of: Vec<Value> =
        all.into_iter().filter(|run| run["variant"] == variant).collect();
    ensure!(!of.is_empty(), "no run of {variant}");
    Ok(of)
}

/// Least, median and most of what these runs measured.
///
/// # Errors
/// If a run lacks it.
pub fn spread(runs: &[Value], key: &str) -> Result<[f64; 3]> {
    let number =
        |run: &Value| run[key].as_f64().with_context(|| format!("{key} of {run}"));
    Ok(ends(runs.iter().map(number).collect::<Result<Vec<f64>>>()?))
}

/// What was found about the heads of five models, seed by seed.
///
/// # Errors
/// None; the file is in `sensors`.
pub fn found() -> Result<Vec<Value>> {
    let found: Vec<Value> = serde_json::from_str(HEADS)?;
    ensure!(found.len() == N_SEEDS, "{} models", found.len());
    Ok(found)
}

/// What the RMSE of a model is without its heads in turn, and without random directions that
/// move the layer's output as far, less that of the whole model, in cycles.
pub struct Costs {
    /// Without each head.
    pub heads: Vec<f64>,
    /// Of each draw the control of each head.
    pub random: Vec<Vec<f64>>,
}

impl Costs {
    /// Those of one model.
    ///
    /// # Errors
    /// If they were not measured.
    pub fn of(model: &Value) -> Result<Self> {
        let removed = &model["removed"];
        let whole = removed["whole"].as_f64().context("the whole model")?;
        let less = |row: Vec<f64>| row.into_iter().map(|rmse| rmse - whole).collect();
        Ok(Self {
            heads: less(numbers(&removed["heads"])?),
            random: rows(&removed["random"])?.into_iter().map(less).collect(),
        })
    }

    /// The RMSE of a model with this changed, less that of the whole model.
    ///
    /// # Errors
    /// If it was not measured.
    pub fn change(model: &Value, key: &str) -> Result<f64> {
        let rmse = |key| model["removed"][key].as_f64().context("an RMSE");
        Ok(rmse(key)? - rmse("whole")?)
    }

    /// By how many standard deviations of its control each head costs more than the control's
    /// mean.
    pub fn z_scores(&self) -> Vec<f64> {
        let of = |(head, &cost): (usize, &f64)| {
            let draws: Vec<f64> = self.random.iter().map(|draw| draw[head]).collect();
            z_score(cost, &draws)
        };
        self.heads.iter().enumerate().map(of).collect()
    }
}
