//! A query and a key, rotated by their positions: live.

use crate::live::{LiveFigure, LiveView, Question, Settings, live};
use crate::numbers::written;
use anyhow::Result;
use attention::Matrix;
use figures::{ClockPair, clocks};
use variants::{Pairing, Rotary, YARN_ROUNDS, yarn_ends};

/// Draws each pair of entries as a clock with two hands, and the score by distance.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("rotary", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Drag the query until one pair has gone all round, so that its hands meet \
              again. Which pair rotates fastest?",
        is_answered: |set, it| set.query != set.key && it.round < 0.3,
        answer: |set| set.query = KEY + 6,
        found: "The first. With base 10,000, each pair of these four rotates ten times as \
                slowly as the one before it.",
    },
    Question {
        ask: "Move the query and the key, and keep the score that they begin with.",
        is_answered: |set, it| {
            set.query != QUERY && set.key != KEY && (it.here - it.at_first).abs() < 1e-9
        },
        answer: |set| (set.query, set.key) = (40, 36),
        found: "Move both by as many positions: the score depends on their distance alone.",
    },
    Question {
        ask: "Where must the key stand for both pairings to give the same score?",
        is_answered: |set, it| {
            let (query, key) = (set.query, set.key);
            let is_place = *set == Set { query, key, ..Set::first() };
            is_place && (it.here - it.misread).abs() < 1e-9
        },
        answer: |set| set.key = QUERY,
        found: "At the query's position: there no pairing rotates one against the other, \
                so a test at distance 0 finds no mistake.",
    },
    Question {
        ask: "Stretch the positions, so that a key 16 positions away has the score that \
              one 4 positions away begins with.",
        is_answered: |set, it| {
            set.query == set.key + 16 && (it.here - it.at_first).abs() < 1e-9
        },
        answer: |set| (set.stretch, set.query) = ("interpolated", 24),
        found: "Interpolated for texts four times as long, all angles are a quarter. The \
                other ways leave the fast pairs more of their speed.",
    },
];

/// Where query and key stand first.
const QUERY: usize = 12;
const KEY: usize = 8;
/// The positions that are drawn: 0 to 64.
const LAST: usize = 64;
/// The width of the head.
const D_K: usize = 8;
/// How far both are moved, to see whether the score moves with them.
const FURTHER: i64 = 100;
const BASES: [f64; 3] = [1e4, 100.0, 5e5];
/// For texts how many times as long positions are stretched, and from which length.
const FACTOR: f64 = 4.0;
const TRAINED: f64 = 16.0;
const PAIRINGS: [(&str, Pairing); 2] =
    [("halves", Pairing::Halves), ("pairs", Pairing::Pairs)];

live! {
    struct Set {
        query: usize = "Position of the query", slider([0, LAST], 1, QUERY);
        key: usize = "Position of the key", slider([0, LAST], 1, KEY);
        pairing: Pairing = "Rotated together", choice([
            ("halves", "halves, p with p + 4", Pairing::Halves),
            ("pairs", "pairs, 2p with 2p + 1", Pairing::Pairs),
        ]);
        base: f64 = "Base", choice(BASES.map(|base| (base.to_string(), base.to_string(), base)));
        stretch: &'static str = "Stretched from 16 to 64", named([
            ("no", "no"), ("interpolated", "interpolated"), ("ntk", "NTK-aware"), ("yarn", "YaRN"),
        ]);
    }

    /// Scores of query and key.
    struct Facts {
        here: f64,
        /// The same at the first settings.
        at_first: f64,
        /// Both moved on.
        further: f64,
        /// By the other pairing.
        misread: f64,
        /// By the distance from the key to the query.
        curve: Vec<f64>,
        /// The angle between the hands of the fastest pair.
        round: f64,
    }
}

/// The entries of query and key. Their pairs are of other lengths by halves than by pairs.
const ENTRIES: [f64; D_K] = [2.0, 2.5, 1.0, 1.5, 1.0, 0.0, 2.0, 1.5];

impl Set {
    /// The frequencies that are asked for.
    fn rotary(&self, pairing: Pairing) -> Result<Rotary> {
        let rotary = Rotary::new(pairing, D_K, self.base)?;
        let ends = yarn_ends(self.base, D_K, TRAINED, YARN_ROUNDS, true);
        Ok(match self.stretch {
            "interpolated" => rotary.interpolated(FACTOR)?,
            "ntk" => rotary.ntk_aware(FACTOR)?,
            "yarn" => rotary.yarn(ends, FACTOR)?,
            _ => rotary,
        })
    }

    fn rotated(&self, pairing: Pairing) -> Result<Rotated> {
        Ok(Rotated { entries: [ENTRIES; 2], rotary: self.rotary(pairing)? })
    }

    /// Where query and key stand.
    fn places(&self) -> [i64; 2] {
        [self.query, self.key].map(|place| place as i64)
    }
}

/// A query and a key, and how they are rotated.
struct Rotated {
    entries: [[f64; D_K]; 2],
    rotary: Rotary,
}

