//! Pairs of entries as hands of clocks, which rotate with the position of a query and a key.

use std::f64::consts::{PI, TAU};

use super::canvas::{Anchor, Canvas, Ink, Key, Look, Rect};
use super::{NARROW, figure};
use crate::chart::Text;
use crate::matrix_maps;
use crate::{Error, Figure, Result, Table, sketch};

/// To two decimals.
fn number(number: f64) -> String {
    matrix_maps::number(number).replace('-', "−")
}

/// More clocks have no room on a phone.
const MOST: usize = 4;

/// A pair of entries of a query and of a key, rotated to where they stand.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockPair {
    /// `entries 0, 4`.
    pub name: String,
    /// The query's point, and the key's.
    pub hands: [[f64; 2]; 2],
}

impl ClockPair {
    /// What the pair adds to the score.
    pub fn adds(&self) -> f64 {
        let [q, k] = self.hands;
        q[0] * k[0] + q[1] * k[1]
    }
}

/// A query and a key at their positions, with a clock for each pair of entries, the score
/// that these add up to, and the score at every distance. A page drags both along the
/// positions, 0 to `last`: its settings are `query` and `key`.
///
/// # Errors
/// [`Error::Sizes`] for no pairs or another number of scores than distances, `-last` to
/// `last`; [`Error::TooMany`] above 4 pairs; a position beyond the last.
pub fn clocks(
    title: impl Into<String>,
    pairs: &[ClockPair],
    places: [usize; 2],
    last: usize,
    scores: &[f64],
) -> Result<Figure> {
    Error::expect_count("the number of pairs", pairs.len(), MOST)?;
    Error::expect_length("scores by distance", scores.len(), 2 * last + 1)?;
    for place in places {
        attention::Error::expect_index("position", place, last + 1)?;
    }
    let clocks = Clocks { pairs, places, last, scores };
    let cell = |it: &ClockPair| {
        let [q, k] = it.hands.map(|[x, y]| format!("({}, {})", number(x), number(y)));
        [it.name.clone(), q, k, number(it.adds())]
    };
    let [query, key] = places;
    let caption = format!("Rotated: a query at {query}, a key at {key}");
    let columns = ["", "query", "key", "adds"];
    let table = Table::new(caption, columns, pairs.iter().map(cell));
    let added: Vec<String> = pairs
        .iter()
        .map(|it| format!("{} adds {}", it.name, number(it.adds())))
        .collect();
    let text = Text {
        alternative: format!(
            "A clock for each pair of entries, with a hand of the query at {query} and one \
             of the key at {key}. {}. The score is {}, and depends on the distance alone.",
            added.join("; "),
            number(clocks.score()),
        ),
        sketch: sketch::captioned(std::slice::from_ref(&table)),
        tables: vec![table],
    };
    Ok(figure(title, text, [true, false].map(|is_wide| clocks.drawn(is_wide))))
}

struct Clocks<'a> {
    pairs: &'a [ClockPair],
    places: [usize; 2],
    last: usize,
    scores: &'a [f64],
}

const QUERY: Ink = Ink::Lit;
const KEY: Ink = Ink::Hue(2);
/// As wide as a live figure's column.
const WIDE: f64 = 600.0;
/// The lines of text on top, and below each clock.
const TOP: f64 = 44.0;
const BELOW: f64 = 46.0;
/// What the positions take, and the scores below them.
const RULER: f64 = 96.0;
const CURVE: f64 = 84.0;
const SIDE: f64 = 14.0;
const LABEL: Look =
    Look { size: 13.0, is_bold: false, ink: Ink::Plain, room: f64::INFINITY };

