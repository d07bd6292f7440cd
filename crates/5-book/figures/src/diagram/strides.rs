//! What views and transposes do to an array of tokens and heads.

use super::canvas::{Anchor, Canvas, Ink, Look, Rect};
use super::figure;
use super::strided::Strided;
use crate::chart::Text;
use crate::{Error, Figure, Result, Table};

/// Larger arrays have cells too small for their numbers.
const MOST: usize = 16;

/// A projection of `n_tokens` tokens and heads of `d_k` columns in memory, row-major and
/// column-major; then its view as (tokens, heads, d_k), the transpose of that, and a view
/// straight to (heads, tokens, d_k), which mixes heads. Each with its shape and strides, an
/// address in each cell, and one colour per head.
///
/// # Errors
/// [`Error::TooMany`] above 16 entries; [`Error::Sizes`] if a size is 0.
pub fn strides(
    title: impl Into<String>,
    [n_tokens, n_heads, d_k]: [usize; 3],
) -> Result<Figure> {
    let sizes = [("n_tokens", n_tokens), ("n_heads", n_heads), ("d_k", d_k)];
    for (name, size) in sizes {
        attention::Error::expect_positive(name, size)?;
    }
    Error::expect_at_most("entries", n_tokens * n_heads * d_k, MOST)?;
    let array = Array { n_tokens, n_heads, d_k };
    let panels = array.panels();
    let text = Text {
        alternative: array.description(&panels),
        sketch: panels.iter().map(Panel::sketch).collect::<Vec<_>>().join("\n\n"),
        tables: vec![Table::new(
            "Shape and strides, and where the entries lie",
            ["array", "shape", "strides", "addresses, row by row"],
            panels.iter().map(Panel::row),
        )],
    };
    Ok(figure(title, text, [drawn(&panels, true), drawn(&panels, false)]))
}

struct Array {
    n_tokens: usize,
    n_heads: usize,
    d_k: usize,
}

/// An entry: where it lies, and which head it belongs to.
struct Entry {
    address: usize,
    head: usize,
}

struct Panel {
    name: String,
    array: Strided,
    /// What the outer axis counts, if there are three.
    outer: &'static str,
    /// What a row is.
    row: &'static str,
    /// One per index of the outer axis: rows of entries.
    blocks: Vec<Vec<Vec<Entry>>>,
}

impl Array {
    fn panels(&self) -> [Panel; 5] {
        let (n, h, d) = (self.n_tokens, self.n_heads, self.d_k);
        let by_rows = Strided::row_major(&[n, h * d]);
        let by_columns = Strided::column_major(&[n, h * d]);
        let view = Strided::row_major(&[n, h, d]);
        let heads = view.transpose(0, 1);
        let straight = Strided::row_major(&[h, n, d]);
        // The head of what lies at an address of the row-major array.
        let head = |address: usize| address % (h * d) / d;
        let panel = |name: String, [outer, row]: [&'static str; 2], array: Strided| {
            let blocks = three_axes(&array, head);
            Panel { name, array, outer, row, blocks }
        };
        let mut column_major =
            panel("column-major (nalgebra)".into(), ["", "token"], by_columns);
        // There an address says the column in another way.
        for entry in column_major.blocks.iter_mut().flatten().flatten() {
            entry.head = entry.address / n / d;
        }
        [
            panel("row-major (PyTorch)".into(), ["", "token"], by_rows),
            column_major,
            panel(format!("view({n}, {h}, {d})"), ["token", "head"], view),
            panel("then transpose(0, 1)".into(), ["head", "token"], heads),
            panel("wrong: view, no transpose".into(), ["“head”", "row"], straight),
        ]
    }

    fn description(&self, panels: &[Panel; 5]) -> String {
        let each = panels.iter().map(|panel| {
            let (shape, strides) = (list(&panel.array.shape), list(&panel.array.strides));
            format!("{}, shape {shape}, strides {strides}", panel.name)
        });
        let block = panels[4].blocks[0].iter().flatten();
        let foreign = block.filter(|entry| entry.head != 0).count();
        format!(
            "The addresses of {} tokens and {} heads of {} columns in memory, coloured by \
             head. {}. The transpose exchanges two sizes and two strides and moves no entry. The view \
             straight to (heads, tokens, d_k) takes {foreign} of the {} entries of its first \
             “head” from other heads.",
            self.n_tokens,
            self.n_heads,
            self.d_k,
            each.collect::<Vec<_>>().join("; "),
            panels[4].blocks[0].iter().flatten().count(),
        )
    }
}

