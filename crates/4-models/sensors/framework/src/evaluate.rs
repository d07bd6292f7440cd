//! How good a model is on engines that it has not seen.

use std::fmt;

use anyhow::Result;
use candle_core::{Device, Tensor};
use sensors::{At, CAP, N_STEPS, Windows, capped, nasa_score, rmse};

use crate::model::Net;

/// RMSE and score.
#[derive(Debug, Clone, Copy)]
pub struct Evaluation {
    /// Over windows of all engines.
    pub rmse: f64,
    /// Over the last window of each engine.
    pub rmse_last: f64,
    /// NASA's score, summed over the last window of each engine.
    pub score: f64,
}

impl Evaluation {
    /// Judges a model by every so many windows of each engine, counted from the last.
    pub fn of(net: &Net, windows: &Windows, every: usize) -> Result<Self> {
        judge(windows, every, |all| predicted(net, windows, all))
    }
}

/// The same of anything that predicts.
pub fn judge(
    windows: &Windows,
    every: usize,
    predict: impl Fn(&[At]) -> Result<Vec<f64>>,
) -> Result<Evaluation> {
    let engines = windows.at.chunk_by(|a, b| a.engine == b.engine);
    let some: Vec<At> =
        engines.flat_map(|all| all.iter().rev().step_by(every).copied()).collect();
    let last = windows.last();
    let targets = |all: &[At]| all.iter().map(At::target).collect::<Vec<f64>>();
    let of_last = predict(&last)?;
    Ok(Evaluation {
        rmse: rmse(&predict(&some)?, &targets(&some)),
        rmse_last: rmse(&of_last, &targets(&last)),
        score: nasa_score(&of_last, &targets(&last)),
    })
}

/// What a model says of windows, at least 0 and at most 125 cycles.
fn predicted(net: &Net, windows: &Windows, all: &[At]) -> Result<Vec<f64>> {
    let mut found = Vec::with_capacity(all.len());
    for some in all.chunks(128) {
        let parts = net.forward(&inputs(windows, some, net.d_in())?)?.part;
        let parts: Vec<f32> = parts.to_vec1()?;
        found.extend(parts.iter().map(|&part| capped(f64::from(part) * CAP)));
    }
    Ok(found)
}

/// Windows as the framework gets them, `[batch, 30, d_in]`.
pub fn inputs(windows: &Windows, all: &[At], d_in: usize) -> Result<Tensor> {
    let mut numbers: Vec<f32> = Vec::with_capacity(all.len() * N_STEPS * d_in);
    for at in all {
        let readings = windows.readings(at)?;
        numbers.extend(readings.transpose().iter().map(|&x| x as f32));
    }
    Ok(Tensor::from_vec(numbers, (all.len(), N_STEPS, d_in), &Device::Cpu)?)
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rmse, rmse_last, score } = self;
        write!(f, "RMSE {rmse:.2}, of last windows {rmse_last:.2}, score {score:.0}")
    }
}
