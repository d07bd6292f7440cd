//! Engines that were never built, of which everything is known.

use attention::{Rng, SeedableRng};
use rand::RngExt;

use super::{Engine, Reading, Readings};
use crate::sizes::{N_SENSORS, N_SETTINGS, N_STEPS};

/// The sensors that say something, in groups that drift and spike together.
pub const GROUPS: [(&str, &[usize]); 4] = [
    ("temperature", &[2, 3, 4]),
    ("pressure", &[7, 11]),
    ("speed", &[8, 9, 13, 14]),
    ("flow", &[12, 15, 17, 20, 21]),
];

/// Of each sensor: the level of a new engine, how far readings spread, and whether wear
/// raises (1) or lowers (−1) it. Levels and spreads are near those of FD001; a spread of 0
/// says nothing.
const SENSORS: [(f64, f64, f64); N_SENSORS] = [
    (518.67, 0.0, 0.0),
    (642.3, 0.5, 1.0),
    (1585.0, 6.1, 1.0),
    (1400.0, 9.0, 1.0),
    (14.62, 0.0, 0.0),
    (21.61, 0.0, 0.0),
    (553.9, 0.88, -1.0),
    (2388.05, 0.071, 1.0),
    (9050.0, 22.0, 1.0),
    (1.3, 0.0, 0.0),
    (47.3, 0.27, 1.0),
    (521.9, 0.74, -1.0),
    (2388.05, 0.072, 1.0),
    (8135.0, 19.0, 1.0),
    (8.41, 0.037, 1.0),
    (0.03, 0.0, 0.0),
    (392.0, 1.5, 1.0),
    (2388.0, 0.0, 0.0),
    (100.0, 0.0, 0.0),
    (38.95, 0.18, -1.0),
    (23.37, 0.11, -1.0),
];

/// How engines of a fleet differ and what hides their wear, in units of a sensor's spread.
///
/// An engine runs on a steady level, and from its transition on wears until it fails:
///
/// ```text
/// sensor = level + spread · (sign · (wear · (worn₀ + 0.3 s + 0.7 s²) + load · setting)
///                            + offset + drift + noise + spike)    s: the part of its decline
/// ```
///
/// It is made so that **the last reading alone says little**. A hard flight (`load`) looks
/// like wear, in all sensors at once, so that no weighing of one reading's sensors tells them
/// apart; over thirty flights it averages out. The decline takes 100 to 220 cycles, so the
/// same wear leaves twice as much life to one engine as to another, and only its rate, over a
/// window, tells which. Engines are not new alike (`worn₀`), each sensor has an offset per
/// engine, groups of sensors drift together, and a spike makes a single reading lie.
///
/// Three earlier choices of sizes were given up. In the first, with half as many engines and
/// larger offsets, the model learned its engines by heart and was hardly better than a linear
/// regression on the last reading. In the second, drift hid the rate, and hard flights
/// cancelled out within one reading. In the third, they were so hard that the regression was
/// no better than the mean of all targets, and to beat it said nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Fleet {
    /// Cycles before the transition, the least and the most.
    pub steady: (usize, usize),
    /// Cycles from the transition to the failure, the least and the most.
    pub decline: (usize, usize),
    /// How far wear moves a sensor in a whole life.
    pub wear: f64,
    /// How much of that some engines bring along, at most.
    pub worn: f64,
    /// The standard deviation of a sensor's offset, engine by engine.
    pub offset: f64,
    /// How much a setting that is off by its standard deviation looks like wear.
    pub load: f64,
    /// The standard deviation of a group's drift.
    pub drift: f64,
    /// The standard deviation of the noise of each number.
    pub noise: f64,
    /// The share of cycles with a spike in one group.
    pub spikes: f64,
    /// How far a spike goes, the least and the most.
    pub height: (f64, f64),
}

impl Default for Fleet {
    fn default() -> Self {
        Self {
            steady: (30, 110),
            decline: (100, 220),
            wear: 3.0,
            worn: 0.1,
            offset: 0.1,
            load: 0.3,
            drift: 0.2,
            noise: 0.6,
            spikes: 0.03,
            height: (4.0, 8.0),
        }
    }
}

/// What was planted in an engine; cycles count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    /// The first cycle of the decline.
    pub transition: usize,
    /// The last cycle before the failure: behind it, 0 remain.
    pub end: usize,
    /// The cycles with a spike, and the group of [`GROUPS`] that has it.
    pub spikes: Vec<(usize, usize)>,
}

impl Truth {
    /// How many cycles remain behind this one.
    pub fn remaining(&self, cycle: usize) -> usize {
        self.end.saturating_sub(cycle)
    }
}

/// An engine with what was planted in it.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedEngine {
    /// What is measured.
    pub engine: Engine,
    /// What nobody is told.
    pub truth: Truth,
}

