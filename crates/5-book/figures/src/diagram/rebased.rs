//! Queries and keys as arrows, before and after a change of basis between them.

use super::canvas::{Anchor, Canvas, Ink, Look, Rect};
use super::dot_product::{Arrow, pair, signed};
use super::{BESIDE, NARROW, figure};
use crate::chart::Text;
use crate::{Error, Figure, Result, Table, sketch};

/// A word with its query and its key, each before and after the change.
#[derive(Debug, Clone, Copy)]
pub struct RebasedWord<'a> {
    /// The word.
    pub name: &'a str,
    /// Its query, `[2]`, before and now.
    pub query: [[f64; 2]; 2],
    /// Its key, `[2]`, before and now.
    pub key: [[f64; 2]; 2],
}

/// The queries of two words in one plane and their keys in another, as they were (grey) and
/// as they are now, with the cosine of the queries and every product q · k. Both planes
/// reach as far as `reach`; an arrow that is longer ends at the edge. A page drags a query's
/// tip: what it sets is the query divided by `scale`.
///
/// # Errors
/// [`Error::NotFinite`] for an entry that is no number.
pub fn rebased(
    title: impl Into<String>,
    words: &[RebasedWord; 2],
    reach: [f64; 2],
    scale: f64,
) -> Result<Figure> {
    for word in words {
        for &entry in word.query.iter().chain(&word.key).flatten() {
            Error::expect_finite(word.name, entry)?;
        }
    }
    let row = |word: &RebasedWord| {
        let [query, key] = [word.query, word.key].map(|both| both.map(pair));
        [vec![word.name.to_owned()], query.to_vec(), key.to_vec()].concat()
    };
    let columns = ["", "query before", "query now", "key before", "key now"];
    let moved = Table {
        caption: "Queries and keys".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: words.iter().map(row).collect(),
    };
    let columns = ["query → key", "q · k now"];
    let products = Table::new("Products", columns, products(words));
    let text = Text {
        alternative: format!(
            "Two planes of arrows: the queries of {} and {}, and their keys, before and \
             after a change of basis. The queries now have a cosine of {}. Products: {}.",
            words[0].name,
            words[1].name,
            signed(angle(words).cos()),
            sums_text(&products)
        ),
        sketch: sketch::tables(&[moved.clone(), products.clone()]),
        tables: vec![moved, products],
    };
    let drawn = [BESIDE, NARROW].map(|page| drawn(words, reach, scale, page));
    Ok(figure(title, text, drawn))
}

fn sums_text(products: &Table) -> String {
    products.rows.iter().map(|row| row.join(": ")).collect::<Vec<_>>().join("; ")
}

/// Of each query with each key: which, and the sum now.
fn products(words: &[RebasedWord; 2]) -> [[String; 2]; 4] {
    [(0, 1), (1, 0), (0, 0), (1, 1)].map(|(from, to)| {
        let [a, b] = [&words[from], &words[to]];
        let sum = Arrow::new(b.name, a.query[1], b.key[1]).sum();
        let key = if from == to { "itself" } else { b.name };
        [format!("{} → {key}", a.name), sum]
    })
}

/// From the first query to the second as they are now, anticlockwise.
fn angle(words: &[RebasedWord; 2]) -> f64 {
    let [[ax, ay], [bx, by]] = words.each_ref().map(|word| word.query[1]);
    (ax * by - ay * bx).atan2(ax * bx + ay * by)
}

/// Between the planes, over them, and a line of the lists below.
const GAP: f64 = 24.0;
const HEADING: f64 = 26.0;
const LINE: f64 = 20.0;
/// How wide a word is in the legend, its query and its key, and the name of a product.
const WORD: f64 = 98.0;
const PAIR: f64 = 118.0;
const PRODUCT: f64 = 138.0;
/// The arc between the queries, and the letters of their cosine with the room they take.
const ARC: f64 = 22.0;
const COSINE: f64 = 20.0;
const COSINE_ROOM: f64 = 102.0;
/// How many lines of the grid that the arrows span lie on each side.
const GRID: i32 = 6;
/// Of a tip that is dragged.
const HANDLE: f64 = 7.0;
const INKS: [Ink; 2] = [Ink::Head(4), Ink::Head(5)];