impl Rotated {
    /// Each pair of entries, rotated to these positions.
    fn pairs(&self, at: [i64; 2]) -> Result<Vec<ClockPair>> {
        let [mut q, mut k] = self.entries.map(|row| Matrix::from_row_slice(1, D_K, &row));
        self.rotary.rotate(&mut q, D_K, &[at[0]])?;
        self.rotary.rotate(&mut k, D_K, &[at[1]])?;
        let pair = |p| {
            let [a, b] = self.rotary.pair(p);
            let hands = [&q, &k].map(|row| [row[a], row[b]]);
            ClockPair { name: format!("entries {a}, {b}"), hands }
        };
        Ok((0..D_K / 2).map(pair).collect())
    }

    fn score(&self, at: [i64; 2]) -> Result<f64> {
        Ok(self.pairs(at)?.iter().map(ClockPair::adds).sum())
    }

    /// The score at each distance, `-LAST` to `LAST`.
    fn by_distance(&self) -> Result<Vec<f64>> {
        let last = LAST as i64;
        (-last..=last).map(|steps| self.score([steps, 0])).collect()
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let at = set.places();
    let is_chosen = set.pairing == Pairing::Pairs;
    let [(name, chosen), (other_name, other)] =
        if is_chosen { [PAIRINGS[1], PAIRINGS[0]] } else { PAIRINGS };
    let (as_meant, misread) = (set.rotated(chosen)?, set.rotated(other)?);
    let curve = as_meant.by_distance()?;
    let title = format!(
        "Rotated by {name}: each pair is a clock, and the score depends on the distance \
         alone"
    );
    let places = [set.query, set.key];
    let pairs = as_meant.pairs(at)?;
    let figure = clocks(title, &pairs, places, LAST, &curve)?;
    let [[a, b], [c, d]] = pairs[0].hands;
    let round = (a * d - b * c).atan2(pairs[0].adds()).abs();
    let [here, further, misread] = [
        as_meant.score(at)?,
        as_meant.score(at.map(|place| place + FURTHER))?,
        misread.score(at)?,
    ];
    let words = format!(
        "The score is {}; with both {FURTHER} positions further on, {}. Read by \
         {other_name} instead, it is {}.",
        written(here, 3),
        written(further, 3),
        written(misread, 3)
    );
    let first = Set::first();
    let at_first = first.rotated(first.pairing)?.score(first.places())?;
    let facts = Facts { here, at_first, further, misread, curve, round };
    Ok(LiveView { figure, words, facts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_at_first_and_of_pairs() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"The score is 11.984; with both 100 positions further on, 11.984. Read by pairs instead, it is 3.543.");
        let other = [("pairing", "pairs"), ("base", "100"), ("query", "0")];
        insta::assert_snapshot!(LIVE.at(other).unwrap().words, @"The score is 2.596; with both 100 positions further on, 2.596. Read by halves instead, it is 1.996.");
    }

    /// Complex numbers: a pair is one, and a rotation is a product with e^(i t θ).
    #[test]
    fn the_score_is_the_real_part_of_a_product_of_complex_numbers() {
        for pairing in [Pairing::Halves, Pairing::Pairs] {
            for base in BASES {
                let q = [1.0, -2.0, 0.5, 3.0, 0.0, 1.0, -1.0, 2.0];
                let k = [0.5, 1.0, -3.0, 1.0, 2.0, -1.0, 0.0, 1.5];
                let rotary = Rotary::new(pairing, D_K, base).unwrap();
                let curve = Rotated { entries: [q, k], rotary }.by_distance().unwrap();
                for j in [0, 57, 64, 128] {
                    let angle = |p: usize| {
                        let exponent = -2.0 * p as f64 / D_K as f64;
                        (j as f64 - 64.0) * base.powf(exponent)
                    };
                    let expected: f64 = (0..D_K / 2)
                        .map(|p| {
                            let [a, b] = match pairing {
                                Pairing::Halves => [p, p + D_K / 2],
                                Pairing::Pairs => [2 * p, 2 * p + 1],
                            };
                            let real = q[a] * k[a] + q[b] * k[b];
                            let imaginary = q[b] * k[a] - q[a] * k[b];
                            real * angle(p).cos() - imaginary * angle(p).sin()
                        })
                        .sum();
                    let found = curve[j];
                    assert!((found - expected).abs() < 1e-12, "{pairing:?} {base} {j}");
                }
            }
        }
    }

    #[test]
    fn both_moved_together_score_the_same() {
        for query in ["0", "33", "64"] {
            for (key, stretch) in [("0", "no"), ("5", "interpolated"), ("64", "yarn")] {
                let at = [("query", query), ("key", key), ("stretch", stretch)];
                let shown = LIVE.at(at).unwrap();
                let Facts { here, further, .. } = shown.facts;
                assert!((here - further).abs() < 1e-9, "{query} {key}");
            }
        }
    }

    /// Four times as far apart, interpolated, is as near as it was.
    #[test]
    fn interpolated_scores_are_those_of_a_quarter_of_the_steps() {
        let of = |settings| LIVE.at(settings).unwrap().facts.curve;
        let (plain, slower) =
            (of([("stretch", "no")]), of([("stretch", "interpolated")]));
        for j in [0, 7, 16] {
            let [short, long] = [plain[LAST + j], slower[LAST + 4 * j]];
            assert!((short - long).abs() < 1e-12, "{j}");
        }
    }
}
