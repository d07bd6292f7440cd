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
            Self::Scale => 3.5,
            Self::Cap => 4.5,
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
    /// What was meant: infinite for a bound where none was.
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
    /// The numbers of this layer, those of its heads last; its scale and the largest of its
    /// scores are given.
    pub(crate) fn all(intent: &Intent, scale: f64, largest: f64) -> Vec<Self> {
        let of = |kind, meant, start| Self {
            kind,
            head: None,
            meant,
            found: start,
            uncertainty: 0.0,
            start,
        };
        let same = |kind, meant| of(kind, meant, meant);
        let mut all = vec![same(Kind::Scale, scale), of(Kind::Scale, scale, -scale)];
        all.extend(intent.rotary.map(|(_, base)| same(Kind::Base, base)));
        all.push(match intent.cap {
            Some(cap) => same(Kind::Cap, cap),
            None => of(Kind::Cap, f64::INFINITY, largest),
        });
        if intent.n_heads > 1 {
            let of_head = |i| Self { head: Some(i), ..same(Kind::Scale, scale) };
            all.extend((0..intent.n_heads).map(of_head));
        }
        all.retain(|it| it.start.is_finite() && it.start != 0.0);
        all
    }

    /// Times e to this power.
    pub(crate) fn times(self, power: f64) -> Self {
        Self { found: self.start * power.exp(), ..self }
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
        let mut intent = intent.clone();
        match self.kind {
            // Of one head, it is no number of the layer.
            Kind::Scale if self.head.is_some() => (),
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
        if meant.is_infinite() {
            return format!(
                "scores bounded by {}; none was meant",
                short(found, uncertainty)
            );
        }
        let (found, meant) = match self.kind {
            Kind::Scale => (rooted(found, uncertainty), rooted(meant, 0.0)),
            Kind::Base | Kind::Cap => (short(found, uncertainty), short(meant, 0.0)),
        };
        let what = match self.kind {
            Kind::Scale => "scaled by",
            Kind::Base => "a rotary base of",
            Kind::Cap => "scores bounded by",
        };
        let head = self.head.map_or(String::new(), |i| format!("head {i} alone is "));
        format!("{head}{what} {found}; meant was {meant}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_told_with_its_root() {
        let words = |kind, meant, found, uncertainty| {
            Number { kind, head: None, meant, found, uncertainty, start: meant }.words()
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
        assert_eq!(
            words(Kind::Scale, root(8.0), -root(9.0), 1e-6),
            "scaled by -0.333, −1/√9; meant was 0.354, 1/√8"
        );
        assert_eq!(
            words(Kind::Cap, f64::INFINITY, 30.0, 1e-2),
            "scores bounded by 30; none was meant"
        );
    }
}