fn drawn(words: &[RebasedWord; 2], reach: [f64; 2], scale: f64, page: f64) -> Canvas {
    let side = (page - GAP) / 2.0;
    let below = HEADING + side + 6.0;
    // The sums beside the legend on a wide page, below it on a phone.
    let is_wide = page > NARROW;
    let [left, top] =
        if is_wide { [WORD + PAIR, below] } else { [0.0, below + 2.0 * LINE + 6.0] };
    let mut canvas = Canvas::new(page, top + LINE * 5.0);
    let headings = ["queries: drag a tip", "keys: they follow"];
    for nth in 0..2 {
        let whole = Rect { x: nth as f64 * (side + GAP), y: HEADING, w: side, h: side };
        let look = Look { room: side, ..Look::name() };
        canvas.text(headings[nth], [whole.x, 11.0], Anchor::Start, look);
        let plane = Plane { whole, unit: (side / 2.0 - 14.0) / reach[nth] };
        if nth == 0 {
            canvas.plane(whole.middle(), plane.unit * scale);
        }
        plane.draw(&mut canvas, words, nth == 0);
    }
    legend(&mut canvas, words, below, is_wide);
    let heading = "q · k, the same as before";
    canvas.text(heading, [left, top + LINE / 2.0], Anchor::Start, Look::name());
    for (nth, [name, sum]) in products(words).into_iter().enumerate() {
        let y = top + LINE * (nth as f64 + 1.5);
        let sums = left + PRODUCT + 4.0;
        for (text, x, room) in [(name, left, PRODUCT), (sum, sums, page - sums)] {
            canvas.text(&text, [x, y], Anchor::Start, Look { room, ..Look::text() });
        }
    }
    canvas
}

/// The colour of each word, its query, and its key: below the query, or beside it.
fn legend(canvas: &mut Canvas, words: &[RebasedWord; 2], top: f64, is_below: bool) {
    let (step, key) = if is_below { (2.0, [0.0, LINE]) } else { (1.0, [PAIR, 0.0]) };
    for (nth, (word, ink)) in words.iter().zip(INKS).enumerate() {
        let y = top + LINE * (step * nth as f64 + 0.5);
        canvas.bar(&Rect { x: 0.0, y: y - 6.0, w: 12.0, h: 12.0 }, ink);
        let look = Look { room: WORD - 22.0, ..Look::text() };
        canvas.text(word.name, [18.0, y], Anchor::Start, look);
        let look = Look { room: PAIR - 4.0, ..Look::text() };
        for (name, now, by) in [("q", word.query[1], [0.0; 2]), ("k", word.key[1], key)] {
            let text = format!("{name} {}", pair(now));
            canvas.text(&text, [WORD + by[0], y + by[1]], Anchor::Start, look);
        }
    }
}

/// Where a plane lies, and how many units of the drawing a 1 is.
struct Plane {
    whole: Rect,
    unit: f64,
}

impl Plane {
    /// An arrow's tip, or where its line leaves the plane.
    fn tip(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let most = (self.whole.w / 2.0 - 4.0) / self.unit;
        let part = (most / x.abs().max(y.abs()).max(1e-9)).min(1.0) * self.unit;
        let middle = self.whole.middle();
        [middle[0] + x * part, middle[1] - y * part]
    }

    /// Where a line through a point leaves the plane on either side, if it crosses it.
    fn within(&self, at: [f64; 2], way: [f64; 2]) -> Option<[[f64; 2]; 2]> {
        let most = self.whole.w / 2.0 / self.unit;
        let mut part = [f64::NEG_INFINITY, f64::INFINITY];
        for (at, way) in at.into_iter().zip(way) {
            let ends = [(-most - at) / way, (most - at) / way];
            part = [part[0].max(ends[0].min(ends[1])), part[1].min(ends[0].max(ends[1]))];
        }
        let middle = self.whole.middle();
        let point = |part: f64| {
            let [x, y] = [0, 1].map(|i| (at[i] + way[i] * part) * self.unit);
            [middle[0] + x, middle[1] - y]
        };
        let is_crossed = part.iter().all(|it| it.is_finite()) && part[0] < part[1];
        is_crossed.then(|| part.map(point))
    }

