//! What a window's last reading says by itself.

use attention::nalgebra::DVector;
use attention::{Error as SizeError, Matrix};

use crate::data::{At, CAP, Windows};
use crate::{Error, Result};

/// Linear regression on the last reading of a window: the plain thing that a model must
/// beat.
#[derive(Debug, Clone, PartialEq)]
pub struct LastReading {
    /// A weight for each sensor, and the bias at the end.
    weights: Vec<f64>,
}

impl LastReading {
    /// The least squares over these windows.
    ///
    /// # Errors
    /// [`Error::Sizes`] without a window.
    pub fn fit(windows: &Windows) -> Result<Self> {
        SizeError::expect_positive("the number of windows", windows.at.len())?;
        let rows: Vec<Vec<f64>> = windows.at.iter().map(|at| row(windows, at)).collect();
        let width = rows[0].len();
        let x = Matrix::from_fn(rows.len(), width, |i, j| rows[i][j]);
        let y = DVector::from_iterator(rows.len(), windows.at.iter().map(At::target));
        // A little ridge: sensors that are copies of one another share their weight.
        let ridge = Matrix::identity(width, width) * (1e-9 * rows.len() as f64);
        let squares = x.tr_mul(&x) + ridge;
        let solved = squares.cholesky().map(|it| it.solve(&x.tr_mul(&y)));
        let weights =
            solved.ok_or(Error::NothingSaid { n_engines: windows.n_engines() })?;
        Ok(Self { weights: weights.iter().copied().collect() })
    }

    /// What it says of a window, at least 0 and at most 125.
    pub fn predict(&self, windows: &Windows, at: &At) -> f64 {
        let each = row(windows, at).into_iter().zip(&self.weights);
        each.map(|(x, w)| x * w).sum::<f64>().clamp(0.0, CAP)
    }
}

/// The last reading, and 1 for the bias.
fn row(windows: &Windows, at: &At) -> Vec<f64> {
    windows.last_reading(at).chain([1.0]).collect()
}