impl Clocks<'_> {
    fn score(&self) -> f64 {
        self.pairs.iter().map(ClockPair::adds).sum()
    }

    /// Positions from the key to the query.
    fn distance(&self) -> i64 {
        self.places[0] as i64 - self.places[1] as i64
    }

    fn drawn(&self, is_wide: bool) -> Canvas {
        let width = if is_wide { WIDE } else { NARROW };
        let column = width / self.pairs.len() as f64;
        let radius = (column / 2.0 - 6.0).min(66.0);
        let ruler = TOP + 2.0 * radius + BELOW;
        let mut canvas = Canvas::new(width, ruler + RULER + CURVE + 34.0);
        self.header(&mut canvas, is_wide);
        for (nth, pair) in self.pairs.iter().enumerate() {
            let middle = [(nth as f64 + 0.5) * column, TOP + radius];
            self.clock(&mut canvas, pair, middle, radius);
        }
        self.ruler(&mut canvas, ruler);
        self.curve(&mut canvas, ruler + RULER);
        canvas
    }

    /// The score, large, and what it depends on.
    fn header(&self, canvas: &mut Canvas, is_wide: bool) {
        let score = format!("q · k = {}", number(self.score()));
        let look = Look { size: 24.0, ..Look::name() };
        canvas.text(&score, [SIDE, 18.0], Anchor::Start, look);
        let steps = match self.distance() {
            0 => "at the same position".to_owned(),
            distance => format!("at a distance of {distance}").replace('-', "−"),
        };
        let x = if is_wide { 220.0 } else { 186.0 };
        let look = Look { size: 14.0, room: canvas.width() - x, ..LABEL };
        canvas.text(&steps, [x, 21.0], Anchor::Start, look);
    }

    fn clock(
        &self,
        canvas: &mut Canvas,
        pair: &ClockPair,
        [x, y]: [f64; 2],
        radius: f64,
    ) {
        canvas.circle([x, y], radius, Ink::Muted);
        canvas.filled(&wedge(pair.hands, [x, y], 0.4 * radius), Ink::Plain);
        let points = self.pairs.iter().flat_map(|pair| pair.hands);
        let longest = points.map(|[x, y]| x.hypot(y)).fold(1e-9, f64::max);
        for ([a, b], ink) in pair.hands.into_iter().zip([QUERY, KEY]) {
            let unit = (radius - 4.0) / longest;
            if a.hypot(b) > 0.0 {
                canvas.arrow([x, y], [x + a * unit, y - b * unit], ink);
            }
        }
        let room = 2.0 * radius + 8.0;
        let look = Look { ink: Ink::Muted, room, ..LABEL };
        canvas.text(&pair.name, [x, y + radius + 12.0], Anchor::Middle, look);
        let adds = format!("adds {}", number(pair.adds()));
        let look = Look { size: 14.0, room, ..Look::name() };
        canvas.text(&adds, [x, y + radius + 30.0], Anchor::Middle, look);
    }

    /// Positions from left to right: the query is dragged above them, the key below.
    fn ruler(&self, canvas: &mut Canvas, top: f64) {
        let width = canvas.width() - 2.0 * SIDE;
        let step = width / self.last as f64;
        let (line, x) = (top + 40.0, |place: usize| SIDE + place as f64 * step);
        canvas.line([x(0), line], [x(self.last), line], Ink::Plain);
        for place in (0..=self.last).step_by(self.last.div_ceil(8).max(1)) {
            canvas.line([x(place), line - 3.0], [x(place), line + 3.0], Ink::Plain);
            // The key's own line stands there.
            if place == self.places[1] {
                continue;
            }
            let at = [x(place), line + 12.0];
            let look = Look { size: 12.0, ink: Ink::Muted, ..LABEL };
            canvas.text(&place.to_string(), at, Anchor::Middle, look);
        }
        let sides =
            [("query", QUERY, line - 36.0, 32.0), ("key", KEY, line + 22.0, 32.0)];
        for ((name, ink, y, h), place) in sides.into_iter().zip(self.places) {
            let words = format!("{name} at {place}");
            let w = 92.0;
            let left = (x(place) - w / 2.0).clamp(1.0, canvas.width() - w - 1.0);
            let rect = Rect { x: left, y, w, h: 26.0 };
            let end = if y < line { y + 26.0 } else { y };
            canvas.keyed(&Key::new(name), |canvas| {
                canvas.rect(&rect, ink);
                canvas.text(&words, rect.middle(), Anchor::Middle, LABEL);
            });
            canvas.line([x(place), line], [x(place), end], ink);
            canvas.marked(&[("places", name.to_owned())], |canvas| {
                for place in 0..=self.last {
                    let rect = Rect { x: x(place) - step / 2.0, y: y - 4.0, w: step, h };
                    canvas.marked(&[("pick", format!("{name}={place}"))], |canvas| {
                        canvas.bar(&rect, Ink::Nothing);
                    });
                }
            });
        }
    }

    /// The score at each distance, and where it is now.
    fn curve(&self, canvas: &mut Canvas, top: f64) {
        let width = canvas.width() - 2.0 * SIDE;
        let most = self.scores.iter().fold(1e-9, |most: f64, x| most.max(x.abs()));
        let last = self.last as f64;
        let at = |distance: f64, score: f64| {
            let across = (distance + last) / (2.0 * last.max(1.0));
            [SIDE + width * across, top + CURVE * 0.5 * (1.0 - score / most)]
        };
        canvas.line(at(-last, 0.0), at(last, 0.0), Ink::Muted);
        canvas.line(at(0.0, -most), at(0.0, most), Ink::Muted);
        let distances = (0..self.scores.len()).map(|nth| nth as f64 - last);
        let points = distances.zip(self.scores).map(|(d, &score)| at(d, score));
        canvas.curve(&points.collect::<Vec<_>>(), Ink::Plain);
        let [x, y] = at(self.distance() as f64, self.score());
        canvas.keyed(&Key::new("now"), |canvas| canvas.circle([x, y], 6.0, Ink::Lit));
        for (score, [x, y]) in [most, -most].map(|score| (score, at(0.0, score))) {
            let look = Look { size: 12.0, ink: Ink::Muted, ..LABEL };
            let [x, y] = if score > 0.0 { [x, y - 8.0] } else { [x + 18.0, y - 4.0] };
            canvas.text(&number(score), [x, y], Anchor::Middle, look);
        }
        for (distance, name) in [(-last, self.last), (0.0, 0), (last, self.last)] {
            let sign = if distance < 0.0 { "−" } else { "" };
            let anchor = match distance {
                ..0.0 => Anchor::Start,
                0.0 => Anchor::Middle,
                _ => Anchor::End,
            };
            let [x, _] = at(distance, 0.0);
            let look = Look { size: 12.0, ink: Ink::Muted, ..LABEL };
            canvas.text(&format!("{sign}{name}"), [x, top + CURVE + 9.0], anchor, look);
        }
        let look = Look { ink: Ink::Muted, ..LABEL };
        let words = "the score at each distance, query − key";
        canvas.text(words, [SIDE, top + CURVE + 25.0], Anchor::Start, look);
    }
}