    fn draw(&self, canvas: &mut Canvas, words: &[RebasedWord; 2], is_queries: bool) {
        let (whole, middle) = (&self.whole, self.whole.middle());
        let of = |word: &RebasedWord| if is_queries { word.query } else { word.key };
        canvas.cell(whole, Ink::Muted);
        let [a, b] = words.each_ref().map(|word| of(word)[1]);
        for nth in -GRID..=GRID {
            let along = |from: [f64; 2], way: [f64; 2]| {
                self.within(from.map(|it| it * f64::from(nth)), way)
            };
            for ends in [along(a, b), along(b, a)].into_iter().flatten() {
                canvas.line(ends[0], ends[1], Ink::Faint);
            }
        }
        canvas.line([whole.x, middle[1]], [whole.right(), middle[1]], Ink::Muted);
        canvas.line([middle[0], whole.y], [middle[0], whole.bottom()], Ink::Muted);
        for word in words {
            canvas.arrow(middle, self.tip(of(word)[0]), Ink::Muted);
        }
        for (word, ink) in words.iter().zip(INKS) {
            let tip = self.tip(of(word)[1]);
            canvas.bold_arrow(middle, tip, ink);
            if is_queries {
                canvas.circle(tip, HANDLE, ink);
            }
        }
        if is_queries {
            self.cosine(canvas, words);
        }
    }

    /// An arc between the queries, and their cosine in a corner that no arrow reaches, if
    /// there is one.
    fn cosine(&self, canvas: &mut Canvas, words: &[RebasedWord; 2]) {
        let (whole, middle) = (&self.whole, self.whole.middle());
        let ([x, y], turn) = (words[0].query[1], angle(words));
        let arc = (0..=16).map(|part| {
            let (sin, cos) = (y.atan2(x) + turn * f64::from(part) / 16.0).sin_cos();
            [middle[0] + ARC * cos, middle[1] - ARC * sin]
        });
        canvas.curve(&arc.collect::<Vec<_>>(), Ink::Plain);
        let x = |anchor, inset: f64| match anchor {
            Anchor::End => whole.right() - 6.0 - inset,
            _ => whole.x + 6.0 + inset,
        };
        let is_free = |&(anchor, y): &(Anchor, f64)| {
            let text = [x(anchor, COSINE_ROOM / 2.0), y];
            let meets = |at: f64, i: usize| {
                let room = [COSINE_ROOM, COSINE][i] / 2.0 + HANDLE + 2.0;
                (at - text[i]).abs() < room
            };
            let mut tips = words.iter().flat_map(|it| it.query).map(|it| self.tip(it));
            tips.all(|tip| {
                let mut parts = (0..=20).map(|part| f64::from(part) / 20.0);
                let at = |part: f64, i: usize| middle[i] + (tip[i] - middle[i]) * part;
                !parts.any(|part| [0, 1].into_iter().all(|i| meets(at(part, i), i)))
            })
        };
        let heights = [whole.y + 16.0, whole.bottom() - 16.0];
        let all = [Anchor::End, Anchor::Start].map(|it| heights.map(|y| (it, y)));
        let mut all = all.as_flattened().iter().copied();
        let (anchor, y) = all.find(is_free).unwrap_or((Anchor::End, heights[0]));
        let look = Look { size: COSINE, ..Look::text() };
        canvas.text(
            &format!("cos {}", signed(turn.cos())),
            [x(anchor, 0.0), y],
            anchor,
            look,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    const WORDS: [RebasedWord; 2] = [
        RebasedWord {
            name: "banks",
            query: [[0.0, 2.0], [0.0, 2.0]],
            key: [[1.0, 0.0], [1.0, -2.0]],
        },
        RebasedWord {
            name: "overflowed",
            query: [[2.0, 0.0], [2.0, 4.0]],
            key: [[0.0, 1.0], [0.0, 1.0]],
        },
    ];

    #[test]
    fn a_shear_of_queries_and_what_it_does_to_keys() {
        let figure = rebased("A shear", &WORDS, [5.0, 2.5], 2.0).unwrap();
        assert_eq!(
            figure.tables()[1].rows[1],
            ["overflowed → banks", "2·1 + 4·(−2) = −6"]
        );
        assert_diagram!(figure);
    }

    #[test]
    fn an_arrow_beyond_the_plane_ends_at_its_edge() {
        let mut words = WORDS;
        words[0].key[1] = [-1e6, 1.0];
        let svg = rebased("", &words, [5.0, 2.5], 2.0).unwrap().drawings().unwrap()[0]
            .to_owned();
        let svg = svg.replace("style=\"--", "");
        assert!(!svg.contains("=\"-"), "{svg}");
        words[0].key[1] = [f64::NAN, 1.0];
        let refused = rebased("", &words, [5.0, 2.5], 2.0).unwrap_err();
        insta::assert_snapshot!(refused, @"banks is NaN, expected a number");
    }
}
