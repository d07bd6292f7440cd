//! Machines on a circle, and blocks of keys and values that travel from one to the next.

use std::f64::consts::TAU;

use attention::{Matrix, thousands};

use super::canvas::{Anchor, Canvas, Ink, Key, Look, Rect};
use super::{NARROW, WIDE, figure};
use crate::chart::Text;
use crate::matrix_maps;
use crate::{Error, Figure, Result, sketch};

/// More machines have no room on a phone's circle.
const MOST: usize = 8;

/// Ring attention at a step: which rank's keys and values each rank has, how many pairs of
/// query and key it computes with them, and how much it has met so far. `parts` is the part
/// of a block's pairs that is computed, `[rank, step]`; `pairs` how many those of this step
/// are, a number per rank.
///
/// # Errors
/// [`Error::TooMany`] above 8 ranks; [`Error::Sizes`] for a matrix that is not square,
/// another number of pairs, or a step that there is not.
pub fn ring(
    title: impl Into<String>,
    parts: &Matrix,
    pairs: &[usize],
    step: usize,
) -> Result<Figure> {
    let p = parts.nrows();
    attention::Error::expect_shape("the parts", (p, p), parts.shape())?;
    attention::Error::expect_shape("the pairs", (p, 1), (pairs.len(), 1))?;
    attention::Error::expect_index("step", step, p)?;
    Error::expect_at_most("ranks", p, MOST)?;
    let ring = Ring { parts, pairs, step };
    let names = |one: &dyn Fn(usize) -> String| (0..p).map(one).collect::<Vec<_>>();
    let ranks = names(&|r| format!("rank {r}"));
    let mark = |at| if at == step { "▸ " } else { "" };
    let steps = names(&|at| format!("{}step {at}", mark(at)));
    let owners = names(&|r| format!("of rank {r}"));
    let held =
        Matrix::from_fn(p, p, |r, other| f64::from(u8::from(ring.held(r) == other)));
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
    pairs: &'a [usize],
    step: usize,
}

impl Ring<'_> {
    fn size(&self) -> usize {
        self.pairs.len()
    }

    /// Whose keys and values a rank has: each step brings those of the rank before.
    fn held(&self, rank: usize) -> usize {
        (rank + self.size() - self.step) % self.size()
    }

    /// At which step a rank meets another's keys.
    fn meets(&self, rank: usize, other: usize) -> usize {
        (rank + self.size() - other) % self.size()
    }

    fn description(&self) -> String {
        let each = (0..self.size()).map(|r| {
            let (held, pairs) = (self.held(r), self.pairs[r]);
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
        let place = Circle::of(self.size(), is_wide);
        let mut canvas = Canvas::new(place.page, 2.0 * place.middle[1]);
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
            let (rect, held) = (place.rank(rank).row(1, 3), self.held(rank));
            let rect = Rect { x: rect.x + 6.0, w: rect.w - 12.0, ..rect };
            canvas.keyed(&Key::new(format!("kv.{held}")), |canvas| {
                canvas.rect(&rect, Ink::Hue(held));
                let text = format!("K, V of {held}");
                canvas.text(&text, rect.middle(), Anchor::Middle, Look::note());
            });
        }
        let room = place.hole;
        let texts = [
            "number: pairs computed now;",
            "squares: keys met by now,",
            "filled as far as computed",
        ];
        let [x, y] = place.middle;
        let look = Look { room, ..Look::name() };
        let of = format!("step {} of {}", self.step, self.size() - 1);
        canvas.text(&of, [x, y - 22.0], Anchor::Middle, look);
        for (nth, text) in texts.into_iter().enumerate() {
            let at = [x, y - 4.0 + 14.0 * nth as f64];
            let look = Look { room, ink: Ink::Muted, ..Look::note() };
            canvas.text(text, at, Anchor::Middle, look);
        }
        canvas
    }

    /// Its name and its pairs, room for the block that it has, and what it has met.
    fn draw_rank(&self, canvas: &mut Canvas, rank: usize, rect: &Rect) {
        let pairs = self.pairs[rank];
        match pairs {
            0 => canvas.dashed(rect, Ink::Muted),
            _ => canvas.rect(rect, Ink::Plain),
        }
        let [_, y] = rect.row(0, 3).middle();
        let look = Look { is_bold: true, room: rect.w * 0.4, ..Look::note() };
        canvas.text(&format!("rank {rank}"), [rect.x + 6.0, y], Anchor::Start, look);
        let work = match pairs {
            0 => "waits".to_owned(),
            _ => thousands(pairs as u64),
        };
        let ink = if pairs == 0 { Ink::Muted } else { Ink::Plain };
        let look = Look { room: rect.w * 0.5, ink, ..Look::note() };
        canvas.text(&work, [rect.right() - 6.0, y], Anchor::End, look);
        let squares = rect.row(2, 3);
        let side = (squares.h - 8.0).min((squares.w - 12.0) / self.size() as f64 - 2.0);
        for other in 0..self.size() {
            let x = squares.x + 6.0 + other as f64 * (side + 2.0);
            let square = Rect { x, y: squares.y + 4.0, w: side, h: side };
            let step = self.meets(rank, other);
            let is_met = step <= self.step;
            canvas.cell(&square, if is_met { Ink::Hue(other) } else { Ink::Muted });
            let h = side * self.parts[(rank, step)];
            if is_met && h > 0.0 {
                let part = Rect { y: square.bottom() - h, h, ..square };
                canvas.bar(&part, Ink::Hue(other));
            }
        }
    }
}

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
    fn of(n: usize, is_wide: bool) -> Self {
        let is_crowded = n > 4;
        let (page, size, radius) = match (is_wide, is_crowded) {
            (true, true) => (WIDE, [124.0, 70.0], [240.0, 150.0]),
            (true, false) => (WIDE, [124.0, 70.0], [210.0, 100.0]),
            (false, true) => (NARROW, [84.0, 70.0], [130.0, 185.0]),
            (false, false) => (NARROW, [92.0, 70.0], [125.0, 125.0]),
        };
        let middle = [page / 2.0, radius[1] + size[1] / 2.0 + 3.0];
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
        assert_diagram!(ring("Three on a ring", &parts, &[0, 9, 9], 1).unwrap());
    }

    /// No box meets another or the edge, and no arrow is longer than its way.
    #[test]
    fn ranks_have_room() {
        for (n, is_wide) in (2..=MOST).flat_map(|n| [(n, true), (n, false)]) {
            let circle = Circle::of(n, is_wide);
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
        insta::assert_snapshot!(ring("", &square(9), &[0; 9], 0).unwrap_err(), @"9 ranks are too many for one figure: draw at most 8");
        insta::assert_snapshot!(ring("", &square(3), &[0; 2], 0).unwrap_err(), @"the pairs has shape (2, 1), expected (3, 1)");
        insta::assert_snapshot!(ring("", &square(3), &[0; 3], 3).unwrap_err(), @"there are 3 steps, 0 to 2: step 3 does not exist");
    }
}
