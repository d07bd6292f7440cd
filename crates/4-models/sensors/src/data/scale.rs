//! All sensors on one scale.

use attention::Matrix;

use super::{Engine, Fleet};
use crate::sizes::N_SENSORS;
use crate::{Error, Result};

/// Which sensors say something, and the mean and spread of each: what was measured on the
/// engines that are learned from, and on no other.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// The sensors that are read, counted from 1.
    pub sensors: Vec<usize>,
    /// The mean of each.
    pub mean: Vec<f64>,
    /// The standard deviation of each.
    pub spread: Vec<f64>,
}

impl Scale {
    /// Measures engines. A sensor says something if at least a tenth of its readings differ
    /// from the one that is most frequent: in FD001 these are 14 of 21.
    ///
    /// # Errors
    /// [`Error::NothingSaid`] if no sensor does.
    pub fn of(engines: &[Engine]) -> Result<Self> {
        let mut scale = Self { sensors: vec![], mean: vec![], spread: vec![] };
        for s in 1..=N_SENSORS {
            let readings = engines.iter().flat_map(|engine| &engine.readings);
            let all: Vec<f64> = readings.map(|reading| reading.sensors[s - 1]).collect();
            if 10 * (all.len() - most_frequent(&all)) < all.len().max(1) {
                continue;
            }
            let n = all.len() as f64;
            let mean = all.iter().sum::<f64>() / n;
            let squares = all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
            scale.sensors.push(s);
            scale.mean.push(mean);
            scale.spread.push((squares / n).sqrt());
        }
        if scale.sensors.is_empty() {
            return Err(Error::NothingSaid { n_engines: engines.len() });
        }
        Ok(scale)
    }

    /// A scale that was measured elsewhere.
    ///
    /// # Errors
    /// [`attention::Error::Length`] for lists of different lengths, [`Error::NoSensor`] for a
    /// number that no sensor has, [`Error::Spread`] for a spread that is not above 0.
    pub fn new(sensors: Vec<usize>, mean: Vec<f64>, spread: Vec<f64>) -> Result<Self> {
        let n = sensors.len();
        attention::Error::expect_positive("the number of sensors", n)?;
        attention::Error::expect_length("the list of means", n, mean.len())?;
        attention::Error::expect_length("the list of spreads", n, spread.len())?;
        for (&sensor, &spread) in sensors.iter().zip(&spread) {
            if !(1..=N_SENSORS).contains(&sensor) {
                return Err(Error::NoSensor { sensor });
            }
            if !(spread.is_finite() && spread > 0.0) {
                return Err(Error::Spread { sensor, spread });
            }
        }
        Ok(Self { sensors, mean, spread })
    }

    /// All readings of an engine, `(reading − mean) / spread`.
    ///
    /// # Shapes
    /// The result is `[n_cycles, n_sensors]`.
    pub fn apply(&self, engine: &Engine) -> Matrix {
        Matrix::from_fn(engine.n_cycles(), self.sensors.len(), |t, j| {
            let reading = engine.readings[t].sensors[self.sensors[j] - 1];
            (reading - self.mean[j]) / self.spread[j]
        })
    }
}

impl Scale {
    /// The mean of some sensors of readings on this scale, reading by reading, each with the
    /// sign that wear has in it; zeros if no such sensor is read.
    ///
    /// # Shapes
    /// `readings` is `[n, n_sensors]`, the result `[n]`; sensors count from 1.
    pub fn channel(&self, readings: &Matrix, is: impl Fn(usize) -> bool) -> Vec<f64> {
        let columns: Vec<(usize, f64)> = (self.sensors.iter().enumerate())
            .filter(|&(_, &sensor)| is(sensor))
            .map(|(j, &sensor)| (j, Fleet::sign(sensor)))
            .collect();
        let mean = |t: usize| {
            let sum: f64 = columns.iter().map(|&(j, sign)| sign * readings[(t, j)]).sum();
            sum / columns.len().max(1) as f64
        };
        (0..readings.nrows()).map(mean).collect()
    }
}

/// How often the most frequent of these numbers occurs.
fn most_frequent(all: &[f64]) -> usize {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0)
}
