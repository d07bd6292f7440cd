//! What a linear regression says of a window.

use attention::nalgebra::DVector;
use attention::{Matrix, RowVector};

use crate::data::{At, Windows};
use crate::sizes::{N_STEPS, capped};
use crate::{Error, Result};

/// What of a window a regression sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Features {
    /// The sensors in the last reading: the engine as it is now.
    Last,
    /// The same, and how the engine was operated then.
    LastAndSettings,
    /// The mean of the sensors' readings, which no spike and no hard flight moves far.
    Mean,
    /// The same, and the slope of each sensor over the window.
    MeanAndSlope,
}

impl Features {
    /// All, with their names.
    pub const ALL: [(&str, Self); 4] = [
        ("linear, last", Self::Last),
        ("linear, last and settings", Self::LastAndSettings),
        ("linear, mean", Self::Mean),
        ("linear, mean and slope", Self::MeanAndSlope),
    ];

    fn row(self, windows: &Windows, at: &At) -> Result<Vec<f64>> {
        let readings = windows.readings(at)?;
        let last =
            |of: &Matrix| of.row(N_STEPS - 1).iter().copied().collect::<Vec<f64>>();
        let mean = || readings.row_mean().iter().copied().collect::<Vec<f64>>();
        Ok(match self {
            Self::Last => last(&readings),
            Self::LastAndSettings => {
                [last(&readings), last(&windows.settings(at)?)].concat()
            }
            Self::Mean => mean(),
            Self::MeanAndSlope => [mean(), slopes(&readings)].concat(),
        })
    }
}

/// Of each sensor, by how much it rises from reading to reading: least squares.
fn slopes(readings: &Matrix) -> Vec<f64> {
    let middle = (readings.nrows() as f64 - 1.0) / 2.0;
    let time = RowVector::from_fn(readings.nrows(), |_, t| t as f64 - middle);
    let slopes = &time * readings / time.norm_squared();
    slopes.iter().copied().collect()
}

/// Linear regression on a window: the plain thing that a model must beat.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain {
    seen: Features,
    /// Mean and standard deviation of what is seen, column by column.
    scale: Vec<(f64, f64)>,
    /// A weight for each column, and the bias at the end.
    weights: Vec<f64>,
}

impl Plain {
    /// The least squares over these windows.
    ///
    /// # Errors
    /// [`Error::Sizes`] without a window.
    pub fn fit(windows: &Windows, seen: Features) -> Result<Self> {
        attention::Error::expect_positive("the number of windows", windows.at.len())?;
        let rows: Vec<Vec<f64>> =
            windows.at.iter().map(|at| seen.row(windows, at)).collect::<Result<_>>()?;
        let (n, width) = (rows.len() as f64, rows[0].len());
        let column = |j: usize| {
            let mean = rows.iter().map(|row| row[j]).sum::<f64>() / n;
            let squares = rows.iter().map(|row| (row[j] - mean) * (row[j] - mean));
            (mean, (squares.sum::<f64>() / n).sqrt())
        };
        let mut plain =
            Self { seen, scale: (0..width).map(column).collect(), weights: vec![] };
        let rows: Vec<Vec<f64>> = rows.into_iter().map(|row| plain.scaled(row)).collect();
        let x = Matrix::from_fn(rows.len(), width + 1, |i, j| rows[i][j]);
        let targets = windows.at.iter().map(At::target);
        let y = DVector::from_iterator(rows.len(), targets);
        // A little ridge: columns that are copies of one another share their weight, and one
        // that never changes has none.
        let ridge = Matrix::identity(width + 1, width + 1) * (1e-9 * n);
        let squares = x.tr_mul(&x) + ridge;
        let solved = squares.cholesky().map(|factor| factor.solve(&x.tr_mul(&y)));
        let n_engines = windows.n_engines();
        let weights = solved.ok_or(Error::NothingSaid { n_engines })?;
        plain.weights = weights.iter().copied().collect();
        Ok(plain)
    }

    /// How many weights it has, the bias among them.
    pub fn n_weights(&self) -> usize {
        self.weights.len()
    }

    /// What it says of a window, at least 0 and at most 125.
    ///
    /// # Errors
    /// As [`Windows::readings`].
    pub fn predict(&self, windows: &Windows, at: &At) -> Result<f64> {
        let row = self.scaled(self.seen.row(windows, at)?);
        Ok(capped(row.iter().zip(&self.weights).map(|(x, w)| x * w).sum()))
    }

    /// What is seen on one scale, and 1 for the bias.
    fn scaled(&self, row: Vec<f64>) -> Vec<f64> {
        let scaled = row.into_iter().zip(&self.scale).map(|(x, &(mean, spread))| {
            if spread > 0.0 { (x - mean) / spread } else { 0.0 }
        });
        scaled.chain([1.0]).collect()
    }
}

#[cfg(test)]
mod tests {
    use attention::{Rng, SeedableRng};
    use rand::seq::SliceRandom;

    use super::*;
    use crate::{Engine, Fleet, Scale, rmse};

    #[test]
    fn the_slope_of_a_line_is_its_own_whatever_its_level() {
        let readings =
            Matrix::from_fn(
                30,
                2,
                |t, j| if j == 0 { 5.0 } else { 2.0 - 0.25 * t as f64 },
            );
        let found = slopes(&readings);
        assert!(found[0].abs() < 1e-12 && (found[1] + 0.25).abs() < 1e-12, "{found:?}");
    }

    /// What part of the variance of lives a regression explains on engines that it has not
    /// seen; of their own lives, or of lives that are dealt out anew.
    fn explained(seen: Features, is_dealt: bool) -> f64 {
        let rng = &mut Rng::seed_from_u64(1);
        let engine = |unit| Fleet::default().engine(unit, rng).engine;
        let engines: Vec<Engine> = (1..=24).map(engine).collect();
        let scale = Scale::of(&engines).unwrap();
        let mut windows = |engines: &[Engine]| {
            let mut windows =
                Windows::of(engines, &vec![0; engines.len()], &scale).unwrap();
            windows.at = windows.at.into_iter().step_by(7).collect();
            if is_dealt {
                let mut lives: Vec<f64> =
                    windows.at.iter().map(|at| at.remaining).collect();
                lives.shuffle(rng);
                windows
                    .at
                    .iter_mut()
                    .zip(lives)
                    .for_each(|(at, life)| at.remaining = life);
            }
            windows
        };
        let (train, test) = (windows(&engines[..16]), windows(&engines[16..]));
        let plain = Plain::fit(&train, seen).unwrap();
        let right: Vec<f64> = test.at.iter().map(At::target).collect();
        let says = |at: &At| plain.predict(&test, at).unwrap();
        let said: Vec<f64> = test.at.iter().map(says).collect();
        let mean = right.iter().sum::<f64>() / right.len() as f64;
        1.0 - (rmse(&said, &right) / rmse(&vec![mean; right.len()], &right)).powi(2)
    }

    /// A regression is something to beat where readings say how long an engine runs, and
    /// explains nothing where they do not.
    #[test]
    fn a_regression_explains_lives_and_no_noise() {
        for (_, seen) in Features::ALL {
            let [own, dealt] = [false, true].map(|is_dealt| explained(seen, is_dealt));
            assert!(own > 0.3 && dealt.abs() < 0.1, "{seen:?}: {own}, {dealt}");
        }
    }
}
