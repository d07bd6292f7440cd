//! What a score is worth if the engines of the test were in the training.

use anyhow::{Context, Result};
use attention::{Rng, SeedableRng};
use sensors::{At, Fleet, Scale, Windows, rmse, split};

/// Windows that are asked.
const N_ASKED: usize = 500;

/// A window as its mean reading, and what is right there.
type Known = (Vec<f64>, f64);

/// The error of a memoriser, which gives the answer of the window whose mean reading is
/// nearest: with whole engines kept back, and with single windows of every engine kept back.
pub struct Leak {
    /// RMSE on engines that it has never seen.
    pub by_engine: f64,
    /// RMSE on windows whose neighbours it knows by heart.
    pub by_window: f64,
}

/// Measures it on the engines of the book, on the scale of all of them for both.
///
/// # Errors
/// None for this fleet.
// ANCHOR: leak
pub fn leak() -> Result<Leak> {
    let engines = Fleet::default().readings(0).0.train;
    let scale = Scale::of(&engines)?;
    let known =
        |engines: &[_]| known(&Windows::of(engines, &vec![0; engines.len()], &scale)?);

    let (train, kept) = split(&engines, &mut Rng::seed_from_u64(0))?;
    let by_engine = memorised(&known(&train)?, &known(&kept)?)?;

    // Every fifth window of every engine is kept back: as many, and no engine is new.
    let (mut train, mut kept) = (Vec::new(), Vec::new());
    for (i, window) in known(&engines)?.into_iter().enumerate() {
        if i % 5 == 2 { kept.push(window) } else { train.push(window) }
    }
    let by_window = memorised(&train, &kept)?;
    Ok(Leak { by_engine, by_window })
}
// ANCHOR_END: leak

fn known(windows: &Windows) -> Result<Vec<Known>> {
    let of = |at: &At| {
        let mean = windows.readings(at)?.row_mean();
        Ok((mean.iter().copied().collect(), at.target()))
    };
    windows.at.iter().map(of).collect()
}

/// The RMSE of the nearest window's answer, over some of the windows that were kept back.
fn memorised(train: &[Known], kept: &[Known]) -> Result<f64> {
    let every = (kept.len() / N_ASKED).max(1);
    let (mut said, mut right) = (Vec::new(), Vec::new());
    for (mean, target) in kept.iter().step_by(every) {
        let distance = |known: &Known| -> f64 {
            known.0.iter().zip(mean).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let nearest = train.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        said.push(nearest.context("windows to learn from")?.1);
        right.push(*target);
    }
    Ok(rmse(&said, &right))
}
