//! Arrows in a plane, and their dot products.

use super::canvas::{Anchor, Canvas, Ink, Key, Look, Rect};
use super::{BESIDE, NARROW, figure};
use crate::chart::Text;
use crate::{Error, Figure, Result, Table};

/// More arrows cannot be told apart.
const MOST: usize = 5;

/// A query and some keys as arrows from one point, each key with how it lies and with its
/// dot product with the query and its attention weight. A key is a name and two entries. The
/// side of the plane on which a product is positive is tinted, and each key has its shadow
/// on the line of the query.
///
/// The plane holds entries up to `reach`, and their negatives, wherever the arrows point:
/// one that grows is not drawn smaller.
///
/// # Errors
/// [`Error::TooMany`] above 5 keys; [`Error::Number`] for a reach that is not above 0, and
/// for an entry beyond it.
pub fn dot_product(
    title: impl Into<String>,
    reach: f64,
    query: [f64; 2],
    keys: &[(&str, [f64; 2])],
    shares: &[f64],
) -> Result<Figure> {
    Error::expect_length("the attention weights", shares.len(), keys.len())?;
    Error::expect_at_most("keys", keys.len(), MOST)?;
    Error::expect_above_zero("the reach of the plane", reach)?;
    let entries = keys.iter().flat_map(|(_, key)| key).chain(&query);
    for &entry in entries {
        Error::expect_between("an entry of an arrow", entry, [-reach, reach])?;
    }
    let arrows: Vec<Arrow> =
        keys.iter().map(|&(name, key)| Arrow::new(name, query, key)).collect();
    let label = |arrow: &Arrow| format!("{}, {}", arrow.label(), arrow.sum());
    let label: Vec<String> = arrows.iter().map(label).collect();
    let row = |arrow: &Arrow| {
        [arrow.name.clone(), pair(arrow.key), arrow.lies(), signed(arrow.dot)]
    };
    let text = Text {
        alternative: format!(
            "A query arrow {} and key arrows from the same point. Dot products: {}.",
            pair(query),
            label.join("; ")
        ),
        sketch: sketched(query, &arrows),
        tables: vec![Table::new(
            format!("Dot products with the query {}", pair(query)),
            ["key", "entries", "how it lies", "q · k"],
            arrows.iter().map(row),
        )],
    };
    let drawn = |is_wide| drawn(reach, query, (&arrows, shares), is_wide);
    Ok(figure(title, text, [drawn(true), drawn(false)]))
}

pub(super) struct Arrow {
    name: String,
    query: [f64; 2],
    key: [f64; 2],
    dot: f64,
}

impl Arrow {
    pub(super) fn new(name: &str, query: [f64; 2], key: [f64; 2]) -> Self {
        let dot = query[0] * key[0] + query[1] * key[1];
        Self { name: name.to_owned(), query, key, dot }
    }

    /// `3·2 + 1·2 = 8`.
    pub(super) fn sum(&self) -> String {
        let ([q0, q1], [k0, k1]) = (self.query, self.key);
        let factor = |number: f64| match signed(number) {
            negative if negative.starts_with('−') => format!("({negative})"),
            other => other,
        };
        let first = format!("{}·{}", signed(q0), factor(k0));
        let second = format!("{}·{}", factor(q1), factor(k1));
        format!("{first} + {second} = {}", signed(self.dot))
    }

    /// How the key lies to the query, in words.
    fn lies(&self) -> String {
        let cross = self.query[0] * self.key[1] - self.query[1] * self.key[0];
        let lengths = self.query[0].hypot(self.query[1]) * self.key[0].hypot(self.key[1]);
        if lengths == 0.0 {
            let is_key = self.key == [0.0; 2];
            return if is_key { "of no length" } else { "at no angle" }.to_owned();
        }
        let degrees = cross.abs().atan2(self.dot).to_degrees();
        let lies = match degrees {
            _ if self.dot.abs() < EVEN * lengths => "at a right angle",
            _ if cross.abs() < EVEN * lengths && self.dot > 0.0 => "aligned",
            _ if cross.abs() < EVEN * lengths => "opposed",
            ..30.0 => "nearly aligned",
            ..90.0 => "on the same side",
            ..150.0 => "on the other side",
            _ => "nearly opposed",
        };
        format!("{lies}, {degrees:.0}°")
    }

