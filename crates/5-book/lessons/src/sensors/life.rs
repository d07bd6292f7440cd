//! What the model says of one engine, from its thirtieth cycle to its failure.

use crate::Args;
use crate::numbers::lines_panel;
use anyhow::Result;
use figures::{Figure, lines};
use sensors::{At, Features, Fleet, Plain, Prepared, Scale, Windows, capped};

use super::lived;
use super::model::opened;

/// Of an engine's windows, every so manieth is asked.
const EVERY: usize = 4;
/// The engine of the figure.
const ENGINE: usize = 0;

/// The windows of an engine, and what is said of them.
pub struct Life {
    /// The windows.
    pub at: Vec<At>,
    /// By the trained model.
    pub model: Vec<f64>,
    /// By a linear regression on the mean of the readings.
    pub plain: Vec<f64>,
}

/// The engines of the book, as the model was trained on them.
///
/// # Errors
/// None for this fleet.
pub fn prepared() -> Result<Prepared> {
    Ok(Prepared::of(&Fleet::default().readings(0).0, 0)?)
}

/// A linear regression on the mean of the readings, next to the model.
///
/// # Errors
/// None for this fleet.
pub fn plain(prepared: &Prepared) -> Result<Plain> {
    Ok(Plain::fit(&prepared.train, Features::Mean)?)
}

/// What is said of an engine that no training has seen.
///
/// # Errors
/// None for an engine of the fleet.
pub fn life(plain: &Plain, scale: &Scale, engine: usize) -> Result<Life> {
    let lived = lived(&Fleet::default(), engine);
    let windows = Windows::of(&[lived.engine], &[0], scale)?;
    let at: Vec<At> = windows.at.iter().step_by(EVERY).copied().collect();
    let model = &opened()?.model;
    let says = |at: &At| Ok(capped(model.pass(&windows.readings(at)?)?.remaining));
    Ok(Life {
        model: at.iter().map(says).collect::<Result<_>>()?,
        plain: at
            .iter()
            .map(|at| Ok(plain.predict(&windows, at)?))
            .collect::<Result<_>>()?,
        at,
    })
}

pub(super) fn figure(_: &Args) -> Result<Figure> {
    let prepared = prepared()?;
    let Life { at, model, plain } = life(&plain(&prepared)?, &prepared.scale, ENGINE)?;
    let line = |name: &str, of: &dyn Fn(usize) -> f64| {
        let points = (0..at.len()).map(|i| [at[i].end as f64, of(i)]).collect();
        (name.to_owned(), points)
    };
    let panel = lines_panel(
        "remaining life, cycles",
        "cycle",
        vec![
            line("in truth, at most 125", &|i| at[i].target()),
            line("the model", &|i| model[i]),
            line("linear, on the mean reading", &|i| plain[i]),
        ],
    );
    let title = format!("Engine {ENGINE}, from its thirtieth cycle to its failure");
    Ok(lines(title, &[panel])?)
}