/// The entries of an array of two or three axes, block by block.
fn three_axes(array: &Strided, head: impl Fn(usize) -> usize) -> Vec<Vec<Vec<Entry>>> {
    let (outer, inner) = match array.shape[..] {
        [rows, columns] => (None, [rows, columns]),
        [blocks, rows, columns] => (Some(blocks), [rows, columns]),
        _ => unreachable!("arrays here have two axes or three"),
    };
    let entry = |block: usize, row: usize, column: usize| {
        let index = [block, row, column];
        let index = if outer.is_some() { &index[..] } else { &index[1..] };
        let address = array.address(index);
        Entry { address, head: head(address) }
    };
    let row =
        |block, row| (0..inner[1]).map(|column| entry(block, row, column)).collect();
    let block = |block| (0..inner[0]).map(|at| row(block, at)).collect();
    (0..outer.unwrap_or(1)).map(block).collect()
}

fn list(sizes: &[usize]) -> String {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    format!("({})", sizes.join(", "))
}

impl Panel {
    fn sizes(&self) -> String {
        format!(
            "shape {}, strides {}",
            list(&self.array.shape),
            list(&self.array.strides)
        )
    }

    /// What stands over a block.
    fn heading(&self, block: usize) -> String {
        if self.outer.is_empty() {
            String::new()
        } else {
            format!("{} {block}", self.outer)
        }
    }

    fn sketch(&self) -> String {
        let mut lines = vec![format!("{}: {}", self.name, self.sizes())];
        for (nth, block) in self.blocks.iter().enumerate() {
            for (at, row) in block.iter().enumerate() {
                let entry =
                    |entry: &Entry| format!("{:>3}:h{}", entry.address, entry.head);
                let cells: String = row.iter().map(entry).collect();
                let name = format!("{} {} {at}", self.heading(nth), self.row);
                lines.push(format!("  {:<18}{cells}", name.trim_start()));
            }
        }
        lines.join("\n")
    }

    fn row(&self) -> [String; 4] {
        let row = |(nth, block): (usize, &Vec<Vec<Entry>>)| {
            let rows = block.iter().enumerate().map(|(at, row)| {
                let entry = |it: &Entry| format!("{} (head {})", it.address, it.head);
                let entries: Vec<String> = row.iter().map(entry).collect();
                let name = format!("{} {} {at}", self.heading(nth), self.row);
                format!("{}: {}", name.trim_start(), entries.join(", "))
            });
            rows.collect::<Vec<_>>().join("; ")
        };
        let rows: Vec<String> = self.blocks.iter().enumerate().map(row).collect();
        let (shape, strides) = (list(&self.array.shape), list(&self.array.strides));
        [self.name.clone(), shape, strides, rows.join("; ")]
    }
}

const CELL: [f64; 2] = [32.0, 26.0];
/// For the names of rows.
const NAMES: f64 = 48.0;
/// For the name and sizes over a panel, and the line over a block.
const ABOVE: f64 = 38.0;
const HEADING: f64 = 18.0;
/// Between two blocks, and between two panels.
const APART: f64 = 6.0;
const BETWEEN: f64 = 26.0;

/// The two orders of memory, side by side on a wide page; then the three views.
fn drawn(panels: &[Panel; 5], is_wide: bool) -> Canvas {
    let rows: &[&[usize]] =
        if is_wide { &[&[0, 1], &[2, 3, 4]] } else { &[&[0], &[1], &[2], &[3], &[4]] };
    let page = if is_wide { super::WIDE } else { super::NARROW };
    let height_of =
        |row: &[usize]| row.iter().map(|&at| panels[at].height()).fold(0.0, f64::max);
    let height: f64 = rows.iter().map(|row| height_of(row) + BETWEEN).sum();
    let mut canvas = Canvas::new(page, height - BETWEEN + 4.0);
    let mut y = 0.0;
    for row in rows {
        let room = page / row.len() as f64;
        for (nth, &at) in row.iter().enumerate() {
            panels[at].draw(&mut canvas, [2.0 + nth as f64 * room, y], room - 6.0);
        }
        y += height_of(row) + BETWEEN;
    }
    canvas
}

impl Panel {
    fn has_a_line(&self) -> bool {
        self.outer.is_empty()
    }

    fn height(&self) -> f64 {
        let line = if self.has_a_line() { CELL[1] + APART + 4.0 } else { 0.0 };
        ABOVE + HEADING + self.blocks[0].len() as f64 * CELL[1] + line
    }

    /// Everything in it, in the order of memory.
    fn line(&self) -> Vec<&Entry> {
        let mut line: Vec<&Entry> = self.blocks.iter().flatten().flatten().collect();
        line.sort_by_key(|entry| entry.address);
        line
    }

