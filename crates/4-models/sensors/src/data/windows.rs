//! Thirty readings, and how long the engine will run.

use attention::Matrix;

use super::{Engine, Scale};
use crate::sizes::{CAP, N_SETTINGS, N_STEPS};
use crate::{Error, Result};

/// Where a window stands, and what is right there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct At {
    /// The place of the engine in the list.
    pub engine: usize,
    /// The cycle of the last reading of the window.
    pub end: usize,
    /// How many cycles remain behind it.
    pub remaining: f64,
}

impl At {
    /// What a model is to say, `min(remaining, 125)`.
    pub fn target(&self) -> f64 {
        self.remaining.min(CAP)
    }
}

/// All windows of some engines. A window is of one engine: none begins in one and ends in
/// the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Windows {
    /// Each engine's readings on one scale, `[n_cycles, n_sensors]`.
    engines: Vec<Matrix>,
    /// How each was operated, as it stands in the file, `[n_cycles, 3]`.
    settings: Vec<Matrix>,
    /// The windows, engine by engine, cycle by cycle.
    pub at: Vec<At>,
    /// Engines with fewer readings than a window has, which are skipped.
    pub n_short: usize,
}

impl Windows {
    /// All windows of engines, behind whose last readings `lives` cycles remain.
    ///
    /// # Errors
    /// [`attention::Error::Length`] if not every engine has a life; [`Error::AllShort`] if no
    /// engine has a window.
    pub fn of(engines: &[Engine], lives: &[usize], scale: &Scale) -> Result<Self> {
        let (n, found) = (engines.len(), lives.len());
        attention::Error::expect_length("the list of remaining lives", n, found)?;
        let mut windows =
            Self { engines: vec![], settings: vec![], at: vec![], n_short: 0 };
        for (engine, &life) in engines.iter().zip(lives) {
            let last = engine.n_cycles();
            if last < N_STEPS {
                windows.n_short += 1;
                continue;
            }
            let place = windows.engines.len();
            windows.engines.push(scale.apply(engine));
            let setting = |t: usize, j: usize| engine.readings[t].settings[j];
            windows.settings.push(Matrix::from_fn(last, N_SETTINGS, setting));
            windows.at.extend((N_STEPS..=last).map(|end| {
                let remaining = (life + last - end) as f64;
                At { engine: place, end, remaining }
            }));
        }
        if windows.at.is_empty() {
            let longest = engines.iter().map(Engine::n_cycles).max().unwrap_or(0);
            return Err(Error::AllShort { n_engines: engines.len(), longest });
        }
        Ok(windows)
    }

    /// The readings of a window, the oldest first.
    ///
    /// # Shapes
    /// The result is `[30, n_sensors]`.
    ///
    /// # Errors
    /// [`Error::NoWindow`] for one of other engines.
    pub fn readings(&self, at: &At) -> Result<Matrix> {
        cut(&self.engines, at)
    }

    /// How the engine was operated in a window, as it stands in the file. No model here is
    /// given it.
    ///
    /// # Shapes
    /// The result is `[30, 3]`.
    ///
    /// # Errors
    /// As [`readings`](Self::readings).
    pub fn settings(&self, at: &At) -> Result<Matrix> {
        cut(&self.settings, at)
    }

    /// The last reading of a window.
    ///
    /// # Errors
    /// As [`readings`](Self::readings).
    pub fn last_reading(&self, at: &At) -> Result<Vec<f64>> {
        Ok(self.readings(at)?.row(N_STEPS - 1).iter().copied().collect())
    }

    /// The last window of each engine: what a fleet's owner asks.
    pub fn last(&self) -> Vec<At> {
        let engines = self.at.chunk_by(|a, b| a.engine == b.engine);
        engines.filter_map(|windows| windows.last().copied()).collect()
    }

    /// The number of engines that have a window.
    pub fn n_engines(&self) -> usize {
        self.engines.len()
    }
}

/// The rows of a window.
fn cut(engines: &[Matrix], &At { engine, end, .. }: &At) -> Result<Matrix> {
    match engines.get(engine) {
        Some(all) if (N_STEPS..=all.nrows()).contains(&end) => {
            Ok(all.rows(end - N_STEPS, N_STEPS).into_owned())
        }
        _ => Err(Error::NoWindow { engine, end }),
    }
}
