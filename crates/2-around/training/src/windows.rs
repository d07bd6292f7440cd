//! Sensor windows: thirty readings of three channels, and seven questions about them.
//!
//! Source 003 lists eight things that heads might come to do on such windows. Here each
//! window has something planted for every one of them to find, and the layer is asked at
//! the last reading, as one asks a machine's state now.

mod criteria;
#[cfg(test)]
mod tests;

use attention::{Batch, Error, Matrix, Result, Rng, SeedableRng, random_matrix};
use rand::RngExt;

use crate::Schedule;
use crate::one_layer::{Answers, Examples, Task, mean, spread};

pub use criteria::{Found, HeadMeasures, SPECIALISATIONS, found, specialisations};

/// The windows on ten seeds, with eight heads and with one, as `cargo run --release -p
/// training --example seeds -- windows` measured them: JSON, one run per line.
pub const WINDOWS: &str = include_str!("../data/windows.json");

/// Readings in a window.
pub const N_STEPS: usize = 30;

const TARGETS: [&str; 7] =
    ["recent", "transition", "spike", "trend", "level", "at hottest", "at peak"];

/// The task; how readings become tokens is fixed, and only the layer and the readout
/// learn.
#[derive(Debug, Clone, PartialEq)]
pub struct Windows {
    /// The vector of each of the six numbers of a reading, `[6, d_model]`.
    features: Matrix<f32>,
    /// The vector of each place in the window, `[N_STEPS, d_model]`.
    places: Matrix<f32>,
    /// Mean and standard deviation of each target, so that all count alike.
    scales: Vec<(f64, f64)>,
}

/// Thirty readings, and what was planted among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Wanders, with a slow trend.
    pub temperature: [f64; N_STEPS],
    /// Steady until the transition, and steady again on a higher level.
    pub pressure: [f64; N_STEPS],
    /// Quiet but for one spike.
    pub vibration: [f64; N_STEPS],
    /// The first reading on the higher level of pressure.
    pub transition: usize,
    /// The reading with the spike.
    pub spike: usize,
}

impl Default for Windows {
    /// The task of the book: tokens of 64, a quarter of the source's 256, so that a
    /// training takes seconds.
    fn default() -> Self {
        Self::new(64, 0).expect("64 is not 0")
    }
}

impl Windows {
    /// The task for tokens of this width, with vectors of its own.
    pub(crate) fn new(d_model: usize, seed: u64) -> Result<Self> {
        Error::expect_positive("d_model", d_model)?;
        let rng = &mut Rng::seed_from_u64(seed);
        let mut vectors = |n| random_matrix(n, d_model, 0.5, rng);
        let (features, places) = (vectors(6), vectors(N_STEPS));
        let sample: Vec<[f64; 7]> =
            (0..2000).map(|_| Window::random(rng).answers()).collect();
        let scale = |r: usize| {
            spread(&sample.iter().map(|answers| answers[r]).collect::<Vec<_>>())
        };
        Ok(Self { features, places, scales: (0..TARGETS.len()).map(scale).collect() })
    }

    /// What learns most of it in seconds.
    pub fn schedule(seed: u64) -> Schedule {
        Schedule { n_steps: 1500, batch: 32, rate: 5e-3, seed, n_test: 512, n_looks: 30 }
    }

    /// Windows as the layer gets them. A reading is its three channels and how far each
    /// has moved since the reading before, which in the source a recurrent layer has
    /// noticed before attention begins.
    ///
    /// # Errors
    /// [`attention::Error`] for none.
    pub fn examples(&self, windows: &[Window]) -> Result<Examples> {
        let n = windows.len();
        Error::expect_positive("the number of windows", n)?;
        let readings: Vec<[f64; 6]> =
            windows.iter().flat_map(|w| (0..N_STEPS).map(|t| w.reading(t))).collect();
        let readings = Matrix::from_fn(n * N_STEPS, 6, |i, f| readings[i][f] as f32);
        let mut tokens = readings * &self.features; // [n · 30, d_model]
        for (mut feature, places) in
            tokens.column_iter_mut().zip(self.places.column_iter())
        {
            for (x, place) in feature.iter_mut().zip(places.iter().cycle()) {
                *x += place;
            }
        }
        let last = |s: usize| tokens.row((s + 1) * N_STEPS - 1).into_owned();
        let asking = Matrix::from_rows(&(0..n).map(last).collect::<Vec<_>>());
        let answers: Vec<[f64; 7]> = windows.iter().map(Window::answers).collect();
        let scaled = |s: usize, r: usize| {
            let (mean, std_dev) = self.scales[r];
            ((answers[s][r] - mean) / std_dev) as f32
        };
        let planted = |r: usize| {
            let shares: Vec<[f64; N_STEPS]> =
                windows.iter().map(|window| window.planted(r)).collect();
            Matrix::from_fn(n, N_STEPS, |s, t| shares[s][t])
        };
        Ok(Examples {
            tokens: Batch::new(n, tokens)?,
            asking: Batch::new(n, asking)?,
            answers: Answers::Numbers(Matrix::from_fn(n, TARGETS.len(), scaled)),
            planted: (0..TARGETS.len()).map(planted).collect(),
            names: windows[0].names(),
        })
    }