/// Between two hands, the shorter way round.
fn wedge(hands: [[f64; 2]; 2], [x, y]: [f64; 2], radius: f64) -> Vec<[f64; 2]> {
    let [from, to] = hands.map(|[a, b]| b.atan2(a));
    let turn = (to - from + PI).rem_euclid(TAU) - PI;
    let at = |part: f64| {
        let angle = from + part * turn;
        [x + radius * angle.cos(), y - radius * angle.sin()]
    };
    std::iter::once([x, y]).chain((0..=12).map(|nth| at(f64::from(nth) / 12.0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    fn pairs() -> Vec<ClockPair> {
        let pair = |name: &str, hands| ClockPair { name: name.to_owned(), hands };
        vec![
            pair("entries 0, 2", [[2.0, 0.0], [0.0, 2.0]]),
            pair("entries 1, 3", [[1.0, 0.0], [1.0, 0.0]]),
        ]
    }

    #[test]
    fn two_pairs_at_two_positions() {
        let scores = [0.5, 1.0, 2.0, 5.0, 2.0, 1.0, 0.5];
        assert_diagram!(clocks("Two clocks", &pairs(), [2, 1], 3, &scores).unwrap());
    }

    #[test]
    fn what_is_no_clock_is_refused() {
        let refused = |places, n| {
            clocks("", &pairs(), places, 3, &vec![0.0; n]).unwrap_err().to_string()
        };
        insta::assert_snapshot!(refused([0, 4], 7), @"there are 4 positions, 0 to 3: position 4 does not exist");
        insta::assert_snapshot!(refused([0, 0], 3), @"scores by distance has 3 entries, expected 7");
    }
}