    /// `k_1, nearly aligned, 27°`.
    fn label(&self) -> String {
        format!("{}, {}", self.name, self.lies())
    }
}

/// A sine or cosine that is 0 but for rounding.
const EVEN: f64 = 1e-9;

/// To two decimals, with the minus sign of a formula; no zero has a sign.
pub(super) fn signed(number: f64) -> String {
    let rounded = (number * 100.0).round() / 100.0;
    format!("{}", rounded + 0.0).replace('-', "−")
}

pub(super) fn pair([x, y]: [f64; 2]) -> String {
    format!("({}, {})", signed(x), signed(y))
}

fn sketched(query: [f64; 2], arrows: &[Arrow]) -> String {
    let cells = |arrow: &Arrow| [arrow.name.clone(), pair(arrow.key), arrow.lies()];
    let rows: Vec<[String; 3]> = arrows.iter().map(cells).collect();
    let widths = [0, 1, 2]
        .map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
    let line = |([name, key, lies], arrow): (&[String; 3], &Arrow)| {
        let [w0, w1, w2] = [widths[0].max(5), widths[1], widths[2]];
        let sum = arrow.sum();
        format!("{name:>w0$}  {key:<w1$}  {lies:<w2$}  q · k = {sum}")
    };
    let lines: Vec<String> = rows.iter().zip(arrows).map(line).collect();
    let width = widths[0].max(5);
    format!("{:>width$}  {}\n{}", "query", pair(query), lines.join("\n"))
}

/// Beyond the reach of the plane, in pixels: room for a name.
const MARGIN: f64 = 28.0;
/// Of a tip that is dragged.
const HANDLE: f64 = 7.0;
/// How tall an entry of the list is, and a bar of it.
const ENTRY: f64 = 76.0;
const BAR: f64 = 12.0;

fn drawn(
    reach: f64,
    query: [f64; 2],
    (arrows, shares): (&[Arrow], &[f64]),
    is_wide: bool,
) -> Canvas {
    let side = if is_wide { 340.0 } else { NARROW };
    let list = ENTRY * (arrows.len() as f64 + 0.5);
    // Beside the plane on a wide page, below it on a phone.
    let (size, corner) = match is_wide {
        true => ([BESIDE, side.max(list)], [side + 16.0, (side - list).max(0.0) / 2.0]),
        false => ([side, side + list + 8.0], [4.0, side + 8.0]),
    };
    let mut canvas = Canvas::new(size[0], size[1]);
    let middle = side / 2.0;
    let plane = Plane { middle, unit: (middle - MARGIN) / reach };
    canvas.plane([middle, middle], plane.unit);
    plane.behind(&mut canvas, query, reach);
    let inks = (0..arrows.len()).map(|nth| Ink::Head(nth + 1)).collect::<Vec<_>>();
    for (arrow, &ink) in arrows.iter().zip(&inks) {
        plane.shadow(&mut canvas, query, arrow, ink);
    }
    let of_keys = arrows.iter().zip(&inks);
    let named = of_keys.map(|(arrow, &ink)| (arrow.name.as_str(), arrow.key, ink));
    let mut names: Vec<[f64; 2]> = Vec::new();
    for (name, arrow, ink) in named.chain([("q", query, Ink::Lit)]) {
        plane.arrow(&mut canvas, arrow, ink);
        // A name above a tip that points up, and below one that points down; beside
        // another name, nearer to the middle, where they would meet.
        let tip = plane.at(arrow);
        let mut beyond = [tip[0], tip[1] - if arrow[1] < 0.0 { -16.0 } else { 16.0 }];
        let inward = if arrow[0] < 0.0 { 22.0 } else { -22.0 };
        let meets = |[x, y]: [f64; 2], [ox, oy]: &[f64; 2]| {
            (x - ox).abs() < 21.0 && (y - oy).abs() < 15.0
        };
        while names.iter().any(|other| meets(beyond, other)) {
            beyond[0] += inward;
        }
        names.push(beyond);
        let look = Look { is_bold: ink == Ink::Lit, ..Look::text() };
        canvas.text(name, beyond, Anchor::Middle, look);
    }
    let heading = format!("query q = {}", pair(query));
    canvas.text(&heading, [corner[0], corner[1] + 12.0], Anchor::Start, Look::name());
    let room = size[0] - corner[0] - 2.0;
    for (nth, (arrow, ink)) in arrows.iter().zip(inks).enumerate() {
        let y = corner[1] + (nth as f64 + 0.5) * ENTRY;
        let place = Rect { x: corner[0], y, w: room, h: ENTRY };
        arrow.entry(&mut canvas, &place, shares[nth], ink);
    }
    canvas
}

