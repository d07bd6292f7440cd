//! Chapter 11: heads that come to specialise, from the measurements in `crates/training/data` and one
//! training.

use std::ops::ControlFlow;

use anyhow::{Context, Result, ensure};
use attention::Matrix;
use figures::{
    Curve, Figure, MapOverSteps, Removals, ablation, map_over_steps, training_curves,
};
use serde_json::Value;
use training::{LOOKUPS, Lookups, Task, WINDOWS, Windows, train};

use crate::args::{Args, Entry};
use crate::numbers::mean;

pub(crate) const FIGURES: [Entry; 4] = [
    ("train-curves", curves),
    ("train-ablation", lookups_ablation),
    ("train-map", map),
    ("train-windows", windows_ablation),
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

/// The ten runs of the sensor windows.
///
/// # Errors
/// If the file has other runs than it should.
pub fn windows(n_heads: u64) -> Result<Vec<Value>> {
    runs(WINDOWS, n_heads, 1500)
}

/// A list of numbers in a run.
///
/// # Errors
/// If it is none.
pub fn numbers(list: &Value) -> Result<Vec<f64>> {
    let list = list.as_array().context("a list")?;
    list.iter().map(|x| x.as_f64().context("a number")).collect()
}

/// A list of such lists.
///
/// # Errors
/// If it is none.
pub fn rows(list: &Value) -> Result<Vec<Vec<f64>>> {
    list.as_array().context("rows")?.iter().map(numbers).collect()
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
            let curve = &run["curve"];
            curves.push(Curve {
                group: group.to_owned(),
                name: format!("seed {}", run["seed"]),
                steps: numbers(&curve["step"])?
                    .iter()
                    .map(|&step| step as usize)
                    .collect(),
                losses: numbers(&curve["loss"])?,
                scores: numbers(&curve["score"])?,
            });
        }
    }
    let title = "Three heads name all three words on every seed, and one head on none";
    Ok(training_curves(title, &curves)?)
}

fn drawn_ablation(title: &str, run: &Value, targets: &[&str]) -> Result<Figure> {
    let rows = rows(&run["ablation"])?;
    let lost = Matrix::from_row_slice(rows.len(), targets.len(), &rows.concat());
    let control = numbers(&run["control"])?;
    Ok(ablation(title, Removals { targets, lost: &lost, control: &control })?)
}

fn lookups_ablation(_: &Args) -> Result<Figure> {
    let run = &lookups(3)?[0];
    let title = "Each of three heads finds one word, and a random head none";
    drawn_ablation(title, run, Lookups::default().targets())
}

fn windows_ablation(_: &Args) -> Result<Figure> {
    let run = &windows(8)?[0];
    let title = "On sensor windows heads share the work: most targets lose with several";
    drawn_ablation(title, run, Windows::default().targets())
}

fn map(_: &Args) -> Result<Figure> {
    let settings = Lookups::settings(3, 0);
    let trained = train(&Lookups::default(), &settings, |_| ControlFlow::Continue(()))?;
    // Later nothing changes that shows.
    let early = trained.looks.iter().filter(|look| look.step <= 500);
    let looks: Vec<(usize, Matrix)> =
        early.map(|look| (look.step, look.rows.clone())).collect();
    let rows: Vec<String> = (0..3).map(|head| format!("head {head}")).collect();
    let map = MapOverSteps { looks: &looks, rows: &rows, columns: &trained.test.names };
    Ok(map_over_steps("Asked at the verb, each head comes to one word", map)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_drawn() {
        for (name, draw) in FIGURES {
            let figure = draw(&Args::default()).unwrap();
            assert!(!figure.sketch().is_empty(), "{name}");
        }
    }

    #[test]
    fn the_titles_are_true() {
        let scores = |n_heads| -> Vec<f64> {
            let runs = lookups(n_heads).unwrap();
            runs.iter().map(|run| score(run).unwrap()).collect()
        };
        assert_eq!(scores(3).len(), 10);
        assert!(scores(3).iter().all(|&score| score >= 0.99), "{:?}", scores(3));
        assert!(scores(1).iter().all(|&score| score < 0.9), "{:?}", scores(1));
        for run in lookups(3).unwrap() {
            assert_eq!(run["needed"], run["attending"]);
        }
    }
}
