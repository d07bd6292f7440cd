//! A query and a key, rotated by their places: live.

use crate::live::{LiveFigure, LiveView, Question, Settings, live};
use crate::numbers::{lines_panel, written};
use anyhow::Result;
use attention::Matrix;
use figures::lines;
use variants::{Pairing, Rotary, YARN_ROUNDS, yarn_ends};

/// Draws their score by the place of the key, and what each pair of entries adds to it.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("rotary", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Move the query and the key, and keep the score that they begin with.",
        is_answered: |set, it| {
            set.query != QUERY && set.key != KEY && (it.here - it.at_first).abs() < 1e-9
        },
        answer: |set| (set.query, set.key) = (100, 96),
        found: "Move both by as many places: the score depends on the steps between them \
                alone.",
    },
    Question {
        ask: "Leave the entries. Where must the key stand for both pairings to give the \
              same score?",
        is_answered: |set, it| {
            let (query, key) = (set.query, set.key);
            let is_place = *set == Set { query, key, ..Set::first() };
            is_place && (it.here - it.misread).abs() < 1e-9
        },
        answer: |set| set.key = 64,
        found: "At the query's place: there no pairing turns one against the other, so a \
                test at distance 0 finds no mistake.",
    },
    Question {
        ask: "Stretch the positions, so that a key 16 places away has the score that one \
              4 places away begins with.",
        is_answered: |set, it| {
            set.query == set.key + 16 && (it.here - it.at_first).abs() < 1e-9
        },
        answer: |set| (set.stretch, set.key) = ("interpolated", 48),
        found: "Interpolated for texts four times as long, all angles are a quarter. The \
                other ways leave the fast pairs more of their speed.",
    },
];

/// Where query and key stand first.
const QUERY: usize = 64;
const KEY: usize = 60;
/// The places that are drawn: 0 to 128.
const LAST: usize = 128;
/// The width of the head.
const D_K: usize = 8;
/// How far both are moved, to see whether the score moves with them.
const FURTHER: i64 = 100;
const BASES: [f64; 3] = [1e4, 100.0, 5e5];
/// For texts how many times as long positions are stretched, and from which length.
const FACTOR: f64 = 4.0;
const TRAINED: f64 = 32.0;

live! {
    struct Set {
        query: usize = "Place of the query", slider([0, LAST], 1, QUERY);
        key: usize = "Place of the key", slider([0, LAST], 1, KEY);
        pairing: Pairing = "Rotated together", choice([
            ("halves", "halves, p with p + 4", Pairing::Halves),
            ("pairs", "pairs, 2p with 2p + 1", Pairing::Pairs),
        ]);
        base: f64 = "Base", choice(BASES.map(|base| (base.to_string(), base.to_string(), base)));
        stretch: &'static str = "Stretched from 32 to 128", named([
            ("no", "no"), ("interpolated", "interpolated"), ("ntk", "NTK-aware"), ("yarn", "YaRN"),
        ]);
        entries: Matrix = "Entries", matrix(
            ["query", "key"], 0..D_K, 4.0, Matrix::from_row_slice(2, D_K, &[FIRST, FIRST].concat()),
        );
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
        /// By the place of the key.
        curve: Vec<f64>,
    }
}

/// The entries of query and key at first. Their pairs are of other lengths by halves than
/// by pairs.
const FIRST: [f64; D_K] = [1.0, 3.0, 0.0, 1.0, 0.0, 0.0, 2.0, 1.0];

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
        let row = |row| self.entries.rows(row, 1).into_owned();
        Ok(Rotated { q: row(0), k: row(1), rotary: self.rotary(pairing)? })
    }

    /// Where query and key stand.
    fn places(&self) -> [i64; 2] {
        [self.query, self.key].map(|place| place as i64)
    }
}

/// What is rotated, and how.
struct Rotated {
    q: Matrix,
    k: Matrix,
    rotary: Rotary,
}

impl Rotated {
    /// What each pair of entries adds to the score of the query at `i` and the key at `j`.
    fn of_pairs(&self, [i, j]: [i64; 2]) -> Result<Vec<f64>> {
        let [mut q, mut k] = [self.q.clone(), self.k.clone()];
        self.rotary.rotate(&mut q, D_K, &[i])?;
        self.rotary.rotate(&mut k, D_K, &[j])?;
        let of_pair = |p| self.rotary.pair(p).iter().map(|&at| q[at] * k[at]).sum();
        Ok((0..D_K / 2).map(of_pair).collect())
    }

    fn score(&self, at: [i64; 2]) -> Result<f64> {
        Ok(self.of_pairs(at)?.iter().sum())
    }

