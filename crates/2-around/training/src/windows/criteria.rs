//! What it takes to say that a head does one of the things that source 003 lists.
//!
//! The criteria were written before any head was looked at, and no threshold has been moved
//! since. Two were made stricter, when heads made by hand showed that each took the other's
//! for its own: pressure rises over a window, and so does time. They are about the asking
//! token's row of a head, over many windows.

use attention::{Matrix, Result, Rng, SeedableRng};

use super::{N_STEPS, Window, Windows};
use crate::one_layer::{Model, mean};

/// The eight possible specialisations, in the source's order: the name, and when a head
/// has it.
pub const SPECIALISATIONS: [(&str, &str); 8] = [
    ("recent", "at least half on the three readings before now (even: a tenth)"),
    ("transition", "at least half on the first reading after the transition"),
    (
        "temperature",
        "ln share and temperature correlate at 0.5, and more than with all else",
    ),
    ("pressure", "ln share and pressure correlate at 0.5, and more than with all else"),
    ("spike", "at least half on the reading with the spike"),
    (
        "trend",
        "mean share and time correlate at ±0.9, ln share more with time than with all \
         else, no reading above a tenth",
    ),
    (
        "early and late",
        "seven tenths on the first ten readings, and another head on the last ten",
    ),
    ("uniform", "at least 0.95 of the entropy of an even row"),
];

/// For each of [`SPECIALISATIONS`] the heads that have it.
pub type Found = [Vec<usize>; 8];

/// Which head of a model does which of the eight things, measured on fresh windows.
///
/// # Errors
/// [`attention::Error`] if the model is of another width than the task.
pub fn specialisations(task: &Windows, model: &Model, seed: u64) -> Result<Found> {
    let windows = Windows::windows(256, &mut Rng::seed_from_u64(seed));
    let rows = model.say(&task.examples(&windows)?)?.rows;
    let heads: Vec<HeadMeasures> =
        rows.iter().map(|rows| HeadMeasures::of(rows, &windows)).collect();
    Ok(found(&heads))
}

/// Which of these heads does which of the eight things.
pub fn found(heads: &[HeadMeasures]) -> Found {
    let which = |is: &dyn Fn(&HeadMeasures) -> bool| -> Vec<usize> {
        (0..heads.len()).filter(|&i| is(&heads[i])).collect()
    };
    let of_channel = |c: usize| {
        which(&|head| {
            let others = head.channels.iter().fold(head.within.abs(), |m, &c| m.max(c));
            head.channels[c] >= 0.5 && head.channels[c] == others
        })
    };
    let (early, late) =
        (which(&|head| head.early >= 0.7), which(&|head| head.late >= 0.7));
    let both = !early.is_empty() && !late.is_empty();
    [
        which(&|head| head.recent >= 0.5),
        which(&|head| head.transition >= 0.5),
        of_channel(0),
        of_channel(1),
        which(&|head| head.spike >= 0.5),
        which(&|head| {
            let others = head.channels.iter().fold(0.0, |m: f64, c| m.max(c.abs()));
            head.time.abs() >= 0.9 && head.most <= 0.1 && head.within.abs() > others
        }),
        if both { [early, late].concat() } else { Vec::new() },
        which(&|head| head.entropy >= 0.95),
    ]
}

/// What the criteria look at in a head, averaged over windows.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadMeasures {
    /// The share of the three readings before now.
    pub recent: f64,
    /// The share of the first reading after the transition.
    pub transition: f64,
    /// The share of the reading with the spike.
    pub spike: f64,
    /// The share of the first ten readings.
    pub early: f64,
    /// The share of the last ten.
    pub late: f64,
    /// The correlation of ln share with temperature, pressure and vibration.
    pub channels: [f64; 3],
    /// The correlation of the mean share with time.
    pub time: f64,
    /// The correlation of ln share with time, window by window.
    pub within: f64,
    /// The largest mean share.
    pub most: f64,
    /// As a share of an even row's.
    pub entropy: f64,
}

impl HeadMeasures {
    /// Measures a head.
    ///
    /// # Shapes
    /// `rows` is `[n_windows, 30]`, what the head attends to when asked, window by window.
    pub fn of(rows: &Matrix, windows: &[Window]) -> Self {
        let mean = |of: &dyn Fn(&[f64], &Window) -> f64| {
            let each = windows.iter().enumerate().map(|(s, window)| {
                let row: Vec<f64> = rows.row(s).iter().copied().collect();
                of(&row, window)
            });
            each.sum::<f64>() / windows.len() as f64
        };
        let sum = |row: &[f64]| row.iter().sum::<f64>();
        let ln =
            |row: &[f64]| -> Vec<f64> { row.iter().map(|x| x.max(1e-12).ln()).collect() };
        let bits = |row: &[f64]| -> f64 {
            row.iter().filter(|&&x| x > 0.0).map(|x| -x * x.log2()).sum()
        };
        let mean_row: Vec<f64> = rows.row_mean().iter().copied().collect();
        let time: Vec<f64> = (0..N_STEPS).map(|t| t as f64).collect();
        Self {
            recent: mean(&|row, _| sum(&row[26..29])),
            transition: mean(&|row, window| row[window.transition]),
            spike: mean(&|row, window| row[window.spike]),
            early: mean(&|row, _| sum(&row[..10])),
            late: mean(&|row, _| sum(&row[20..])),
            channels: [
                mean(&|row, window| correlation(&ln(row), &window.temperature)),
                mean(&|row, window| correlation(&ln(row), &window.pressure)),
                mean(&|row, window| correlation(&ln(row), &window.vibration)),
            ],
            time: correlation(&mean_row, &time),
            within: mean(&|row, _| correlation(&ln(row), &time)),
            most: mean_row.iter().copied().fold(0.0, f64::max),
            entropy: mean(&|row, _| bits(row)) / (N_STEPS as f64).log2(),
        }
    }
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    let dot = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
    };
    let size = (dot(a, mean_a, a, mean_a) * dot(b, mean_b, b, mean_b)).sqrt();
    // What never changes goes with nothing.
    if size > 0.0 { dot(a, mean_a, b, mean_b) / size } else { 0.0 }
}
