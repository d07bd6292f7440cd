//! New readings, on the scale of those that a model learned from.
//!
//! Each sensor has its own scale: the mean of its training readings, and their spread.
//! The spread is the square root of the variance, which is the mean of the squared
//! distances from the mean, so you divide by n. A test reading becomes (reading − mean)
//! / spread.
//!
//! What must be true of the answer:
//! - the result for a test reading does not depend on the other test readings;
//! - a sensor that does not change in training becomes 0, whatever it reads in the
//!   test;
//! - a sensor changes if any two of its training readings differ, even by a millionth;
//! - a sensor that reads 14.62 every time does not change, even if rounding makes its
//!   computed spread slightly larger than 0.

use std::process::ExitCode;

use exercises::{Matrix, scaled};

/// `(test − mean) / spread`, sensor by sensor.
///
/// # Shapes
/// `train` is `[n_train, n_sensors]`, one row per reading, and has at least one row;
/// `test` and the result are `[n_test, n_sensors]`.
// ANCHOR: answer
pub fn scaled(train: &Matrix, test: &Matrix) -> Matrix {
    // YOURS: a mean and a spread for each sensor.
    let mut out = test.clone();
    for (sensor, mut column) in out.column_iter_mut().enumerate() {
        let known = train.column(sensor);
        if known.min() == known.max() {
            column.fill(0.0);
            continue;
        }
        let mean = known.sum() / known.len() as f64;
        let squares: f64 = known.iter().map(|x| (x - mean).powi(2)).sum();
        let spread = (squares / known.len() as f64).sqrt();
        column.apply(|x| *x = (*x - mean) / spread);
    }
    out
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    scaled::check(scaled)
}
