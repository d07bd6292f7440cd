//! All heads of a layer on one sentence, small, and one of them large.

use attention::Matrix;

use super::canvas::{Anchor, Canvas, Look, Rect};
use super::figure;
use crate::chart::Text;
use crate::{Figure, Heads, head_maps};

/// Maps side by side.
const PER_ROW: [usize; 2] = [3, 6];
/// How large a small map is, what stands under it included, and how far apart they are.
const SMALL: [f64; 2] = [62.0, 48.0];
const NAME: f64 = 16.0;
const GAP: f64 = 8.0;
/// Room for the names of rows and columns.
const NAMES: f64 = 64.0;

/// Every head's map, small and on a scale of its own, and beside them the map of the head
/// that [`Heads::showing`] says, large. It needs no script: a page shows it until its
/// explorer of heads is there.
pub fn heads_at_once(title: impl Into<String>, heads: &Heads) -> Figure {
    let shown = heads.shown;
    let text = Text {
        alternative: format!(
            "The maps of {}, small; beside them that of {}, large. {}",
            heads.sizes(),
            heads.name(shown),
            heads.strongest()
        ),
        sketch: head_maps::sketched(heads, head_maps::scale_end(heads)),
        tables: vec![head_maps::table(heads, shown)],
    };
    figure(title, text, [wide(heads), narrow(heads)])
}

fn wide(heads: &Heads) -> Canvas {
    let n_rows = heads.count().div_ceil(PER_ROW[0]) as f64;
    let (left, side) = (PER_ROW[0] as f64 * (SMALL[0] + GAP) + 12.0, 420.0 - NAMES);
    let height = f64::max(n_rows * (SMALL[0] + NAME + GAP), NAMES + side);
    let mut canvas = Canvas::new(super::WIDE, height + 4.0);
    small(&mut canvas, heads, PER_ROW[0], SMALL[0]);
    large(&mut canvas, heads, [left + NAMES, NAMES], side);
    canvas
}

fn narrow(heads: &Heads) -> Canvas {
    let n_rows = heads.count().div_ceil(PER_ROW[1]) as f64;
    let (top, side) = (n_rows * (SMALL[1] + NAME + GAP), super::NARROW - NAMES - 4.0);
    let mut canvas = Canvas::new(super::NARROW, top + NAMES + side + 4.0);
    small(&mut canvas, heads, PER_ROW[1], SMALL[1]);
    large(&mut canvas, heads, [NAMES, top + NAMES], side);
    canvas
}

fn small(canvas: &mut Canvas, heads: &Heads, per_row: usize, side: f64) {
    for (nth, map) in heads.attn.iter().enumerate() {
        let [column, row] = [nth % per_row, nth / per_row].map(|at| at as f64);
        let (x, y) = (2.0 + column * (side + GAP), 2.0 + row * (side + NAME + GAP));
        let rect = Rect { x, y, w: side, h: side };
        canvas.shades(&rect, map, map.max());
        let look = Look { is_bold: nth == heads.shown, ..Look::note() };
        canvas.text(&heads.name(nth), [x, y + side + 8.0], Anchor::Start, look);
    }
}

/// With the tokens of its rows and columns.
fn large(canvas: &mut Canvas, heads: &Heads, [x, y]: [f64; 2], side: f64) {
    let map: &Matrix = &heads.attn[heads.shown];
    canvas.shades(&Rect { x, y, w: side, h: side }, map, 1.0);
    let cell = side / map.ncols() as f64;
    let look = Look { room: NAMES - 6.0, ..Look::note() };
    for (at, name) in heads.queries.iter().enumerate() {
        let middle = y + (at as f64 + 0.5) * side / map.nrows() as f64;
        canvas.text(name, [x - 5.0, middle], Anchor::End, look);
    }
    for (at, name) in heads.keys.iter().enumerate() {
        canvas.upright(name, [x + (at as f64 + 0.5) * cell, y - 5.0], 11.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{PILOT, attn};

    #[test]
    fn every_head_is_drawn_twice_and_one_large() {
        let maps = attn();
        let heads = Heads::of_tokens(&maps, &PILOT).unwrap().showing(2).unwrap();
        let figure = heads_at_once("Three heads", &heads);
        for drawing in figure.drawings().unwrap() {
            // Eight tokens on two sides, three names of heads.
            assert_eq!(drawing.matches("<text").count(), 2 * 8 + 3);
            assert_eq!(drawing.matches("<path").count(), drawing.matches("/>").count());
        }
        insta::assert_snapshot!(figure.alternative());
    }

    #[test]
    fn a_quarter_of_the_largest_has_half_its_shade() {
        let mut canvas = Canvas::new(20.0, 10.0);
        let map = Matrix::from_row_slice(1, 2, &[0.5, 0.125]);
        canvas.shades(&Rect { x: 0.0, y: 0.0, w: 20.0, h: 10.0 }, &map, 0.5);
        let svg = canvas.into_svg("wide");
        assert!(svg.contains("fill-opacity=\"1\" d=\"M0 0h1v1h-1z\""), "{svg}");
        assert!(svg.contains("fill-opacity=\"0.5\" d=\"M1 0h1v1h-1z\""), "{svg}");
        assert!(svg.contains("translate(0 0) scale(10 10)"), "{svg}");
    }
}