    /// So many random windows.
    pub(crate) fn windows(n: usize, rng: &mut Rng) -> Vec<Window> {
        (0..n).map(|_| Window::random(rng)).collect()
    }
}

impl Window {
    /// A random window.
    pub(crate) fn random(rng: &mut Rng) -> Self {
        let mut even = |from: f64, to: f64| from + (to - from) * rng.random::<f64>();
        let transition = even(5.0, 25.0) as usize;
        // Anywhere but at the transition.
        let spike = (transition + even(1.0, N_STEPS as f64) as usize) % N_STEPS;

        let (mut wander, slope) = (even(-1.0, 1.0), even(-0.06, 0.06));
        let temperature = std::array::from_fn(|_| {
            wander += slope + even(-0.5, 0.5);
            wander
        });
        let (before, jump) = (even(-1.0, 1.0), even(2.0, 3.0));
        let pressure = std::array::from_fn(|t| {
            let level = if t < transition { before } else { before + jump };
            level + even(-0.5, 0.5)
        });
        let height = even(2.0, 5.0);
        let vibration = std::array::from_fn(|t| {
            even(-0.3, 0.3) + if t == spike { height } else { 0.0 }
        });
        Self { temperature, pressure, vibration, transition, spike }
    }

    /// The numbers of one reading: the channels, and how far they moved.
    fn reading(&self, t: usize) -> [f64; 6] {
        let channels = [&self.temperature, &self.pressure, &self.vibration];
        let moved = channels.map(|channel| channel[t] - channel[t.saturating_sub(1)]);
        let [a, b, c] = channels.map(|channel| channel[t]);
        let [d, e, f] = moved;
        [a, b, c, d, e, f]
    }

    /// The right answers, in the order of the targets.
    fn answers(&self) -> [f64; 7] {
        let Self { temperature, pressure, vibration, transition, spike } = self;
        [
            mean(&temperature[26..29]),
            *transition as f64,
            vibration[*spike],
            mean(&temperature[20..]) - mean(&temperature[..10]),
            mean(pressure),
            pressure[argmax(temperature)],
            temperature[argmax(pressure)],
        ]
    }

    /// Where the answer of target `r` stands, as shares that sum to 1.
    fn planted(&self, r: usize) -> [f64; N_STEPS] {
        let one = |at: usize| vec![at];
        let steps: Vec<usize> = match r {
            0 => (26..29).collect(),
            1 => one(self.transition),
            2 => one(self.spike),
            3 => (0..10).chain(20..30).collect(),
            4 => (0..N_STEPS).collect(),
            5 => one(argmax(&self.temperature)),
            _ => one(argmax(&self.pressure)),
        };
        let mut shares = [0.0; N_STEPS];
        steps.iter().for_each(|&t| shares[t] = 1.0 / steps.len() as f64);
        shares
    }

    /// What is at each reading, for a drawing of the map: `29` is now.
    fn names(&self) -> Vec<String> {
        let name = |t: usize| match t {
            t if t == self.transition => format!("{t} transition"),
            t if t == self.spike => format!("{t} spike"),
            t => t.to_string(),
        };
        (0..N_STEPS).map(name).collect()
    }
}

fn argmax(channel: &[f64; N_STEPS]) -> usize {
    (1..N_STEPS).fold(0, |best, t| if channel[t] > channel[best] { t } else { best })
}

impl Task for Windows {
    fn targets(&self) -> &'static [&'static str] {
        &TARGETS
    }

    fn d_model(&self) -> usize {
        self.features.ncols()
    }

    fn n_answers(&self) -> usize {
        TARGETS.len()
    }

    fn draw(&self, n_examples: usize, rng: &mut Rng) -> Result<Examples> {
        self.examples(&Self::windows(n_examples, rng))
    }
}
