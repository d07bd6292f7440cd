//! Queries and keys as arrows, before and after a change of basis between them.

use super::canvas::{Anchor, Canvas, Ink, Look, Rect};
use super::dot_product::{Arrow, pair};
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
/// as they are now, with every product q · k. Both planes reach as far as `reach`; an arrow
/// that is longer ends at the edge. A page drags a query's tip: what it sets is the query
/// divided by `scale`.
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
             after a change of basis. Products: {}.",
            words[0].name,
            words[1].name,
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
        [format!("{} → {}", a.name, b.name), sum]
    })
}

/// Between the planes, over them, and a line of the lists below.
const GAP: f64 = 24.0;
const HEADING: f64 = 26.0;
const LINE: f64 = 21.0;
/// Where the sums of products begin.
const SUMS: f64 = 164.0;
/// How many lines of the grid that the arrows span lie on each side.
const GRID: i32 = 6;
/// Of a tip that is dragged.
const HANDLE: f64 = 7.0;
const INKS: [Ink; 2] = [Ink::Head(4), Ink::Head(5)];

fn drawn(words: &[RebasedWord; 2], reach: [f64; 2], scale: f64, page: f64) -> Canvas {
    let side = (page - GAP) / 2.0;
    let below = HEADING + side + 2.0 * LINE + 16.0;
    let mut canvas = Canvas::new(page, below + LINE * 5.0 + 4.0);
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
    let look = Look { room: page, ..Look::name() };
    let heading = "q · k, the same as before";
    canvas.text(heading, [0.0, below + LINE / 2.0], Anchor::Start, look);
    for (nth, [name, sum]) in products(words).into_iter().enumerate() {
        let y = below + LINE * (nth as f64 + 1.5);
        canvas.text(&name, [0.0, y], Anchor::Start, Look { room: SUMS, ..Look::text() });
        let look = Look { room: page - SUMS, ..Look::text() };
        canvas.text(&sum, [SUMS + 6.0, y], Anchor::Start, look);
    }
    canvas
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
        for (nth, (word, ink)) in words.iter().zip(INKS).enumerate() {
            let now = of(word)[1];
            let tip = self.tip(now);
            canvas.bold_arrow(middle, tip, ink);
            if is_queries {
                canvas.circle(tip, HANDLE, ink);
            }
            let y = whole.bottom() + LINE * (nth as f64 + 0.5) + 6.0;
            canvas.bar(&Rect { x: whole.x, y: y - 6.0, w: 12.0, h: 12.0 }, ink);
            let text = format!("{} {}", word.name, pair(now));
            let look = Look { room: whole.w - 18.0, ..Look::text() };
            canvas.text(&text, [whole.x + 18.0, y], Anchor::Start, look);
        }
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
        assert!(!svg.contains("=\"-"), "{svg}");
        words[0].key[1] = [f64::NAN, 1.0];
        let refused = rebased("", &words, [5.0, 2.5], 2.0).unwrap_err();
        insta::assert_snapshot!(refused, @"banks is NaN, expected a number");
    }
}