impl Arrow {
    /// How it lies, its sum, and its attention weight as a bar.
    fn entry(&self, canvas: &mut Canvas, place: &Rect, share: f64, ink: Ink) {
        let Rect { x, y, w: room, .. } = *place;
        let look = Look { room, ..Look::name() };
        canvas.text(&self.label(), [x, y + 10.0], Anchor::Start, look);
        let sum = format!("q · k = {}", self.sum());
        let look = Look { room, ..Look::text() };
        canvas.text(&sum, [x, y + 29.0], Anchor::Start, look);
        let whole = Rect { x, y: y + 42.0, w: room - 50.0, h: BAR };
        canvas.cell(&whole, Ink::Muted);
        let bar = Rect { w: whole.w * share, ..whole };
        let key = Key::new(format!("share.{}", self.name));
        canvas.keyed(&key, |canvas| canvas.bar(&bar, ink));
        let at = [x + room, whole.middle()[1]];
        canvas.text(&format!("{share:.3}"), at, Anchor::End, Look::text());
    }
}

/// A square plane: where its middle lies along both axes, and how long a 1 is.
struct Plane {
    middle: f64,
    unit: f64,
}

impl Plane {
    fn at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.middle + x * self.unit, self.middle - y * self.unit]
    }

    /// The side on which products are positive, lines at whole numbers, and the axes.
    fn behind(&self, canvas: &mut Canvas, query: [f64; 2], reach: f64) {
        let edge = self.middle / self.unit;
        let dot = |[x, y]: [f64; 2]| query[0] * x + query[1] * y;
        let corners = [[-edge, -edge], [edge, -edge], [edge, edge], [-edge, edge]];
        let mut side = Vec::new();
        for (nth, &a) in corners.iter().enumerate() {
            let b = corners[(nth + 1) % 4];
            let (at_a, at_b) = (dot(a), dot(b));
            if at_a > 0.0 {
                side.push(self.at(a));
            }
            if at_a * at_b < 0.0 {
                let part = at_a / (at_a - at_b);
                side.push(self.at([0, 1].map(|i| a[i] + part * (b[i] - a[i]))));
            }
        }
        canvas.filled(&side, Ink::Faint);
        for nth in 1..=reach as i32 {
            for at in [nth, -nth].map(f64::from) {
                let ends = |a, b| [self.at(a), self.at(b)];
                for [a, b] in
                    [ends([at, -edge], [at, edge]), ends([-edge, at], [edge, at])]
                {
                    canvas.line(a, b, Ink::Faint);
                }
            }
        }
        canvas.line(self.at([-edge, 0.0]), self.at([edge, 0.0]), Ink::Muted);
        canvas.line(self.at([0.0, -edge]), self.at([0.0, edge]), Ink::Muted);
    }

    /// From a key's tip straight to the line of the query, and what that cuts off of the
    /// line, as a thick stroke on the key's side.
    fn shadow(&self, canvas: &mut Canvas, query: [f64; 2], key: &Arrow, ink: Ink) {
        let length = query[0].hypot(query[1]);
        if length > 0.0 {
            let [x, y] = query.map(|it| it / length);
            let foot = [x, y].map(|it| it * key.dot / length);
            canvas.dashes(self.at(key.key), self.at(foot), ink);
            let side = if x * key.key[1] < y * key.key[0] { -1.0 } else { 1.0 };
            let beside = |point: [f64; 2], by: f64| {
                let at = self.at(point);
                [at[0] - y * by * side, at[1] - x * by * side]
            };
            let origin = [0.0; 2];
            let corners = [(origin, 1.5), (foot, 1.5), (foot, 7.5), (origin, 7.5)];
            canvas.filled(&corners.map(|(point, by)| beside(point, by)), ink);
        }
    }

    fn arrow(&self, canvas: &mut Canvas, arrow: [f64; 2], ink: Ink) {
        let tip = self.at(arrow);
        if arrow != [0.0, 0.0] {
            canvas.bold_arrow(self.at([0.0, 0.0]), tip, ink);
        }
        canvas.circle(tip, HANDLE, ink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    const KEYS: [(&str, [f64; 2]); 3] =
        [("k_1", [2.0, 2.0]), ("k_2", [-1.0, 3.0]), ("k_3", [-2.5, -1.0])];
    const SHARES: [f64; 3] = [0.75, 0.25, 0.0];

    #[test]
    fn the_sign_is_the_side() {
        assert_diagram!(
            dot_product("Three keys", 4.0, [3.0, 1.0], &KEYS, &SHARES).unwrap()
        );
    }

    #[test]
    fn a_negative_factor_stands_in_brackets_within_the_sum() {
        let sum = |query, key| Arrow::new("", query, key).sum();
        assert_eq!(sum([-1.0, -2.0], [-3.0, 0.5]), "−1·(−3) + (−2)·0.5 = 2");
        // To two decimals, and no zero has a sign.
        assert_eq!(sum([1.234, -0.0], [0.001, -0.001]), "1.23·0 + 0·0 = 0");
    }

    #[test]
    fn how_a_key_lies_is_said_by_the_angle() {
        let lies = |query, key| Arrow::new("", query, key).lies();
        let of = |degrees: f64| {
            let (sin, cos) = (degrees + 20.0).to_radians().sin_cos();
            let (query, turn) = (20f64.to_radians(), 3.7);
            lies([query.cos(), query.sin()], [turn * cos, turn * sin])
        };
        assert_eq!(of(0.0), "aligned, 0°");
        assert_eq!(of(0.1), "nearly aligned, 0°");
        assert_eq!(of(-29.0), "nearly aligned, 29°");
        assert_eq!(of(31.0), "on the same side, 31°");
        assert_eq!(of(89.9), "on the same side, 90°");
        assert_eq!(of(90.0), "at a right angle, 90°");
        assert_eq!(of(-90.0), "at a right angle, 90°");
        assert_eq!(of(90.1), "on the other side, 90°");
        assert_eq!(of(151.0), "nearly opposed, 151°");
        assert_eq!(of(180.0), "opposed, 180°");
        // 0.1·0.6 and 0.2·0.3 differ in the last digit.
        assert_eq!(lies([0.1, -0.2], [0.6, 0.3]), "at a right angle, 90°");
        assert_eq!(lies([0.0, 0.0], [1.0, 2.0]), "at no angle");
        assert_eq!(lies([1.0, 2.0], [0.0, -0.0]), "of no length");
    }

    /// Wherever the arrows point, the plane is as large, and no name leaves the drawing.
    #[test]
    fn the_plane_does_not_follow_the_arrows() {
        let size = |figure: &Figure| {
            let drawings = figure.drawings().unwrap();
            drawings.map(|svg| svg.split("color=").next().unwrap().to_owned())
        };
        let first = dot_product("", 4.0, [3.0, 1.0], &KEYS, &SHARES).unwrap();
        for tip in [[4.0, 4.0], [-4.0, 4.0], [-4.0, -4.0], [0.0, 0.0], [0.1, 0.0]] {
            let keys = KEYS.map(|(name, _)| (name, tip));
            let figure = dot_product("", 4.0, tip, &keys, &SHARES).unwrap();
            assert_eq!(size(&figure), size(&first));
            let [wide, narrow] = figure.drawings().unwrap();
            for svg in [wide, narrow] {
                for outside in ["NaN", " x=\"-", " y=\"-"] {
                    assert!(!svg.contains(outside), "{tip:?}: {svg}");
                }
            }
        }
    }

    #[test]
    fn an_arrow_without_an_end_is_refused() {
        let refused = |query, reach| {
            dot_product("", reach, query, &KEYS, &SHARES).unwrap_err().to_string()
        };
        insta::assert_snapshot!(refused([3.0, f64::NAN], 4.0), @"an entry of an arrow is NaN, expected from -4 to 4");
        insta::assert_snapshot!(refused([3.0, 4.5], 4.0), @"an entry of an arrow is 4.5, expected from -4 to 4");
        insta::assert_snapshot!(refused([3.0, 1.0], 0.0), @"the reach of the plane is 0, expected above 0");
        let keys = [("k", [1.0, 1.0]); 6];
        let refused = dot_product("", 4.0, [3.0, 1.0], &keys, &[0.0; 6]).unwrap_err();
        insta::assert_snapshot!(refused, @"6 keys are too many for one figure: draw at most 5");
    }
}