    fn draw(&self, canvas: &mut Canvas, [x, y]: [f64; 2], room: f64) {
        let look = Look { room, ..Look::name() };
        canvas.text(&self.name, [x, y + 9.0], Anchor::Start, look);
        let look = Look { room, ..Look::note() };
        canvas.text(&self.sizes(), [x, y + 26.0], Anchor::Start, look);
        let top = y + ABOVE;
        for (nth, block) in self.blocks.iter().enumerate() {
            let width = NAMES + block[0].len() as f64 * CELL[0] + APART;
            let x = x + nth as f64 * width;
            self.head_line(canvas, nth, [x + NAMES, top + 9.0]);
            for (at, row) in block.iter().enumerate() {
                let place = [x, top + HEADING + at as f64 * CELL[1]];
                draw_row(canvas, &format!("{} {at}", self.row), row.iter(), place);
            }
        }
        if self.has_a_line() {
            let y = top + HEADING + self.blocks[0].len() as f64 * CELL[1] + APART + 4.0;
            draw_row(canvas, "memory", self.line().into_iter(), [x, y]);
        }
    }

    /// What stands over a block: its name, or the heads over their columns.
    fn head_line(&self, canvas: &mut Canvas, nth: usize, [x, y]: [f64; 2]) {
        let row = &self.blocks[nth][0];
        let look = Look { is_bold: true, ..Look::note() };
        if !self.has_a_line() {
            let middle = x + row.len() as f64 * CELL[0] / 2.0;
            canvas.text(&self.heading(nth), [middle, y], Anchor::Middle, look);
            return;
        }
        for heads in row.chunk_by(|one, other| one.head == other.head) {
            let columns =
                row.iter().take_while(|entry| entry.head < heads[0].head).count();
            let middle = columns as f64 + heads.len() as f64 / 2.0;
            let description = format!("head {}", heads[0].head);
            canvas.text(
                &description,
                [x + middle * CELL[0], y],
                Anchor::Middle,
                Look::note(),
            );
        }
    }
}

fn draw_row<'a>(
    canvas: &mut Canvas,
    name: &str,
    row: impl Iterator<Item = &'a Entry>,
    [x, y]: [f64; 2],
) {
    let look = Look { room: NAMES - 5.0, ..Look::note() };
    let middle = y + CELL[1] / 2.0;
    canvas.text(name, [x + NAMES - 5.0, middle], Anchor::End, look);
    for (column, entry) in row.enumerate() {
        let left = x + NAMES + column as f64 * CELL[0];
        let cell = Rect { x: left, y, w: CELL[0], h: CELL[1] };
        canvas.cell(&cell, Ink::Head(entry.head));
        let look = Look { size: 12.0, ..Look::note() };
        canvas.text(&entry.address.to_string(), cell.middle(), Anchor::Middle, look);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    const ARRAY: Array = Array { n_tokens: 2, n_heads: 2, d_k: 2 };

    #[test]
    fn two_tokens_and_two_heads() {
        assert_diagram!(strides("A transpose moves no entry", [2, 2, 2]).unwrap());
    }

    /// Only the last view has a block of several heads; the right one has one per block.
    #[test]
    fn a_view_straight_to_heads_mixes_them() {
        for array in [ARRAY, Array { n_tokens: 3, n_heads: 2, d_k: 2 }] {
            let [.., heads, straight] = array.panels();
            let of_one_head = |panel: &Panel| {
                panel.blocks.iter().enumerate().all(|(nth, block)| {
                    block.iter().flatten().all(|entry| entry.head == nth)
                })
            };
            assert!(of_one_head(&heads) && !of_one_head(&straight));
        }
    }

    /// Both orders hold the same matrix: head by column, whatever the address.
    #[test]
    fn both_orders_have_the_heads_in_the_same_columns() {
        let [rows, columns, ..] = ARRAY.panels();
        let heads = |panel: &Panel| {
            panel.blocks[0].iter().flatten().map(|entry| entry.head).collect::<Vec<_>>()
        };
        assert_eq!(heads(&rows), [0, 0, 1, 1, 0, 0, 1, 1]);
        assert_eq!(heads(&rows), heads(&columns));
    }

    #[test]
    fn an_array_without_room_is_refused() {
        insta::assert_snapshot!(strides("", [4, 4, 2]).unwrap_err(), @"32 entries are too many for one figure: draw at most 16");
        insta::assert_snapshot!(strides("", [0, 4, 2]).unwrap_err(), @"n_tokens is 0, and must be at least 1");
    }
}
