//! Reading what `training` keeps of many seeds.

use anyhow::{Context, Result, ensure};
use figures::Curve;
use serde_json::Value;

/// A list of numbers in a run; null is NaN.
///
/// # Errors
/// If it is none.
pub fn numbers(list: &Value) -> Result<Vec<f64>> {
    let list = list.as_array().context("a list")?;
    let number = |x: &Value| match x {
        Value::Null => Ok(f64::NAN),
        x => x.as_f64().context("a number"),
    };
    list.iter().map(number).collect()
}

/// A list of such lists.
///
/// # Errors
/// If it is none.
pub fn rows(list: &Value) -> Result<Vec<Vec<f64>>> {
    list.as_array().context("rows")?.iter().map(numbers).collect()
}

/// The learning curve of a run, one of a group. A look without a loss, as one before the
/// first step may be, is left out.
///
/// # Errors
/// If the run has no curve.
pub fn curve(group: &str, run: &Value) -> Result<Curve> {
    let curve = &run["curve"];
    let (steps, losses) = (numbers(&curve["step"])?, numbers(&curve["loss"])?);
    let scores = numbers(&curve["score"])?;
    let [n_steps, n_losses, n_scores] = [&steps, &losses, &scores].map(Vec::len);
    ensure!(
        n_steps == n_scores && n_steps >= n_losses,
        "a curve of {n_steps} steps, {n_losses} losses and {n_scores} scores"
    );
    let without_loss = n_steps - n_losses;
    Ok(Curve {
        group: group.to_owned(),
        name: format!("seed {}", run["seed"]),
        steps: steps[without_loss..].iter().map(|&step| step as usize).collect(),
        losses,
        scores: scores[without_loss..].to_vec(),
    })
}
