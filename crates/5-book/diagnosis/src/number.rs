//! A number of a layer that is another than was meant: which, and what it is.

use serde::Serialize;

use crate::{Intent, State};

/// Which number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// What scores are multiplied by.
    Scale,
    /// The base of rotary positions.
    Base,
    /// The bound of the scores.
    Cap,
    /// How many times as large as was meant slopes are.
    Slopes,
    /// What norms of queries and keys add to the mean of the squares.
    Eps,
    /// How many keys a window leaves.
    Window,
}

impl Kind {
    /// The last tensors that do not depend on it.
    pub(crate) fn after(self) -> State {
        match self {
            Self::Base | Self::Eps => State::Value,
            Self::Scale | Self::Cap => State::HeadValue,
            Self::Slopes | Self::Window => State::Scores,
        }
    }

    /// How many times as large or as small as was meant it may be, as a power of e; widths of
    /// windows are counted.
    pub(crate) fn range(self) -> f64 {
        match self {
            Self::Base => 6.0,
            Self::Scale | Self::Slopes => 3.5,
            Self::Cap => 4.5,
            Self::Eps => 14.0,
            Self::Window => 0.0,
        }
    }
}

/// A number that explains a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Number {
    /// Which number.
    pub kind: Kind,
    /// Of which head, if it is another there alone.
    pub head: Option<usize>,
    /// What was meant: infinite for a bound or a window where none was.
    pub meant: f64,
    /// What it is, by the numbers.
    pub found: f64,
    /// How far from that it may be, as a share of it.
    pub uncertainty: f64,
    /// Where it is looked for: around what was meant, if that is a number.
    #[serde(skip)]
    pub(crate) start: f64,
}

impl Number {
    /// One that is looked for from here on.
    pub(crate) fn new(kind: Kind, meant: f64, start: f64) -> Self {
        Self { kind, head: None, meant, found: start, uncertainty: 0.0, start }
    }

    /// Times e to this power.
    pub(crate) fn times(self, power: f64) -> Self {
        let found = self.start * power.exp();
        Self { found: if self.is_whole() { found.round() } else { found }, ..self }
    }

    /// The power of e that makes it this number.
    pub(crate) fn power_of(&self, found: f64) -> f64 {
        (found / self.start).ln()
    }

    /// Whether it is counted, so that there is none between two.
    pub(crate) fn is_whole(&self) -> bool {
        self.kind == Kind::Window
    }

    /// Whether it is looked for around what was meant.
    pub(crate) fn is_near(&self) -> bool {
        self.start == self.meant
    }

    /// Whether it is another fit of the same number.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let within = (self.uncertainty + other.uncertainty) * other.found.abs();
        self.kind == other.kind && (self.found - other.found).abs() <= within
    }

    /// The layer that has it.
    pub fn applied(&self, intent: &Intent) -> Intent {
        let (mut new, found) = (intent.clone(), self.found);
        match self.kind {
            // Of one head, or of a norm, it is no number of the intent.
            Kind::Scale if self.head.is_some() => (),
            Kind::Eps => (),
            Kind::Scale => new.scale = Some(found),
            Kind::Cap => new.cap = Some(found),
            Kind::Base => new.rotary = new.rotary.map(|(pairing, _)| (pairing, found)),
            Kind::Slopes => new.slopes.iter_mut().flatten().for_each(|it| *it *= found),
            Kind::Window => new.window = Some(found as usize),
        }
        new
    }

    /// In words: `scaled by 0.277, 1/√13; meant was 0.354, 1/√8`.
    pub fn words(&self) -> String {
        let Self { meant, found, uncertainty, .. } = *self;
        let number = |x, uncertainty| match self.kind {
            Kind::Scale | Kind::Slopes => rooted(x, uncertainty),
            Kind::Eps => scientific(x, uncertainty),
            Kind::Base | Kind::Cap | Kind::Window => short(x, uncertainty),
        };
        let head = self.head.map_or(String::new(), |i| format!("head {i} alone is "));
        let meant = match meant.is_infinite() {
            true => "none was meant".to_string(),
            false => format!("meant was {}", number(meant, 0.0)),
        };
        let found = number(found, uncertainty);
        match self.kind {
            Kind::Scale => format!("{head}scaled by {found}; {meant}"),
            Kind::Base => format!("a rotary base of {found}; {meant}"),
            Kind::Cap => format!("scores bounded by {found}; {meant}"),
            Kind::Slopes => {
                format!("slopes {} times those meant", found.replace(", ", " = "))
            }
            Kind::Eps => format!("an eps of {found}; {meant}"),
            Kind::Window if found == "1" => format!("a window of 1 key; {meant}"),
            Kind::Window => format!("a window of {found} keys; {meant}"),
        }
    }
}