    /// The score of the query at `i` by the place of the key.
    fn by_place(&self, i: i64) -> Result<Vec<[f64; 2]>> {
        let point = |j| Ok([j as f64, self.score([i, j])?]);
        (0..=LAST as i64).map(point).collect()
    }

    /// The line of each pair, where `by_steps` is what all of them add.
    fn pairs(&self, by_steps: &[Vec<f64>]) -> Vec<(String, Vec<[f64; 2]>)> {
        let pair = |p: usize| {
            let [a, b] = self.rotary.pair(p);
            let points = by_steps.iter().enumerate();
            let points = points.map(|(steps, of)| [steps as f64, of[p]]);
            (format!("entries {a} and {b}"), points.collect())
        };
        (0..D_K / 2).map(pair).collect()
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let (at @ [i, j], base) = (set.places(), set.base);
    let named = [("halves", Pairing::Halves), ("pairs", Pairing::Pairs)];
    let is_chosen = set.pairing == Pairing::Pairs;
    let [(name, chosen), (other_name, other)] =
        if is_chosen { [named[1], named[0]] } else { named };
    let (as_meant, misread) = (set.rotated(chosen)?, set.rotated(other)?);

    let (curve, wrong) = (as_meant.by_place(i)?, misread.by_place(i)?);
    let by_steps: Vec<Vec<f64>> = (0..=LAST as i64)
        .map(|steps| as_meant.of_pairs([steps, 0]))
        .collect::<Result<_>>()?;
    let panels = [
        lines_panel(
            format!("score of the query at {i}"),
            "place of the key",
            vec![
                (format!("by {name}"), curve.clone()),
                (format!("misread, by {other_name}"), wrong),
            ],
        ),
        lines_panel(
            format!("what each pair adds, by {name}"),
            "steps from the key to the query",
            as_meant.pairs(&by_steps),
        ),
    ];
    let title = format!(
        "Rotated by {name} with base {base}: the score depends on the steps between query \
         and key alone"
    );
    let [here, further, misread] = [
        as_meant.score(at)?,
        as_meant.score(at.map(|place| place + FURTHER))?,
        misread.score(at)?,
    ];
    let words = format!(
        "The query stands at {i} and the key at {j}: their score is {}. With both {FURTHER} \
         places further on it is {}. Read by {other_name} instead, it is {}.",
        written(here, 3),
        written(further, 3),
        written(misread, 3)
    );
    let first = Set::first();
    let at_first = first.rotated(first.pairing)?.score(first.places())?;
    let curve = curve.into_iter().map(|[_, score]| score).collect();
    let facts = Facts { here, at_first, further, misread, curve };
    Ok(LiveView { figure: lines(title, &panels)?, words, facts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_at_first_and_of_pairs() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"The query stands at 64 and the key at 60: their score is 13.633. With both 100 places further on it is 13.633. Read by pairs instead, it is −0.615.");
        let other = [("pairing", "pairs"), ("base", "100"), ("query", "0")];
        insta::assert_snapshot!(LIVE.at(other).unwrap().words, @"The query stands at 0 and the key at 60: their score is −10.136. With both 100 places further on it is −10.136. Read by halves instead, it is 11.177.");
    }

    /// Complex numbers: a pair is one, and a rotation is a product with e^(i t θ).
    #[test]
    fn the_score_is_the_real_part_of_a_product_of_complex_numbers() {
        for pairing in [Pairing::Halves, Pairing::Pairs] {
            for base in BASES {
                let q = [1.0, -2.0, 0.5, 3.0, 0.0, 1.0, -1.0, 2.0];
                let k = [0.5, 1.0, -3.0, 1.0, 2.0, -1.0, 0.0, 1.5];
                let entries = Matrix::from_row_slice(2, D_K, &[q, k].concat());
                let set = Set { pairing, base, entries, ..Set::first() };
                let shown = draw(&set).unwrap();
                for j in [0, 57, 64, 128] {
                    let angle = |p: usize| {
                        let exponent = -2.0 * p as f64 / D_K as f64;
                        (64.0 - j as f64) * base.powf(exponent)
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
                    let found = shown.facts.curve[j];
                    assert!((found - expected).abs() < 1e-12, "{pairing:?} {base} {j}");
                }
            }
        }
    }

    #[test]
    fn both_moved_together_score_the_same() {
        for query in ["0", "64", "128"] {
            for (key, stretch) in [("0", "no"), ("5", "interpolated"), ("128", "yarn")] {
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
        let plain = of([("query", "0"), ("stretch", "no")]);
        let slower = of([("query", "0"), ("stretch", "interpolated")]);
        for j in [0, 7, 32] {
            assert!((plain[j] - slower[4 * j]).abs() < 1e-12, "{j}");
        }
    }
}
