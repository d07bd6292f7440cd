//! Arrows in a plane, and their dot products.

use super::canvas::{Anchor, Canvas, Ink, Look, Rect};
use super::{Words, figure};
use crate::{Error, Figure, Result, Table};

/// More arrows cannot be told apart.
const MOST: usize = 5;

/// A query and some keys as arrows from one point, each key with its dot product with the
/// query. A key is a name and two entries.
///
/// # Errors
/// [`Error::TooMany`] above 5 keys; [`Error::Number`] for an entry that is not finite.
pub fn dot_product(
    title: impl Into<String>,
    query: [f64; 2],
    keys: &[(&str, [f64; 2])],
) -> Result<Figure> {
    Error::expect_at_most("keys", keys.len(), MOST)?;
    let entries = keys.iter().flat_map(|(_, key)| key).chain(&query);
    for &entry in entries {
        let all = [f64::NEG_INFINITY, f64::INFINITY];
        Error::expect_between("an entry of an arrow", entry, all)?;
    }
    let arrows: Vec<Arrow> =
        keys.iter().map(|&(name, key)| Arrow::new(name, query, key)).collect();
    let told = arrows.iter().map(|arrow| format!("{} {}", arrow.name, arrow.sum()));
    let row = |arrow: &Arrow| [arrow.name.clone(), pair(arrow.key), signed(arrow.dot)];
    let words = Words {
        title: title.into(),
        alternative: format!(
            "A query arrow {} and key arrows from the same point. Dot products: {}.",
            pair(query),
            told.collect::<Vec<_>>().join("; ")
        ),
        sketch: sketched(query, &arrows),
        tables: vec![Table::new(
            format!("Dot products with the query {}", pair(query)),
            ["key", "entries", "q · k"],
            arrows.iter().map(row),
        )],
    };
    let drawn = |is_wide| drawn(query, &arrows, is_wide);
    Ok(figure(words, [drawn(true), drawn(false)]))
}

struct Arrow {
    name: String,
    query: [f64; 2],
    key: [f64; 2],
    dot: f64,
}

impl Arrow {
    fn new(name: &str, query: [f64; 2], key: [f64; 2]) -> Self {
        let dot = query[0] * key[0] + query[1] * key[1];
        Self { name: name.to_owned(), query, key, dot }
    }

    /// `3·2 + 1·2 = 8`.
    fn sum(&self) -> String {
        let ([q0, q1], [k0, k1]) = (self.query, self.key);
        let product = |q: f64, k: f64| match k < 0.0 {
            true => format!("{}·({})", signed(q), signed(k)),
            false => format!("{}·{}", signed(q), signed(k)),
        };
        format!("{} + {} = {}", product(q0, k0), product(q1, k1), signed(self.dot))
    }
}

/// With the minus sign of a formula.
fn signed(number: f64) -> String {
    format!("{number}").replace('-', "−")
}

fn pair([x, y]: [f64; 2]) -> String {
    format!("({}, {})", signed(x), signed(y))
}

fn sketched(query: [f64; 2], arrows: &[Arrow]) -> String {
    let width = arrows.iter().map(|arrow| arrow.name.chars().count()).max().unwrap_or(0);
    let width = width.max(5);
    let line = |arrow: &Arrow| {
        format!("{:>width$}  {:<9} q · k = {}", arrow.name, pair(arrow.key), arrow.sum())
    };
    let lines: Vec<String> = arrows.iter().map(line).collect();
    format!("{:>width$}  {}\n{}", "query", pair(query), lines.join("\n"))
}

fn drawn(query: [f64; 2], arrows: &[Arrow], is_wide: bool) -> Canvas {
    let all: Vec<[f64; 2]> =
        arrows.iter().map(|arrow| arrow.key).chain([query, [0.0, 0.0]]).collect();
    let reach = |axis: usize| {
        let along = all.iter().map(|arrow| arrow[axis]);
        let least = along.clone().fold(f64::INFINITY, f64::min);
        [least, along.fold(f64::NEG_INFINITY, f64::max)]
    };
    // Room for a name beyond each tip.
    let ([left, right], [low, high]) = (reach(0), reach(1));
    let ([left, right], [low, high]) =
        ([left - 1.0, right + 1.0], [low - 0.6, high + 0.6]);
    let plane_width = if is_wide { 400.0 } else { super::NARROW };
    let unit = (plane_width / (right - left)).min(64.0);
    let (width, height) = ((right - left) * unit, (high - low) * unit);
    let at = |[x, y]: [f64; 2]| [(x - left) * unit, (high - y) * unit];

    // Beside the plane on a wide page, below it on a phone.
    let line = 46.0;
    let list = line * (arrows.len() + 1) as f64;
    let (size, corner) = match is_wide {
        true => {
            ([width + 250.0, height.max(list)], [width + 20.0, (height - list) / 2.0])
        }
        false => ([super::NARROW, height + list], [20.0, height]),
    };
    let mut canvas = Canvas::new(size[0], size[1]);
    canvas.line(at([left, 0.0]), at([right, 0.0]), Ink::Muted);
    canvas.line(at([0.0, low]), at([0.0, high]), Ink::Muted);

    let inks = (0..arrows.len()).map(|nth| Ink::Head(nth + 1)).collect::<Vec<_>>();
    let of_keys = arrows.iter().zip(&inks);
    let named =
        of_keys.clone().map(|(arrow, &ink)| (arrow.name.as_str(), arrow.key, ink));
    for (name, arrow, ink) in named.chain([("query", query, Ink::Lit)]) {
        let tip = at(arrow);
        canvas.arrow(at([0.0, 0.0]), tip, ink);
        // A name above a tip that points up, and below one that points down.
        let beyond = [tip[0], tip[1] - if arrow[1] < 0.0 { -11.0 } else { 11.0 }];
        let look = Look { is_bold: ink == Ink::Lit, ..Look::note() };
        canvas.text(name, beyond, Anchor::Middle, look);
    }
    let query = ("query", format!("q = {}", pair(query)), Ink::Lit);
    let keys = of_keys.map(|(arrow, &ink)| {
        (arrow.name.as_str(), format!("q · k = {}", arrow.sum()), ink)
    });
    for (nth, (name, told, ink)) in std::iter::once(query).chain(keys).enumerate() {
        let y = corner[1] + nth as f64 * line + line / 2.0;
        let mark = Rect { x: corner[0], y: y - 14.0, w: 5.0, h: 28.0 };
        canvas.cell(&mark, ink);
        let x = corner[0] + 14.0;
        canvas.text(name, [x, y - 8.0], Anchor::Start, Look::name());
        canvas.text(
            &told,
            [x, y + 9.0],
            Anchor::Start,
            Look { size: 12.0, ..Look::note() },
        );
    }
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    const KEYS: [(&str, [f64; 2]); 3] =
        [("near", [2.0, 2.0]), ("across", [-1.0, 3.0]), ("opposed", [-2.5, -1.0])];

    #[test]
    fn the_sign_is_the_side() {
        assert_diagram!(dot_product("Three keys", [3.0, 1.0], &KEYS).unwrap());
    }

    #[test]
    fn an_arrow_without_an_end_is_refused() {
        let refused = dot_product("", [3.0, f64::NAN], &KEYS).unwrap_err();
        insta::assert_snapshot!(refused, @"an entry of an arrow is NaN, expected a number");
        let refused = dot_product("", [3.0, 1.0], &[("k", [1.0, 1.0]); 6]).unwrap_err();
        insta::assert_snapshot!(refused, @"6 keys are too many for one figure: draw at most 5");
    }
}
