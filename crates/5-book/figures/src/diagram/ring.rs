//! Machines on a circle, blocks of keys and values that travel from one to the next, and
//! what each machine does meanwhile.

use std::f64::consts::TAU;

use attention::{Matrix, thousands};

use super::canvas::{Anchor, Canvas, Ink, Key, Look, Rect};
use super::{NARROW, figure};
use crate::chart::Text;
use crate::matrix_maps;
use crate::{Error, Figure, Result, sketch};

/// More machines have no room on a phone's circle.
const MOST: usize = 8;

/// As wide as a live figure's column.
const WIDE: f64 = 600.0;

/// A way to cut tokens into parts for the ranks.
#[derive(Debug, Clone)]
pub struct TokenCut {
    /// As its reader reads it.
    pub name: &'static str,
    /// What a press on it sets: `cut=order`.
    pub sets: String,
    /// Whose each token is, of a few.
    pub ranks: Vec<usize>,
    /// Whether the ring is drawn with it.
    pub is_chosen: bool,
}

/// Ring attention at a step: which rank's keys and values each rank has, how many pairs of
/// query and key it computes with them, and how much it has met so far; below, all steps as
/// time, in which a rank computes or waits. `parts` is the part of a block's pairs that is
/// computed, `[rank, step]`; `pairs` how many those are, `[step][rank]`; a `message` takes as
/// long as so many pairs. A press on a step sets `step`, and one on a cut what that says.
///
/// # Errors
/// [`Error::TooMany`] above 8 ranks; [`Error::Sizes`] for a matrix that is not square,
/// another number of pairs, or a step that there is not.
pub fn ring(
    title: impl Into<String>,
    parts: &Matrix,
    pairs: &[Vec<usize>],
    message: f64,
    step: usize,
    cuts: &[TokenCut],
) -> Result<Figure> {
    let p = parts.nrows();
    attention::Error::expect_shape("the parts", (p, p), parts.shape())?;
    for pairs in [pairs.len()].into_iter().chain(pairs.iter().map(Vec::len)) {
        attention::Error::expect_shape("the pairs", (p, 1), (pairs, 1))?;
    }
    attention::Error::expect_index("step", step, p)?;
    Error::expect_at_most("ranks", p, MOST)?;
    let ring = Ring { parts, pairs, message, step, cuts };
    let names = |one: &dyn Fn(usize) -> String| (0..p).map(one).collect::<Vec<_>>();
    let ranks = names(&|r| format!("rank {r}"));
    let mark = |at| if at == step { "▸ " } else { "" };
    let steps = names(&|at| format!("{}step {at}", mark(at)));
    let owners = names(&|r| format!("of rank {r}"));
    let held = Matrix::from_fn(p, p, |r, other| {
        f64::from(u8::from(ring.held(r, step) == other))
    });
    let tables = vec![
        matrix_maps::table("part computed", parts, &ranks, &steps),
        matrix_maps::table(&format!("keys at step {step}"), &held, &ranks, &owners),
    ];
    let text = Text {
        alternative: ring.description(),
        sketch: sketch::captioned(&tables),
        tables,
    };
    Ok(figure(title, text, [true, false].map(|is_wide| ring.drawn(is_wide))))
}

struct Ring<'a> {
    parts: &'a Matrix,
    pairs: &'a [Vec<usize>],
    message: f64,
    step: usize,
    cuts: &'a [TokenCut],
}

