//! What a linear regression says of a window.

use attention::nalgebra::DVector;
use attention::{Error as SizeError, Matrix};

use crate::data::{At, Windows};
use crate::sizes::capped;
use crate::{Error, Result};

/// What of a window a regression sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// The last reading: the engine as it is now.
    Last,
    /// The mean of its readings, which no spike and no hard flight moves far.
    Mean,
}

/// Linear regression on a window: the plain thing that a model must beat.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain {
    seen: Seen,
    /// A weight for each sensor, and the bias at the end.
    weights: Vec<f64>,
}

impl Plain {
    /// The least squares over these windows.
    ///
    /// # Errors
    /// [`Error::Sizes`] without a window.
    pub fn fit(windows: &Windows, seen: Seen) -> Result<Self> {
        SizeError::expect_positive("the number of windows", windows.at.len())?;
        let rows: Vec<Vec<f64>> =
            windows.at.iter().map(|at| row(windows, at, seen)).collect::<Result<_>>()?;
        let width = rows[0].len();
        let x = Matrix::from_fn(rows.len(), width, |i, j| rows[i][j]);
        let targets = windows.at.iter().map(At::target);
        let y = DVector::from_iterator(rows.len(), targets);
        // A little ridge: sensors that are copies of one another share their weight.
        let ridge = Matrix::identity(width, width) * (1e-9 * rows.len() as f64);
        let squares = x.tr_mul(&x) + ridge;
        let solved = squares.cholesky().map(|factor| factor.solve(&x.tr_mul(&y)));
        let n_engines = windows.n_engines();
        let weights = solved.ok_or(Error::NothingSaid { n_engines })?;
        Ok(Self { seen, weights: weights.iter().copied().collect() })
    }

    /// What it says of a window, at least 0 and at most 125.
    ///
    /// # Errors
    /// As [`Windows::readings`].
    pub fn predict(&self, windows: &Windows, at: &At) -> Result<f64> {
        let each = row(windows, at, self.seen)?.into_iter().zip(&self.weights);
        Ok(capped(each.map(|(x, w)| x * w).sum()))
    }
}

/// What is seen, and 1 for the bias.
fn row(windows: &Windows, at: &At, seen: Seen) -> Result<Vec<f64>> {
    let mut row: Vec<f64> = match seen {
        Seen::Last => windows.last_reading(at)?,
        Seen::Mean => windows.readings(at)?.row_mean().iter().copied().collect(),
    };
    row.push(1.0);
    Ok(row)
}
