//! What is wrong with a layer, by how much.

use attention::Rng;
use diagnosis::{Corner, Intent, Kind, Pairing, Record};
use rand::RngExt;

/// A query sees so many keys.
pub const WINDOW: usize = 4;

/// What is wrong, by how much: a power of e, or a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wrong {
    /// The scale, times e to this power.
    Scale(f64),
    /// The scale has the other sign besides.
    Sign(f64),
    /// The base of rotary positions.
    Base(f64),
    /// The bound of the scores.
    Cap(f64),
    /// Scores are bounded by this, and should not be.
    Unmeant(f64),
    /// One head's scale.
    Head(f64),
    /// A window has so many keys and not [`WINDOW`], where keys at its end weigh so much.
    Width(usize, f64),
    /// There is a window of so many keys, and should be none.
    UnmeantWidth(usize, f64),
    /// All slopes, times e to this power.
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
        match kind {
            0 => Self::Scale(power),
            1 => Self::Base(3.0 * power),
            2 => Self::Cap(power),
            3 => Self::Unmeant(1.0 / x.max(1e-4).sqrt()),
            4 => Self::Sign(power),
            5 => Self::Head(power),
            6 => Self::Width([1, 2, 3, 5, 6][rng.random_range(0..5)], x),
            7 => Self::UnmeantWidth(rng.random_range(1..=5), x),
            8 => Self::Slopes(3.0 * power),
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
            Self::Cap(_) => meant.cap = Some(5.0),
            Self::CapAfterMask(cap) => {
                (meant.cap, meant.causal) = (Some(cap), Some(Corner::TopLeft));
            }
            Self::Leak(_) => meant.causal = Some(Corner::TopLeft),
            Self::Slopes(_) => meant.slopes = Some(Intent::paper_slopes(4)),
            Self::Width(n, x) | Self::UnmeantWidth(n, x) => {
                // Some look both ways, and in some the end of a window hardly counts.
                meant.causal = (n % 2 == 0).then_some(Corner::TopLeft);
                meant.slopes = (x < 0.1).then(|| vec![-x.ln() / n.min(WINDOW) as f64; 4]);
                meant.window = matches!(self, Self::Width(..)).then_some(WINDOW);
            }
            _ => (),
        }
        let mut wrong = meant.clone();
        match self.number(record) {
            _ if matches!(self, Self::Head(_)) => (),
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
            Self::Head(x) if head == 1 => masked * x.exp(),
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
            Self::Scale(x) | Self::Head(x) => (Kind::Scale, scale * x.exp()),
            Self::Sign(x) => (Kind::Scale, -scale * x.exp()),
            Self::Base(x) => (Kind::Base, 10_000.0 * x.exp()),
            Self::Cap(x) => (Kind::Cap, 5.0 * x.exp()),
            Self::Unmeant(cap) => (Kind::Cap, cap),
            Self::Width(n, _) | Self::UnmeantWidth(n, _) => (Kind::Window, n as f64),
            Self::Slopes(x) => (Kind::Slopes, x.exp()),
            Self::Eps(_, eps) => (Kind::Eps, eps),
            _ => return None,
        })
    }
}