impl Ring<'_> {
    fn size(&self) -> usize {
        self.pairs.len()
    }

    /// Whose keys and values a rank has: each step brings those of the rank before.
    fn held(&self, rank: usize, step: usize) -> usize {
        (rank + self.size() - step) % self.size()
    }

    /// At which step a rank meets another's keys.
    fn meets(&self, rank: usize, other: usize) -> usize {
        (rank + self.size() - other) % self.size()
    }

    fn description(&self) -> String {
        let each = (0..self.size()).map(|r| {
            let (held, pairs) = (self.held(r, self.step), self.pairs[self.step][r]);
            format!(
                "rank {r} has the keys and values of rank {held} and computes {pairs} pairs"
            )
        });
        format!(
            "{} ranks on a circle, each of which sends its keys and values to the next. At \
             step {}: {}.",
            self.size(),
            self.step,
            each.collect::<Vec<_>>().join("; ")
        )
    }

    fn drawn(&self, is_wide: bool) -> Canvas {
        let top = self.cuts_end(is_wide);
        let place = Circle::of(self.size(), is_wide, top);
        let below = 2.0 * (place.middle[1] - top) + top + 8.0;
        let line = if self.size() > 4 { 17.0 } else { 22.0 };
        let height = below + HEADING + line * self.size() as f64 + 4.0;
        let mut canvas = Canvas::new(place.page, height);
        self.draw_cuts(&mut canvas, is_wide);
        for rank in 0..self.size() {
            let [from, to] = place.way(rank, (rank + 1) % self.size());
            let is_sent = self.step + 1 < self.size();
            canvas.arrow(from, to, if is_sent { Ink::Plain } else { Ink::Muted });
        }
        for rank in 0..self.size() {
            self.draw_rank(&mut canvas, rank, &place.rank(rank));
        }
        // The blocks come last: on its way a block passes over what stands there.
        for rank in 0..self.size() {
            let (rect, held) = (place.rank(rank).row(1, 3), self.held(rank, self.step));
            let rect = Rect { x: rect.x + 6.0, w: rect.w - 12.0, ..rect };
            canvas.keyed(&Key::new(format!("kv.{held}")), |canvas| {
                canvas.rect(&rect, Ink::Hue(held));
                let text = format!("K, V of {held}");
                canvas.text(&text, rect.middle(), Anchor::Middle, LABEL);
            });
        }
        let [x, y] = place.middle;
        let of = format!("step {} of {}", self.step, self.size() - 1);
        let look = Look { size: 16.0, room: place.hole, ..Look::name() };
        canvas.text(&of, [x, y - 16.0], Anchor::Middle, look);
        for (nth, text) in
            ["filled squares:", "pairs computed so far"].into_iter().enumerate()
        {
            let look = Look { room: place.hole, ink: Ink::Muted, ..LABEL };
            let at = [x, y + 5.0 + 16.0 * nth as f64];
            canvas.text(text, at, Anchor::Middle, look);
        }
        let w = place.page - LEFT - 2.0;
        let h = line * self.size() as f64;
        self.draw_times(&mut canvas, &Rect { x: LEFT, y: below + HEADING, w, h });
        canvas
    }

    /// Where each cut's picture stands: side by side, or below one another on a phone.
    fn cut_place(nth: usize, is_wide: bool, page: f64) -> Rect {
        let (w, h) =
            (if is_wide { (page - 2.0 * CUT_GAP) / 3.0 } else { page - 2.0 }, CUT);
        match is_wide {
            true => Rect { x: nth as f64 * (w + CUT_GAP), y: 1.0, w, h },
            false => Rect { x: 1.0, y: 1.0 + nth as f64 * (CUT + 6.0), w, h },
        }
    }

    fn cuts_end(&self, is_wide: bool) -> f64 {
        let last = self.cuts.len().checked_sub(1);
        last.map_or(0.0, |nth| Self::cut_place(nth, is_wide, 0.0).bottom() + 12.0)
    }

    /// How tokens may be cut, each in the colours of its ranks; the chosen one in a frame.
    fn draw_cuts(&self, canvas: &mut Canvas, is_wide: bool) {
        for (nth, cut) in self.cuts.iter().enumerate() {
            let rect = Self::cut_place(nth, is_wide, canvas.width());
            canvas.marked(&[("pick", cut.sets.clone())], |canvas| {
                canvas.rect(&rect, if cut.is_chosen { Ink::Lit } else { Ink::Muted });
                let name = Look { is_bold: cut.is_chosen, room: rect.w - 12.0, ..LABEL };
                canvas.text(cut.name, [rect.x + 6.0, rect.y + 12.0], Anchor::Start, name);
                let n = cut.ranks.len();
                let w = (rect.w - 12.0) / n as f64;
                let [x, y] = [rect.x + 6.0, rect.y + 23.0];
                for (at, &rank) in cut.ranks.iter().enumerate() {
                    let token = Rect { x: x + at as f64 * w, y, w: w - 0.5, h: 12.0 };
                    canvas.bar(&token, Ink::Hue(rank));
                }
            });
        }
    }

    /// All steps from left to right, as long as each takes; in it a rank computes as long as
    /// its pairs take, and waits for the rest.
    fn draw_times(&self, canvas: &mut Canvas, rect: &Rect) {
        let p = self.size();
        let slowest =
            |step: usize| self.pairs[step].iter().copied().max().unwrap_or(0) as f64;
        let message = |step: usize| if step + 1 < p { self.message } else { 0.0 };
        let lasts: Vec<f64> =
            (0..p).map(|step| slowest(step).max(message(step))).collect();
        let unit = rect.w / lasts.iter().sum::<f64>().max(1.0);
        let computed: usize = self.pairs.iter().flatten().sum();
        let busy = computed as f64 * unit / (rect.w * p as f64);
        let heading = format!(
            "time: ranks compute for {:.0} % of it, and wait for the rest",
            100.0 * busy
        );
        canvas.text(&heading, [0.0, rect.y - 12.0], Anchor::Start, LABEL);
        for rank in 0..p {
            let [_, y] = rect.row(rank, p).middle();
            canvas.text(&format!("rank {rank}"), [0.0, y], Anchor::Start, LABEL);
        }
        let mut x = rect.x;
        for (step, lasts) in lasts.into_iter().enumerate() {
            let column = Rect { x, w: lasts * unit, ..*rect };
            canvas.marked(&[("pick", format!("step={step}"))], |canvas| {
                canvas.bar(&column, Ink::Nothing);
                for rank in 0..p {
                    let row = column.row(rank, p);
                    let w = self.pairs[step][rank] as f64 * unit;
                    let bar = Rect { y: row.y + 2.0, h: row.h - 4.0, w, ..row };
                    let key = Key::new(format!("work.{rank}.{step}"));
                    let ink = Ink::Hue(self.held(rank, step));
                    canvas.keyed(&key, |canvas| canvas.bar(&bar, ink));
                    let gap = column.w - w;
                    if gap > WAITS {
                        let [x, y] = [column.right() - gap / 2.0, row.middle()[1]];
                        let look = Look { ink: Ink::Muted, size: 11.0, ..LABEL };
                        canvas.text("waits", [x, y], Anchor::Middle, look);
                    }
                }
                canvas.cell(&column, Ink::Muted);
            });
            x += column.w;
            if step == self.step {
                canvas.framed(&column, Ink::Lit);
            }
        }
    }

    /// Its name and its pairs, room for the block that it has, and what it has met.
    fn draw_rank(&self, canvas: &mut Canvas, rank: usize, rect: &Rect) {
        let pairs = self.pairs[self.step][rank];
        match pairs {
            0 => canvas.dashed(rect, Ink::Muted),
            _ => canvas.rect(rect, Ink::Plain),
        }
        let [_, y] = rect.row(0, 3).middle();
        let look = Look { is_bold: true, room: rect.w * 0.45, ..LABEL };
        canvas.text(&format!("rank {rank}"), [rect.x + 6.0, y], Anchor::Start, look);
        let work = match pairs {
            0 => "waits".to_owned(),
            _ => thousands(pairs as u64),
        };
        let ink = if pairs == 0 { Ink::Muted } else { Ink::Plain };
        let look = Look { room: rect.w * 0.45, ink, ..LABEL };
        canvas.text(&work, [rect.right() - 6.0, y], Anchor::End, look);
        let squares = rect.row(2, 3);
        let side = (squares.h - 8.0).min((squares.w - 12.0) / self.size() as f64 - 2.0);
        for other in 0..self.size() {
            let x = squares.x + 6.0 + other as f64 * (side + 2.0);
            let square = Rect { x, y: squares.y + 4.0, w: side, h: side };
            let step = self.meets(rank, other);
            let is_met = step <= self.step;
            let h = side * self.parts[(rank, step)];
            canvas.marked(&[("pick", format!("step={step}"))], |canvas| {
                canvas.bar(&square, Ink::Nothing);
                canvas.cell(&square, if is_met { Ink::Hue(other) } else { Ink::Muted });
                if is_met && h > 0.0 {
                    let part = Rect { y: square.bottom() - h, h, ..square };
                    canvas.bar(&part, Ink::Hue(other));
                }
            });
        }
    }
}

