//! A batch of sequences as one matrix.

use attention::Dims;

use super::canvas::{Anchor, Canvas, Ink, Look, Rect};
use super::shape::{Shape, Size};
use super::{figure, sketch_of_rows};
use crate::chart::Text;
use crate::{Figure, Table};

const SEQUENCES: [&str; 4] = ["sequence 1", "sequence 2", "⋮", "sequence B"];
const HEADS: [&str; 4] = ["head 1", "head 2", "…", "head h"];

/// What happens to a batch, in order: its name, a shape, and what it is.
const STEPS: [(&str, Shape, &str); 5] = [
    ("X", Shape(Size::AllTokens, Size::Model), "the sequences, stacked in one matrix"),
    ("W^Q, W^K, W^V", Shape(Size::Model, Size::Keys), "one projection for all rows"),
    (
        "Q, K, V",
        Shape(Size::AllTokens, Size::Keys),
        "attention per (sequence, head): B·h maps [n, n], each within its own block",
    ),
    ("W^O", Shape(Size::Values, Size::Model), "one matrix mixes the heads of all rows"),
    ("Z", Shape(Size::AllTokens, Size::Model), "the sequences again, in the same rows"),
];

/// A batch of B sequences of n tokens: stacked below each other in one matrix, projected
/// at once, attended to in a block per sequence and head, and mixed at once. With `dims`
/// the shapes stand there in numbers too.
pub fn batch_diagram(title: impl Into<String>, dims: Option<Dims>) -> Figure {
    let each =
        STEPS.map(|(name, shape, what)| format!("{name} {}, {what}", shape.text(dims)));
    let alternative = format!(
        "Block diagram of a batch of B sequences of n tokens. From first to last: {}. \
         Attention mixes rows of one sequence only; the projections treat each row alone.",
        each.join("; ")
    );
    let rows = STEPS.map(|(name, shape, _)| {
        let mut row = vec![format!("{name} {}", shape.text(dims))];
        if name == "Q, K, V" {
            row.push("attention per (sequence, head)".to_owned());
        }
        row
    });
    let table = STEPS
        .map(|(name, shape, what)| [name.to_owned(), what.to_owned(), shape.text(dims)]);
    let text = Text {
        alternative,
        sketch: sketch_of_rows(&rows),
        tables: vec![Table::new(
            "A batch, box by box",
            ["box", "what it is", "shape"],
            table,
        )],
    };
    figure(title, text, [drawn(true, dims), drawn(false, dims)])
}

/// How large each of the steps is: along the flow, where the flow goes across the page or
/// down it, and across.
fn sizes(is_wide: bool) -> [[f64; 2]; 5] {
    match is_wide {
        true => {
            [[110.0, 172.0], [104.0, 84.0], [248.0, 172.0], [80.0, 84.0], [88.0, 172.0]]
        }
        false => {
            [[110.0, 150.0], [58.0, 220.0], [132.0, 340.0], [58.0, 220.0], [110.0, 150.0]]
        }
    }
}

/// Between a step and the next, and around all of them, in pixels.
const GAP: f64 = 20.0;
const EDGE: f64 = 2.0;

/// How the steps follow one another: across a wide page, down a phone.
struct Flow {
    is_wide: bool,
    /// Over a matrix that is cut, for its name.
    caption: f64,
}

/// Whether a step is a matrix cut in blocks; names stand over it, and else in the box.
fn is_cut(nth: usize) -> bool {
    nth.is_multiple_of(2)
}

fn drawn(is_wide: bool, dims: Option<Dims>) -> Canvas {
    let flow = Flow { is_wide, caption: if dims.is_some() { 52.0 } else { 36.0 } };
    let mut canvas = flow.canvas();
    let mut start = EDGE;
    for (nth, (name, shape, _)) in STEPS.into_iter().enumerate() {
        let rect = flow.rect(nth, start);
        let lines = shape.lines(dims);
        if is_cut(nth) {
            let over = Rect { y: rect.y - flow.caption, h: flow.caption, ..rect };
            canvas.label(&over, name, &lines, Ink::Plain);
            match name {
                "Q, K, V" => blocks(&mut canvas, &rect),
                _ => rows(&mut canvas, &rect),
            }
        } else {
            canvas.rect(&rect, Ink::Plain);
            canvas.label(&rect, name, &lines, Ink::Plain);
        }
        let end = flow.end(nth, start);
        if nth + 1 < STEPS.len() {
            let [from, to] = flow.arrow(nth, &rect, end);
            canvas.arrow(from, to, Ink::Plain);
        }
        start = end + GAP;
    }
    canvas
}