impl Fleet {
    /// Whether wear raises (1) or lowers (−1) a sensor, or does nothing to it (0); sensors
    /// count from 1, and there are 21.
    pub fn sign(sensor: usize) -> f64 {
        let at = sensor.checked_sub(1).and_then(|i| SENSORS.get(i));
        at.map_or(0.0, |&(_, _, sign)| sign)
    }

    /// One engine until it fails.
    pub fn engine(&self, unit: usize, rng: &mut Rng) -> SimulatedEngine {
        let steady = whole(self.steady, rng);
        let decline = whole(self.decline, rng);
        let (transition, end) = (steady + 1, steady + decline);
        let worn = self.worn * rng.random::<f64>();
        let offsets: [f64; N_SENSORS] =
            std::array::from_fn(|_| self.offset * normal(rng));
        let mut drifts: [f64; GROUPS.len()] =
            std::array::from_fn(|_| self.drift * normal(rng));
        let (mut readings, mut spikes) = (Vec::with_capacity(end), Vec::new());
        for cycle in 1..=end {
            let s = (cycle as f64 - steady as f64).max(0.0) / decline as f64;
            let wear = self.wear * (worn + 0.3 * s + 0.7 * s * s);
            let settings = [normal(rng), normal(rng), 0.0];
            let load = self.load * (settings[0] + settings[1]);
            // It forgets in about 20 cycles: a trend in a window, and none in a life.
            drifts.iter_mut().for_each(|drift| {
                *drift = 0.95 * *drift + 0.312_25 * self.drift * normal(rng);
            });
            let spike = (rng.random::<f64>() < self.spikes).then(|| {
                let group = whole((0, GROUPS.len() - 1), rng);
                let (least, most) = self.height;
                let height = least + (most - least) * rng.random::<f64>();
                (group, if rng.random::<f64>() < 0.5 { height } else { -height })
            });
            spikes.extend(spike.map(|(group, _)| (cycle, group)));
            let sensors = std::array::from_fn(|i| {
                let (level, spread, sign) = SENSORS[i];
                let group = GROUPS.iter().position(|(_, all)| all.contains(&(i + 1)));
                let Some(group) = group else { return level };
                let spike = spike.filter(|&(of, _)| of == group).map_or(0.0, |(_, h)| h);
                let moved =
                    sign * wear + offsets[i] + sign * load + drifts[group] + spike;
                rounded(level + spread * (moved + self.noise * normal(rng)))
            });
            let settings: [f64; N_SETTINGS] =
                [rounded(0.0022 * settings[0]), rounded(0.0003 * settings[1]), 100.0];
            readings.push(Reading { settings, sensors });
        }
        let engine = Engine { unit, readings };
        SimulatedEngine { engine, truth: Truth { transition, end, spikes } }
    }

    /// So many engines until they fail, numbered from 1.
    pub fn engines(&self, n: usize, rng: &mut Rng) -> Vec<SimulatedEngine> {
        (1..=n).map(|unit| self.engine(unit, rng)).collect()
    }

    /// 200 engines to learn from and 100 whose readings end 5 to 144 cycles before the failure;
    /// and what was planted in each.
    ///
    /// ```
    /// use sensors::Fleet;
    ///
    /// let (readings, planted) = Fleet::default().readings(0);
    /// assert_eq!((readings.train.len(), readings.test.len()), (200, 100));
    /// let (last, truth) = (readings.test[7].n_cycles(), &planted[1][7]);
    /// assert_eq!(readings.lives[7], truth.remaining(last));
    /// ```
    pub fn readings(&self, seed: u64) -> (Readings, [Vec<Truth>; 2]) {
        let rng = &mut Rng::seed_from_u64(seed);
        let [train, mut test] = [200, 100].map(|n| self.engines(n, rng));
        let mut lives = Vec::new();
        for SimulatedEngine { engine, truth } in &mut test {
            let most = truth.end.saturating_sub(N_STEPS + 1).clamp(5, 144);
            let remaining = whole((5, most), rng);
            // A fleet may be made of engines that hardly run.
            let last = truth.end.saturating_sub(remaining);
            engine.readings.truncate(last);
            truth.spikes.retain(|&(cycle, _)| cycle <= last);
            lives.push(truth.end - last);
        }
        let apart = |all: Vec<SimulatedEngine>| -> (Vec<Engine>, Vec<Truth>) {
            all.into_iter().map(|lived| (lived.engine, lived.truth)).unzip()
        };
        let ((train, of_train), (test, of_test)) = (apart(train), apart(test));
        (Readings { train, test, lives }, [of_train, of_test])
    }
}

/// A whole number of these, both ends among them.
fn whole((least, most): (usize, usize), rng: &mut Rng) -> usize {
    let n = most.saturating_sub(least) + 1;
    least + ((rng.random::<f64>() * n as f64) as usize).min(n - 1)
}

/// Near a normal variable of variance 1: twelve uniform ones added up. It needs nothing but
/// exactly rounded arithmetic, so that a seed gives the same engines on every platform.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// With four decimals, as the files have them.
fn rounded(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}
