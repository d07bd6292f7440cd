//! A number of a layer that is another than was meant: which, and what it is.

use serde::Serialize;

use crate::step::Step;
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
}

impl Kind {
    /// The step that it belongs to.
    pub fn step(self) -> Step {
        match self {
            Self::Scale => Step::Scale,
            Self::Base => Step::Positions,
            Self::Cap => Step::Cap,
        }
    }

    /// The last tensors that do not depend on it.
    pub(crate) fn after(self) -> State {
        match self {
            Self::Base => State::Value,
            Self::Scale | Self::Cap => State::HeadValue,
        }
    }

    /// How many times as large or as small as was meant it may be, as a power of e.
    pub(crate) fn range(self) -> f64 {
        match self {
            Self::Base => 6.0,
            Self::Scale | Self::Cap => 3.5,
        }
    }
}

/// A number that explains a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Number {
    /// Which number.
    pub kind: Kind,
    /// What was meant.
    pub meant: f64,
    /// What it is, by the numbers.
    pub found: f64,
    /// How far from that it may be, as a share of it.
    pub uncertainty: f64,
}

impl Number {
    /// The numbers of this layer, as they were meant; its scale is given.
    pub(crate) fn all(intent: &Intent, scale: f64) -> Vec<Self> {
        let of = |kind, meant| Self { kind, meant, found: meant, uncertainty: 0.0 };
        let mut all = vec![of(Kind::Scale, scale)];
        all.extend(intent.rotary.map(|(_, base)| of(Kind::Base, base)));
        all.extend(intent.cap.map(|cap| of(Kind::Cap, cap)));
        all.retain(|it| it.meant.is_finite() && it.meant != 0.0);
        all
    }

    /// Times e to this power.
    pub(crate) fn times(self, power: f64) -> Self {
        Self { found: self.meant * power.exp(), ..self }
    }

    /// The layer that has it.
    pub fn applied(&self, intent: &Intent) -> Intent {
        let mut intent = intent.clone();
        match self.kind {
            Kind::Scale => intent.scale = Some(self.found),
            Kind::Cap => intent.cap = Some(self.found),
            Kind::Base => {
                intent.rotary = intent.rotary.map(|(pairing, _)| (pairing, self.found));
            }
        }
        intent
    }

    /// In words: `scaled by 0.277, 1/√13; meant was 0.354, 1/√8`.
    pub fn words(&self) -> String {
        let Self { meant, found, uncertainty, .. } = *self;
        let (found, meant) = match self.kind {
            Kind::Scale => (rooted(found, uncertainty), rooted(meant, 0.0)),
            Kind::Base | Kind::Cap => (short(found, uncertainty), short(meant, 0.0)),
        };
        let what = match self.kind {
            Kind::Scale => "scaled by",
            Kind::Base => "a rotary base of",
            Kind::Cap => "scores bounded by",
        };
        format!("{what} {found}; meant was {meant}")
    }
}

/// With the root that it is one over, where it is that of a whole number.
fn rooted(scale: f64, uncertainty: f64) -> String {
    let text = short(scale, uncertainty);
    let n = 1.0 / (scale * scale);
    let whole = n.round();
    // So far may n be from what it is.
    let apart = n * (2.0 * uncertainty).max(1e-3);
    let is_root =
        scale > 0.0 && apart < 0.25 && whole > 1.0 && (n - whole).abs() <= apart;
    if is_root { format!("{text}, 1/√{whole}") } else { text }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_told_with_its_root() {
        let words = |kind, meant, found, uncertainty| {
            Number { kind, meant, found, uncertainty }.words()
        };
        let root = |n: f64| 1.0 / n.sqrt();
        assert_eq!(
            words(Kind::Scale, root(8.0), root(13.0), 1e-6),
            "scaled by 0.277, 1/√13; meant was 0.354, 1/√8"
        );
        assert_eq!(
            words(Kind::Scale, root(8.0), root(7.5), 1e-6),
            "scaled by 0.365; meant was 0.354, 1/√8"
        );
        assert_eq!(
            words(Kind::Base, 1e4, 9000.3, 1e-3),
            "a rotary base of 9000; meant was 10000"
        );
        assert_eq!(
            words(Kind::Cap, 5.0, 6.96, 1e-2),
            "scores bounded by 6.96; meant was 5"
        );
    }
}