/// Letters of a rank, and the room of the times for its names and over them.
const LABEL: Look =
    Look { size: 13.0, is_bold: false, ink: Ink::Plain, room: f64::INFINITY };
const LEFT: f64 = 52.0;
const HEADING: f64 = 26.0;
/// Of a time in which a rank waits, to be named.
const WAITS: f64 = 40.0;
/// The picture of a cut, and between two of them.
const CUT: f64 = 41.0;
const CUT_GAP: f64 = 10.0;

/// Where the ranks stand.
struct Circle {
    page: f64,
    middle: [f64; 2],
    radius: [f64; 2],
    /// A rank's box.
    size: [f64; 2],
    n: usize,
    /// How wide a text in the middle may be.
    hole: f64,
}

impl Circle {
    /// Below the `top`.
    fn of(n: usize, is_wide: bool, top: f64) -> Self {
        let is_crowded = n > 4;
        let (page, size, radius) = match (is_wide, is_crowded) {
            (true, true) => (WIDE, [126.0, 76.0], [235.0, 148.0]),
            (true, false) => (WIDE, [144.0, 80.0], [226.0, 92.0]),
            (false, true) => (NARROW, [88.0, 74.0], [129.0, 190.0]),
            (false, false) => (NARROW, [104.0, 76.0], [121.0, 125.0]),
        };
        let middle = [page / 2.0, top + radius[1] + size[1] / 2.0 + 3.0];
        let hole = 2.0 * radius[0] - size[0] - 12.0;
        Self { page, middle, radius, size, n, hole }
    }

