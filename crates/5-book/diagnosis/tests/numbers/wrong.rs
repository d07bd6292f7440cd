//! What is wrong with a layer, by how much.

use attention::Rng;
use diagnosis::{Corner, Intent, Kind, Pairing, Record};
use rand::RngExt;

/// A query sees so many keys.
pub const WINDOW: usize = 4;

/// What is wrong, by how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wrong {
    /// The scale is so many times as large, in one head or in all.
    Scale { times: f64, head: Option<usize> },
    /// The base of rotary positions is so many times as large.
    Base(f64),
    /// Scores are bounded by another number, or should not be.
    Cap { meant: Option<f64>, found: f64 },
    /// A window has so many keys, where those at its end weigh so much, or should not be there.
    Width { meant: Option<usize>, found: usize, weight: f64 },
    /// All slopes are so many times as large.
    Slopes(f64),
    /// The eps of norms: what was meant, and what it is.
    Eps(f64, f64),
    /// Blocked keys of a causal mask get such a share of what they would.
    Leak(f64),
    /// The same of the key that is one beyond a window.
    Window(f64),
    /// The bound is put on after a causal mask: blocked scores are −cap.
    CapAfterMask(f64),
    /// Scores on one side of the diagonal are so much larger, or so many times as large.
    Side(Side, f64),
}

/// Which scores are others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// Those of keys behind the query, and not of keys before it.
    pub is_ahead: bool,
    /// They are multiplied.
    pub is_times: bool,
}

impl Wrong {
    /// One of a kind, from an amount between 0 and 1.
    pub fn of(kind: usize, x: f64, rng: &mut Rng) -> Self {
        let power = if rng.random_range(0..2) == 0 { x } else { -x };
        let times = power.exp();
        match kind {
            0 => Self::Scale { times, head: None },
            1 => Self::Base((3.0 * power).exp()),
            2 => Self::Cap { meant: Some(5.0), found: 5.0 * times },
            3 => Self::Cap { meant: None, found: 1.0 / x.max(1e-4).sqrt() },
            4 => Self::Scale { times: -times, head: None },
            5 => Self::Scale { times, head: Some(1) },
            6 => {
                let found = [1, 2, 3, 5, 6][rng.random_range(0..5)];
                Self::Width { meant: Some(WINDOW), found, weight: x }
            }
            7 => {
                let found = rng.random_range(1..=5);
                Self::Width { meant: None, found, weight: x }
            }
            8 => Self::Slopes((3.0 * power).exp()),
            // An eps that is hardly another is not told.
            9 if power > 0.0 => Self::Eps(1e-6, 1e-6 + x.max(1e-6)),
            9 => Self::Eps(x, 0.1 * x),
            10 => Self::Leak(x),
            11 => Self::Window(x),
            12 => Self::CapAfterMask(1.0 - x.ln()),
            _ => {
                let [is_ahead, is_times] = [0, 1].map(|_| rng.random_range(0..2) == 0);
                Self::Side(Side { is_ahead, is_times }, power)
            }
        }
    }

    /// The layer that was meant, and the one that is computed but for what is twisted.
    pub fn intents(self, record: &Record) -> [Intent; 2] {
        let mut meant = Intent::heads(4);
        match self {
            Self::Base(_) => meant.rotary = Some((Pairing::Halves, 10_000.0)),
            Self::Cap { meant: cap, .. } => meant.cap = cap,
            Self::CapAfterMask(cap) => {
                (meant.cap, meant.causal) = (Some(cap), Some(Corner::TopLeft));
            }
            Self::Leak(_) => meant.causal = Some(Corner::TopLeft),
            Self::Slopes(_) => meant.slopes = Some(Intent::paper_slopes(4)),
            Self::Width { meant: window, found: n, weight } => {
                // Some look both ways, and in some the end of a window hardly counts.
                meant.causal = (n % 2 == 0).then_some(Corner::TopLeft);
                let slope = -weight.ln() / n.min(WINDOW) as f64;
                meant.slopes = (weight < 0.1).then(|| vec![slope; 4]);
                meant.window = window;
            }
            _ => (),
        }
        let mut wrong = meant.clone();
        match self.number(record) {
            _ if matches!(self, Self::Scale { head: Some(_), .. }) => (),
            Some((Kind::Scale, x)) => wrong.scale = Some(x),
            Some((Kind::Base, x)) => wrong.rotary = Some((Pairing::Halves, x)),
            Some((Kind::Cap, x)) => wrong.cap = Some(x),
            Some((Kind::Window, n)) => wrong.window = Some(n as usize),
            Some((Kind::Slopes, x)) => {
                wrong.slopes.iter_mut().flatten().for_each(|slope| *slope *= x);
            }
            Some((Kind::Eps, _)) | None => (),
        }
        [meant, wrong]
    }

    /// The record whose norms have another eps.
    pub fn record(self, record: &Record) -> Record {
        let mut record = record.clone();
        if let Self::Eps(_, eps) = self {
            record.weights.norms.iter_mut().flatten().for_each(|norm| norm.eps = eps);
        }
        record
    }

    pub fn twist(self, [_, head, r, c]: [usize; 4], score: f64, masked: f64) -> f64 {
        match self {
            Self::Scale { times, head: Some(i) } if head == i => masked * times,
            Self::Leak(x) if c > r => score + x.ln(),
            Self::Window(x) if c + WINDOW == r => score + x.ln(),
            Self::CapAfterMask(cap) if c > r => -cap,
            Self::Side(side, x) if c != r && (c > r) == side.is_ahead => {
                if side.is_times { masked * x.exp() } else { masked + x }
            }
            _ => masked,
        }
    }

    /// Which number is another, and what it is.
    pub fn number(self, record: &Record) -> Option<(Kind, f64)> {
        let scale = 2.0 / (record.inputs[0][0].ncols() as f64).sqrt();
        Some(match self {
            Self::Scale { times, .. } => (Kind::Scale, scale * times),
            Self::Base(times) => (Kind::Base, 10_000.0 * times),
            Self::Cap { found, .. } => (Kind::Cap, found),
            Self::Width { found, .. } => (Kind::Window, found as f64),
            Self::Slopes(times) => (Kind::Slopes, times),
            Self::Eps(_, eps) => (Kind::Eps, eps),
            _ => return None,
        })
    }
}
