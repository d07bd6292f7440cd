//! Readings of sensors, and what those of one sensor have in common.

use attention::Matrix;

use super::inputs;

/// Readings to learn from and readings to test with, a row each, a column per sensor.
pub struct Input {
    /// `[n_train, n_sensors]`.
    pub train: Matrix,
    /// `[n_test, n_sensors]`.
    pub test: Matrix,
}

impl Input {
    /// What is asked.
    pub fn right(&self) -> Matrix {
        self.guarded(|x, m| (x - m.mean) / m.spread)
    }

    /// `of(reading, moments of its sensor)` for the sensors that change in the training, and
    /// 0 for the others.
    pub fn guarded(&self, of: impl Fn(f64, Moments) -> f64) -> Matrix {
        self.each(|x, m| if m.changes() { of(x, m) } else { 0.0 })
    }

    /// The right answer, but 0 for sensors that read the same in these two training readings
    /// of n.
    pub fn unless_equal(&self, two: impl Fn(usize) -> [usize; 2]) -> Matrix {
        let mut out = self.right();
        for (sensor, mut column) in out.column_iter_mut().enumerate() {
            let [a, b] = two(self.train.nrows());
            if self.train[(a, sensor)] == self.train[(b, sensor)] {
                column.fill(0.0);
            }
        }
        out
    }

    /// The same for those whose computed spread is not 0.
    pub fn unless_zero(&self, of: impl Fn(f64, Moments) -> f64) -> Matrix {
        self.each(|x, m| if m.spread == 0.0 { 0.0 } else { of(x, m) })
    }

    /// `of(reading, moments of its sensor in the training)` for every test reading.
    pub fn each(&self, of: impl Fn(f64, Moments) -> f64) -> Matrix {
        self.measured_on(&self.train, of)
    }

    /// Every test reading less its sensor's mean, divided by `of(moments of its sensor)`.
    pub fn divided(&self, of: impl Fn(Moments) -> f64) -> Matrix {
        self.each(|x, m| (x - m.mean) / of(m))
    }

    /// `of(reading, moments of its sensor in other readings)` for every test reading.
    pub fn measured_on(
        &self,
        other: &Matrix,
        of: impl Fn(f64, Moments) -> f64,
    ) -> Matrix {
        Matrix::from_fn(self.test.nrows(), self.test.ncols(), |i, sensor| {
            of(self.test[(i, sensor)], of_column(other, sensor))
        })
    }

    /// `of(reading, moments of its sensor in other readings)` for the sensors that change in
    /// the training, and 0 for the others.
    pub fn guarded_on(&self, other: &Matrix, of: impl Fn(f64, Moments) -> f64) -> Matrix {
        let mut out = self.measured_on(other, of);
        for (sensor, mut column) in out.column_iter_mut().enumerate() {
            if !of_column(&self.train, sensor).changes() {
                column.fill(0.0);
            }
        }
        out
    }

    /// The training's rows, and below them the test's.
    pub fn together(&self) -> Matrix {
        let n = self.train.nrows();
        Matrix::from_fn(n + self.test.nrows(), self.test.ncols(), |i, sensor| {
            if i < n { self.train[(i, sensor)] } else { self.test[(i - n, sensor)] }
        })
    }
}

/// What is known of some readings of a sensor.
#[derive(Clone, Copy)]
pub struct Moments {
    /// Their mean.
    pub mean: f64,
    /// The root of their mean squared distance from it.
    pub spread: f64,
    /// The mean of their squares.
    pub mean_square: f64,
    /// How many readings there are.
    pub n: f64,
    /// The smallest of them.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

impl Moments {
    /// Whether the sensor reads different numbers: no question to a computed spread.
    pub fn changes(&self) -> bool {
        self.least != self.most
    }
}

/// Of some readings.
pub fn moments<'a>(readings: impl Iterator<Item = &'a f64>) -> Moments {
    let all: Vec<f64> = readings.copied().collect();
    let n = all.len() as f64;
    let mean = all.iter().sum::<f64>() / n;
    let squares = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    Moments {
        mean,
        spread: (squares / n).sqrt(),
        mean_square: all.iter().map(|x| x * x).sum::<f64>() / n,
        n,
        least: all.iter().copied().fold(f64::INFINITY, f64::min),
        most: all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Of one sensor.
pub fn of_column(readings: &Matrix, sensor: usize) -> Moments {
    moments(readings.column(sensor).iter())
}

/// `(x − mean) / spread`, and 0 for a sensor that does not change.
pub fn standard(x: f64, m: Moments) -> f64 {
    if m.changes() { (x - m.mean) / m.spread } else { 0.0 }
}

/// From 0 at the smallest reading to 1 at the largest, and 0 for a sensor that does not change.
pub fn by_extremes(x: f64, m: Moments) -> f64 {
    if m.changes() { (x - m.least) / (m.most - m.least) } else { 0.0 }
}

/// Random readings, `[n, n_sensors]`: each sensor around a place of its own and in units of
/// its own, moved on by `drift` units.
pub fn drifted(n: usize, n_sensors: usize, drift: f64, seed: u64) -> Matrix {
    let units = inputs::matrix(n, n_sensors, seed);
    let unit = |sensor: usize| 0.4 * 5_f64.powi(sensor as i32);
    let place = |sensor: usize| 7.0 - 9.0 * sensor as f64;
    Matrix::from_fn(n, n_sensors, |i, sensor| {
        place(sensor) + unit(sensor) * (units[(i, sensor)] + drift)
    })
}