impl Flow {
    fn canvas(&self) -> Canvas {
        let lengths = sizes(self.is_wide).into_iter().enumerate();
        let along = lengths.map(|(nth, size)| size[0] + GAP + self.above(nth));
        let along = along.sum::<f64>() - GAP + 2.0 * EDGE;
        match self.is_wide {
            true => Canvas::new(along, 172.0 + self.caption + 20.0 + 2.0 * EDGE),
            false => Canvas::new(super::NARROW, along + 20.0),
        }
    }

    /// What a caption adds to the length of the flow.
    fn above(&self, nth: usize) -> f64 {
        if !self.is_wide && is_cut(nth) { self.caption } else { 0.0 }
    }

    /// The box of a step that begins here.
    fn rect(&self, nth: usize, start: f64) -> Rect {
        let [length, breadth] = sizes(self.is_wide)[nth];
        match self.is_wide {
            true => Rect {
                x: start,
                y: EDGE + self.caption + (172.0 - breadth) / 2.0,
                w: length,
                h: breadth,
            },
            false => Rect {
                x: (super::NARROW - breadth) / 2.0,
                y: start + self.above(nth),
                w: breadth,
                h: length,
            },
        }
    }

    /// Where a step ends that begins here, with what is written under it.
    fn end(&self, nth: usize, start: f64) -> f64 {
        let below = if !self.is_wide && STEPS[nth].0 == "Q, K, V" { 20.0 } else { 0.0 };
        start + sizes(self.is_wide)[nth][0] + self.above(nth) + below
    }

    /// From where a step ends to the next.
    fn arrow(&self, nth: usize, rect: &Rect, end: f64) -> [[f64; 2]; 2] {
        let next = if self.is_wide || !is_cut(nth + 1) { GAP } else { GAP - 2.0 };
        [end + 3.0, end + next - 3.0].map(|at| match self.is_wide {
            true => [at, EDGE + self.caption + 86.0],
            false => [rect.middle()[0], at],
        })
    }
}

/// A matrix whose rows are those of one sequence after another.
fn rows(canvas: &mut Canvas, rect: &Rect) {
    for (nth, sequence) in SEQUENCES.into_iter().enumerate() {
        let row = rect.row(nth, SEQUENCES.len());
        canvas.cell(&row, Ink::Plain);
        let look = Look { room: row.w - 6.0, ..Look::note() };
        canvas.text(sequence, row.middle(), Anchor::Middle, look);
    }
}

/// The same cut in columns too, a block per sequence and head.
fn blocks(canvas: &mut Canvas, rect: &Rect) {
    for (row, sequence) in SEQUENCES.into_iter().enumerate() {
        for (column, head) in HEADS.into_iter().enumerate() {
            let block = rect.row(row, SEQUENCES.len()).column(column, HEADS.len());
            let is_left_out = sequence == "⋮" || head == "…";
            canvas.cell(&block, if is_left_out { Ink::Plain } else { Ink::Head(column) });
            let text = match (sequence, head) {
                ("⋮", "…") => Vec::new(),
                ("⋮", _) => vec![sequence.to_owned()],
                (_, "…") => vec![head.to_owned()],
                _ => vec![sequence.replace("sequence", "seq."), head.to_owned()],
            };
            canvas.label(&block, "", &text, Ink::Plain);
        }
    }
    let below = [rect.middle()[0], rect.bottom() + 10.0];
    let look = Look { room: rect.w, ..Look::note() };
    canvas.text("attention within each block", below, Anchor::Middle, look);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    #[test]
    fn a_batch_with_numbers() {
        let dims = Dims::new(512, 8).unwrap();
        assert_diagram!(batch_diagram("One matrix holds the batch", Some(dims)));
    }

    #[test]
    fn rows_stay_rows() {
        let [x, w, qkv, w_o, z] = STEPS.map(|(_, shape, _)| shape);
        assert_eq!((x.1, qkv), (w.0, Shape(x.0, w.1)));
        assert_eq!((z, w_o.1), (x, x.1));
        assert_eq!(w_o.0, Size::Values);
    }
}
