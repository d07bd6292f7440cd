//! “Heads that specialise”: heads that come to specialise, from the measurements in `training/data` and one
//! training.

mod learning;
mod maps;
pub mod seeds;
mod share_sizes;
pub mod training_now;

use anyhow::{Context, Result, bail, ensure};
use attention::{Matrix, median};
use figures::{Ablations, Figure, MapOverSteps, ablation, map_over_steps};
use serde_json::Value;
use training::lookups::{CODES, LOOKUPS, LOUDNESS, Lookups};
use training::one_layer::{Ablation, Task};
use training::windows::{WINDOWS, Windows};

use crate::args::{Args, Entry};
use crate::numbers::mean;
use crate::seeds::{curve, numbers, rows, training_curves};
use share_sizes::ShareSizes;

pub(crate) const FIGURES: &[Entry] = &[
    ("train-curves", curves),
    ("train-sizes", sizes),
    ("train-map", map),
    ("train-windows", windows_removal),
    ("head-counts", seeds::head_counts),
    ("codes", seeds::two_codes),
    ("two-heads", seeds::two_heads),
    ("seed-maps", maps::of_seeds),
    ("role-norms", seeds::role_norms),
    ("removals", seeds::removals),
    ("four-heads", maps::four_heads),
];

/// The ten runs of a data file with so many heads, in so many steps at the usual rate,
/// by seed.
///
/// # Errors
/// If the file has other runs than it should.
pub fn runs(data: &str, n_heads: u64, n_steps: u64) -> Result<Vec<Value>> {
    let all: Vec<Value> = serde_json::from_str(data)?;
    let usual = all.first().context("a data file has runs")?["rate"].clone();
    let is = |run: &Value| {
        run["heads"] == n_heads && run["steps"] == n_steps && run["rate"] == usual
    };
    let of: Vec<Value> = all.into_iter().filter(is).collect();
    ensure!(of.len() == 10, "{} runs of {n_heads} heads, {n_steps} steps", of.len());
    Ok(of)
}

/// The ten runs of the three lookups, in the usual number of steps.
///
/// # Errors
/// If the file has other runs than it should.
pub fn lookups(n_heads: u64) -> Result<Vec<Value>> {
    runs(LOOKUPS, n_heads, 1000)
}

/// The runs of three heads with roles of several loudnesses, loudness by loudness.
///
/// # Errors
/// If the file is no list.
pub fn loudness() -> Result<Vec<Value>> {
    Ok(serde_json::from_str(LOUDNESS)?)
}

/// The runs in two codes, with shares that are a head's own or fixed.
///
/// # Errors
/// If the file is no list.
pub fn codes() -> Result<Vec<Value>> {
    Ok(serde_json::from_str(CODES)?)
}

/// The ten runs of the sensor windows.
///
/// # Errors
/// If the file has other runs than it should.
pub fn windows(n_heads: u64) -> Result<Vec<Value>> {
    runs(WINDOWS, n_heads, 1500)
}

/// The mean of what a run scored on its targets.
///
/// # Errors
/// If it has no scores.
pub fn score(run: &Value) -> Result<f64> {
    Ok(mean(numbers(&run["scores"])?))
}

fn curves(_: &Args) -> Result<Figure> {
    let mut curves = Vec::new();
    for (n_heads, group) in [(1, "1 head"), (2, "2 heads"), (3, "3 heads")] {
        for run in lookups(n_heads)? {
            curves.push(curve(group, &run)?);
        }
    }
    let title = "Three heads name all three words on every seed, and one head on none";
    training_curves(title, &curves)
}

/// The single head of seed 0.
fn sizes(_: &Args) -> Result<Figure> {
    let run = &lookups(1)?[0]["by_word"];
    let rows = rows(&run["log_share"])?;
    let log_shares = Matrix::from_row_slice(rows.len(), 3, &rows.concat());
    let [agent, object] = numbers(&run["exchanged"])?[..] else {
        bail!("{} is no pair", run["exchanged"]);
    };
    let sizes = ShareSizes {
        roles: Lookups::default().targets(),
        log_shares: &log_shares,
        marked: [agent as usize, object as usize],
    };
    let title = "A single head gives each identity its own attention weight, in any role";
    Ok(share_sizes::figure(title, sizes)?)
}

fn windows_removal(_: &Args) -> Result<Figure> {
    let removed = &windows(8)?[0]["removed"]["mean"];
    let targets = Windows::default().targets();
    let matrix = |key: &str| -> Result<Matrix> {
        let rows = rows(&removed[key])?;
        Ok(Matrix::from_row_slice(rows.len(), targets.len(), &rows.concat()))
    };
    let (lost, random) = (matrix("heads")?, matrix("random")?);
    let control: Vec<f64> =
        random.column_iter().map(|target| median(target.iter().copied())).collect();
    ensure!(random.nrows() == Ablation::N_DRAWS, "{} draws", random.nrows());
    let title = "On sensor windows one head serves several targets";
    Ok(ablation(title, Ablations { targets, lost: &lost, control: &control })?)
}

fn map(_: &Args) -> Result<Figure> {
    let trained = training_now::first()?;
    // Later nothing changes that shows.
    let early = trained.looks.iter().filter(|look| look.step <= 500);
    let looks: Vec<(usize, Matrix)> =
        early.map(|look| (look.step, look.rows.clone())).collect();
    let rows: Vec<String> = (0..3).map(|head| format!("head {head}")).collect();
    let map = MapOverSteps { looks: &looks, rows: &rows, columns: &trained.test.names };
    Ok(map_over_steps("At the verb, each head settles on one word", map)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_titles_are_true() {
        let scores = |n_heads| -> Vec<f64> {
            let runs = lookups(n_heads).unwrap();
            runs.iter().map(|run| score(run).unwrap()).collect()
        };
        assert_eq!(scores(3).len(), 10);
        assert!(scores(3).iter().all(|&score| score >= 0.99), "{:?}", scores(3));
        assert!(scores(1).iter().all(|&score| score < 0.9), "{:?}", scores(1));
        let windows = &windows(8).unwrap()[0]["removed"]["mean"]["heads"];
        let served =
            |row: &Vec<f64>| row.iter().filter(|&&lost| lost >= 0.1).count() >= 3;
        assert!(rows(windows).unwrap().iter().any(served), "{windows}");
        // The sizes: identity tells far more of a share than role does, on every seed.
        for run in lookups(1).unwrap() {
            let part = |key: &str| run["sizes"][key].as_f64().unwrap();
            assert!(part("by_identity") > 0.75 && part("by_role") < 0.05, "{run}");
        }
    }
}