    /// Clockwise from the top; two stand side by side.
    fn centre(&self, rank: usize) -> [f64; 2] {
        let first = if self.n == 2 { 0.75 } else { 0.0 };
        let angle = TAU * (first + rank as f64 / self.n as f64);
        let [x, y] = self.middle;
        [x + self.radius[0] * angle.sin(), y - self.radius[1] * angle.cos()]
    }

    fn rank(&self, rank: usize) -> Rect {
        let [x, y] = self.centre(rank);
        let [w, h] = self.size;
        Rect { x: x - w / 2.0, y: y - h / 2.0, w, h }
    }

    /// From the edge of one box to that of another; the two ways between two ranks are apart.
    fn way(&self, from: usize, to: usize) -> [[f64; 2]; 2] {
        let [a, b] = [self.centre(from), self.centre(to)];
        let along = [b[0] - a[0], b[1] - a[1]];
        let reach = |axis: usize| (self.size[axis] / 2.0 + 3.0) / along[axis].abs();
        let edge = reach(0).min(reach(1));
        let aside =
            if self.n == 2 { -0.44 * along[0].signum() * self.size[1] } else { 0.0 };
        [edge, 1.0 - edge].map(|at| [a[0] + along[0] * at, a[1] + along[1] * at + aside])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    #[test]
    fn three_ranks_at_their_second_step() {
        let parts =
            Matrix::from_row_slice(3, 3, &[0.5, 0.0, 0.0, 0.5, 1.0, 0.0, 0.5, 1.0, 1.0]);
        let pairs = [vec![6, 6, 6], vec![0, 9, 9], vec![0, 0, 9]];
        let cut = TokenCut {
            name: "in order",
            sets: "cut=order".to_owned(),
            ranks: vec![0, 0, 1, 1, 2, 2],
            is_chosen: true,
        };
        assert_diagram!(
            ring("Three on a ring", &parts, &pairs, 12.0, 1, &[cut]).unwrap()
        );
    }

    /// No box meets another or the edge, and no arrow is longer than its way.
    #[test]
    fn ranks_have_room() {
        for (n, is_wide) in (2..=MOST).flat_map(|n| [(n, true), (n, false)]) {
            let circle = Circle::of(n, is_wide, 0.0);
            for r in 0..n {
                let a = circle.rank(r);
                assert!(a.x >= 1.0 && a.right() <= circle.page - 1.0, "{n}: {a:?}");
                for b in (0..r).map(|other| circle.rank(other)) {
                    let apart = [(a.x - b.x).abs() - a.w, (a.y - b.y).abs() - a.h];
                    assert!(
                        apart.iter().any(|it| *it >= 3.0),
                        "{n}, {is_wide}: {a:?} {b:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_no_ring_is_refused() {
        let square = |n| Matrix::zeros(n, n);
        let pairs = |n| vec![vec![0; n]; n];
        insta::assert_snapshot!(ring("", &square(9), &pairs(9), 1.0, 0, &[]).unwrap_err(), @"9 ranks are too many for one figure: draw at most 8");
        insta::assert_snapshot!(ring("", &square(3), &pairs(2), 1.0, 0, &[]).unwrap_err(), @"the pairs has shape (2, 1), expected (3, 1)");
        insta::assert_snapshot!(ring("", &square(3), &pairs(3), 1.0, 3, &[]).unwrap_err(), @"there are 3 steps, 0 to 2: step 3 does not exist");
    }
}