/// With the root that it is one over, where it is that of a whole number.
fn rooted(scale: f64, uncertainty: f64) -> String {
    let text = short(scale, uncertainty);
    let n = 1.0 / (scale * scale);
    let whole = n.round();
    // So far may n be from what it is.
    let apart = n * (2.0 * uncertainty).max(1e-3);
    let is_root = apart < 0.25 && whole > 1.0 && (n - whole).abs() <= apart;
    let sign = if scale < 0.0 { "−" } else { "" };
    if is_root { format!("{text}, {sign}1/√{whole}") } else { text }
}

/// With three digits, or as many as make it a whole number that it may be.
fn short(x: f64, uncertainty: f64) -> String {
    let whole = x.round();
    if whole != 0.0 && (x - whole).abs() <= x.abs() * uncertainty.clamp(1e-9, 1e-3) {
        return whole.to_string();
    }
    let decimals = (2 - x.abs().log10().floor() as i32).clamp(0, 12);
    format!("{x:.*}", decimals as usize)
}

/// As a power of ten where it may be one, and as a limit where that is all that is known.
fn scientific(x: f64, uncertainty: f64) -> String {
    if uncertainty > 0.5 {
        return format!("at most {:.0e}", x * (1.0 + uncertainty));
    }
    let exponent = x.log10().round();
    let is_power = (x / 10_f64.powf(exponent) - 1.0).abs() <= uncertainty.max(1e-3);
    match x == 0.0 {
        true => "0".to_string(),
        false if is_power => format!("1e{exponent}"),
        false => format!("{x:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_told_with_its_root() {
        use Kind::{Base, Cap, Eps, Scale, Slopes, Window};
        let words = |kind, meant, found, uncertainty| {
            Number { found, uncertainty, ..Number::new(kind, meant, meant) }.words()
        };
        let root = |n: f64| 1.0 / n.sqrt();
        for (found, expected) in [
            (root(13.0), "0.277, 1/√13"),
            (root(7.5), "0.365"),
            (-root(9.0), "-0.333, −1/√9"),
        ] {
            let expected = format!("scaled by {expected}; meant was 0.354, 1/√8");
            assert_eq!(words(Scale, root(8.0), found, 1e-6), expected);
        }
        for (kind, meant, found, uncertainty, expected) in [
            (Base, 1e4, 9000.3, 1e-3, "a rotary base of 9000; meant was 10000"),
            (Cap, 5.0, 6.96, 1e-2, "scores bounded by 6.96; meant was 5"),
            (Cap, f64::INFINITY, 30.0, 1e-2, "scores bounded by 30; none was meant"),
            (Window, 4.0, 5.0, 0.0, "a window of 5 keys; meant was 4"),
            (Window, f64::INFINITY, 1.0, 0.0, "a window of 1 key; none was meant"),
            (Slopes, 1.0, root(8.0), 1e-4, "slopes 0.354 = 1/√8 times those meant"),
            (Eps, 1e-6, 1.02e-5, 0.04, "an eps of 1e-5; meant was 1e-6"),
            (Eps, 1e-6, 2.5e-5, 1e-3, "an eps of 2.50e-5; meant was 1e-6"),
            (Eps, 1e-6, 1e-9, 4.0, "an eps of at most 5e-9; meant was 1e-6"),
        ] {
            assert_eq!(words(kind, meant, found, uncertainty), expected);
        }
    }
}
