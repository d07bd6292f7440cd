//! From readings to what a training needs.

use attention::{Rng, SeedableRng};
use rand::RngExt;

use super::{Engine, Readings, Scale, Windows};
use crate::{Error, Result};

/// Windows to learn from, to choose by and to be judged by, on the scale of the first.
///
/// ```
/// use sensors::{Fleet, Prepared};
///
/// let (readings, _) = Fleet::default().readings(0);
/// let prepared = Prepared::of(&readings, 0)?;
/// assert_eq!(prepared.scale.sensors.len(), 14);
/// let engines = [&prepared.train, &prepared.validation, &prepared.test];
/// assert_eq!(engines.map(|windows| windows.n_engines()), [160, 40, 100]);
/// # Ok::<(), sensors::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Measured on the engines of `train` alone.
    pub scale: Scale,
    /// Four fifths of the engines that ran until they failed.
    pub train: Windows,
    /// The others of them.
    pub validation: Windows,
    /// The engines whose last readings are missing.
    pub test: Windows,
}

impl Prepared {
    /// Splits engines, measures the scale and cuts windows.
    ///
    /// # Errors
    /// As [`split`], [`Scale::of`] and [`Windows::of`].
    pub fn of(readings: &Readings, seed: u64) -> Result<Self> {
        let (train, validation) = split(&readings.train, &mut Rng::seed_from_u64(seed))?;
        let scale = Scale::of(&train)?;
        // They ran until they failed: nothing remains behind the last reading.
        let failed =
            |engines: &[Engine]| Windows::of(engines, &vec![0; engines.len()], &scale);
        Ok(Self {
            train: failed(&train)?,
            validation: failed(&validation)?,
            test: Windows::of(&readings.test, &readings.lives, &scale)?,
            scale,
        })
    }
}

/// Engines to learn from and engines to choose by: four fifths and the rest, whole engines,
/// since two windows of one engine share readings.
///
/// # Errors
/// [`Error::TooFew`] for a single engine.
pub fn split(engines: &[Engine], rng: &mut Rng) -> Result<(Vec<Engine>, Vec<Engine>)> {
    let n = engines.len();
    if n < 2 {
        return Err(Error::TooFew { n_engines: n });
    }
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, ((rng.random::<f64>() * (i + 1) as f64) as usize).min(i));
    }
    let n_validation = (n / 5).max(1);
    let of = |places: &[usize]| -> Vec<Engine> {
        let mut places = places.to_vec();
        places.sort_unstable();
        places.into_iter().map(|i| engines[i].clone()).collect()
    };
    Ok((of(&order[n_validation..]), of(&order[..n_validation])))
}
