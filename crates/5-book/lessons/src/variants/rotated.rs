//! A query and a key, rotated by their places: live.

use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::numbers::written;
use anyhow::Result;
use attention::Matrix;
use figures::{Lines, lines};
use variants::{Pairing, Rotary, YARN_ROUNDS, yarn_ends};

/// Draws their score by the place of the key, and what each pair of entries adds to it.
pub const LIVE: Live = Live {
    name: "rotary",
    questions: &[
        Question {
            ask: "Move the query and the key, and keep the score that they begin with.",
            is_answered: |settings, view| {
                let has_moved =
                    settings.number("query")? != QUERY && settings.number("key")? != KEY;
                Ok(has_moved && is_first_score(view)?)
            },
            answer: &[("query", "100"), ("key", "96")],
            found: "Move both by as many places: the score depends on the steps between \
                    them alone.",
        },
        Question {
            ask: "Leave the entries. Where must the key stand for both pairings to give the \
                  same score?",
            is_answered: |settings, view| {
                let [here, _, misread] = view.last()?;
                let is_place = settings.has_moved_only(&controls(), &["query", "key"])?;
                Ok(is_place && (here - misread).abs() < 1e-9)
            },
            answer: &[("key", "64")],
            found: "At the query's place: there no pairing turns one against the other, \
                   so a test at distance 0 finds no mistake.",
        },
        Question {
            ask: "Stretch the positions, so that a key 16 places away has the score that \
                  one 4 places away begins with.",
            is_answered: |settings, view| {
                let away = settings.number("query")? - settings.number("key")?;
                Ok(away.round() == 16.0 && is_first_score(view)?)
            },
            answer: &[("stretch", "interpolated"), ("key", "48")],
            found: "Interpolated for texts four times as long, all angles are a quarter. \
                    The other ways leave the fast pairs more of their speed.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

/// Where query and key stand first.
const QUERY: f64 = 64.0;
const KEY: f64 = 60.0;
/// The places that are drawn: 0 to 128.
const LAST: usize = 128;
/// The width of the head.
const D_K: usize = 8;
/// How far both are moved, to see whether the score moves with them.
const FURTHER: i64 = 100;
const BASES: [&str; 3] = ["10000", "100", "500000"];
/// For texts how many times as long positions are stretched, and from which length.
const FACTOR: f64 = 4.0;
const TRAINED: f64 = 32.0;

fn controls() -> Vec<Control> {
    let place = |first| Kind::Number { range: [0.0, LAST as f64], step: 1.0, first };
    let entries = Kind::Matrix {
        rows: ["query", "key"].map(str::to_owned).to_vec(),
        columns: (0..D_K).map(|entry| entry.to_string()).collect(),
        most: 4.0,
        first: Matrix::from_row_slice(2, D_K, &[FIRST, FIRST].concat()),
    };
    let pairings =
        [("halves", "halves, p with p + 4"), ("pairs", "pairs, 2p with 2p + 1")];
    let stretches = [
        ("no", "no"),
        ("interpolated", "interpolated"),
        ("ntk", "NTK-aware"),
        ("yarn", "YaRN"),
    ];
    vec![
        Control::new("query", "Place of the query", place(QUERY)),
        Control::new("key", "Place of the key", place(KEY)),
        Control::new("pairing", "Rotated together", Kind::choice(pairings)),
        Control::new("base", "Base", Kind::choice(BASES.map(|base| (base, base)))),
        Control::new("stretch", "Stretched from 32 to 128", Kind::choice(stretches)),
        Control::new("entries", "Entries", entries),
    ]
}

/// The entries of query and key at first. Their pairs are of other lengths by halves than
/// by pairs.
const FIRST: [f64; D_K] = [1.0, 3.0, 0.0, 1.0, 0.0, 0.0, 2.0, 1.0];

/// Whether the score is that of the first settings.
fn is_first_score(view: &LiveView) -> Result<bool> {
    let first = draw(&Settings::new(&controls(), [])?)?;
    let ([here, ..], [first, ..]) = (view.last::<3>()?, first.last::<3>()?);
    Ok((here - first).abs() < 1e-9)
}

/// The frequencies that are asked for.
fn rotary(settings: &Settings, pairing: Pairing) -> Result<Rotary> {
    let base: f64 = settings.choice("base")?.parse()?;
    let rotary = Rotary::new(pairing, D_K, base)?;
    Ok(match settings.choice("stretch")? {
        "interpolated" => rotary.interpolated(FACTOR)?,
        "ntk" => rotary.ntk_aware(FACTOR)?,
        "yarn" => {
            rotary.yarn(yarn_ends(base, D_K, TRAINED, YARN_ROUNDS, true), FACTOR)?
        }
        _ => rotary,
    })
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

fn draw(settings: &Settings) -> Result<LiveView> {
    let place = |key| Ok::<_, anyhow::Error>(settings.number(key)?.round() as i64);
    let (i, j) = (place("query")?, place("key")?);
    let base = settings.choice("base")?;
    let entries = settings.matrix("entries")?;
    let named = [("halves", Pairing::Halves), ("pairs", Pairing::Pairs)];
    let is_chosen = settings.choice("pairing")? == "pairs";
    let [(name, chosen), (other_name, other)] =
        if is_chosen { [named[1], named[0]] } else { named };
    let rotated = |pairing| -> Result<Rotated> {
        let row = |row| Matrix::from_fn(1, D_K, |_, column| entries[(row, column)]);
        Ok(Rotated { q: row(0), k: row(1), rotary: rotary(settings, pairing)? })
    };
    let (as_meant, misread) = (rotated(chosen)?, rotated(other)?);

    let (curve, wrong) = (as_meant.by_place(i)?, misread.by_place(i)?);
    let by_steps: Vec<Vec<f64>> = (0..=LAST as i64)
        .map(|steps| as_meant.of_pairs([steps, 0]))
        .collect::<Result<_>>()?;
    let panels = [
        Lines {
            title: format!("score of the query at {i}"),
            x: "place of the key".to_owned(),
            is_log: false,
            lines: vec![
                (format!("by {name}"), curve.clone()),
                (format!("misread, by {other_name}"), wrong),
            ],
        },
        Lines {
            title: format!("what each pair adds, by {name}"),
            x: "steps from the key to the query".to_owned(),
            is_log: false,
            lines: as_meant.pairs(&by_steps),
        },
    ];
    let title = format!(
        "Rotated by {name} with base {base}: the score depends on the steps between query \
         and key alone"
    );
    let at = [i, j];
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
    let numbers = curve.iter().map(|[_, score]| *score);
    let numbers = numbers.chain(by_steps.concat()).chain([here, further, misread]);
    Ok(LiveView { figure: lines(title, &panels)?, words, numbers: numbers.collect() })
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
        for (pairing, name) in [(Pairing::Halves, "halves"), (Pairing::Pairs, "pairs")] {
            for base in BASES {
                let q = [1.0, -2.0, 0.5, 3.0, 0.0, 1.0, -1.0, 2.0];
                let k = [0.5, 1.0, -3.0, 1.0, 2.0, -1.0, 0.0, 1.5];
                let text = |x: &[f64]| {
                    x.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
                };
                let entries = format!("{};{}", text(&q), text(&k));
                let at = [("pairing", name), ("base", base), ("entries", &entries)];
                let shown = LIVE.at(at).unwrap();
                for j in [0, 57, 64, 128] {
                    let angle = |p: usize| {
                        let exponent = -2.0 * p as f64 / D_K as f64;
                        (64.0 - j as f64) * base.parse::<f64>().unwrap().powf(exponent)
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
                    let found = shown.numbers[j];
                    assert!((found - expected).abs() < 1e-12, "{name} {base} {j}");
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
                let [.., here, further, _] = shown.numbers[..] else { panic!() };
                assert!((here - further).abs() < 1e-9, "{query} {key}");
            }
        }
    }

    /// Four times as far apart, interpolated, is as near as it was.
    #[test]
    fn interpolated_scores_are_those_of_a_quarter_of_the_steps() {
        let of = |settings| LIVE.at(settings).unwrap().numbers;
        let plain = of([("query", "0"), ("stretch", "no")]);
        let slower = of([("query", "0"), ("stretch", "interpolated")]);
        for j in [0, 7, 32] {
            assert!((plain[j] - slower[4 * j]).abs() < 1e-12, "{j}");
        }
    }
}
