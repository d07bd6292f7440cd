//! The same layer in three stages: which entries each has when, and what it took.

use attention::Matrix;

use super::canvas::{Anchor, Canvas, Ink, Key, Look, Rect};
use super::line::entry;
use super::{BESIDE, NARROW, figure};
use crate::chart::Text;
use crate::{Figure, Result, Table, sketch};

/// How many stages stand side by side.
pub const STAGES: usize = 3;

/// A stage, with what it computes.
#[derive(Debug, Clone)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// What it computes at once.
    pub at_once: &'static str,
    /// The queries of all heads, and the output.
    pub grids: [StageGrid; 2],
    /// What it took and what came out: a name, and the number.
    pub facts: Vec<[String; 2]>,
    /// Which part of its work is done, from 0 to 1.
    pub done: f64,
    /// A button below it: what a click on it sets, and what stands on it.
    pub button: Option<[&'static str; 2]>,
}

/// A matrix of a stage.
#[derive(Debug, Clone)]
pub struct StageGrid {
    /// Its name.
    pub name: &'static str,
    /// What it holds in the end.
    pub entries: Matrix,
    /// What is computed first and last, and the step before the first of its entries: as
    /// many steps as it has entries come after it.
    pub order: (StageOrder, usize),
    /// Which entries are wrong, row by row.
    pub is_wrong: Vec<bool>,
    /// How many columns a head has, where columns are heads'.
    pub d_k: Option<usize>,
}

/// What of a matrix is computed at once, and what after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageOrder {
    /// An entry, row by row in a head's columns, head after head.
    Entries,
    /// An entry, column by column.
    ByColumn,
    /// The columns of a head.
    Heads,
    /// All of it.
    AtOnce,
}

/// Three stages side by side at a step, on the same words: the entries that each has by
/// then, the ones that it computes next in a dashed frame, and what it took in all. Orange
/// is what is wrong.
///
/// # Errors
/// [`Error::Sizes`](crate::Error::Sizes) for a matrix without a row for each word, or whose
/// list of what is wrong is of another length.
pub fn stages(
    title: impl Into<String>,
    words: &[&str],
    stages: &[Stage; STAGES],
    step: usize,
) -> Result<Figure> {
    for grid in stages.iter().flat_map(|stage| &stage.grids) {
        let (rows, columns) = grid.entries.shape();
        let expected = (words.len(), columns);
        attention::Error::expect_shape(grid.name, expected, (rows, columns))?;
        let n = grid.is_wrong.len();
        attention::Error::expect_shape(grid.name, (rows * columns, 1), (n, 1))?;
    }
    let table = table(stages, step);
    let text = Text {
        alternative: format!(
            "The queries and the output of one layer on {}, in three stages side by side, \
             as far as each has come, and what each takes.",
            words.join(", ")
        ),
        sketch: sketch::table(&table),
        tables: vec![table],
    };
    let drawn = [true, false].map(|is_wide| drawn(words, stages, step, is_wide));
    Ok(figure(title, text, drawn))
}

/// What is there of each matrix, row by row, and the facts.
fn table(stages: &[Stage; STAGES], step: usize) -> Table {
    let [a, b, c] = stages.each_ref().map(|stage| stage.name);
    let grids = (0..2).map(|nth| {
        let cell = |stage: &Stage| stage.grids[nth].written(step);
        let [a, b, c] = stages.each_ref().map(cell);
        [stages[0].grids[nth].name.to_owned(), a, b, c]
    });
    let facts = stages[0].facts.iter().enumerate().map(|(nth, [name, _])| {
        let [a, b, c] = stages.each_ref().map(|stage| stage.facts[nth][1].clone());
        [name.clone(), a, b, c]
    });
    Table::new(
        "What each stage has, and what it takes",
        ["", a, b, c],
        grids.chain(facts),
    )
}

impl StageGrid {
    /// The step from which on an entry is there.
    fn since(&self, nth: usize) -> usize {
        let (row, column) = self.at(nth);
        let (n_rows, n_columns) = self.entries.shape();
        let width = self.d_k.unwrap_or(n_columns);
        let (order, before) = self.order;
        before
            + match order {
                StageOrder::Entries => {
                    (column / width * n_rows + row) * width + column % width + 1
                }
                StageOrder::ByColumn => column * n_rows + row + 1,
                StageOrder::Heads => (column / width + 1) * n_rows * width,
                StageOrder::AtOnce => n_rows * n_columns,
            }
    }

    fn at(&self, nth: usize) -> (usize, usize) {
        (nth / self.entries.ncols(), nth % self.entries.ncols())
    }

    /// `2 · 0 0 / · · · ·`.
    fn written(&self, step: usize) -> String {
        let cell = |row: usize, column: usize| {
            let is_there = self.since(row * self.entries.ncols() + column) <= step;
            if is_there { entry(self.entries[(row, column)]) } else { "·".to_owned() }
        };
        let row = |row| {
            let cells = (0..self.entries.ncols()).map(|column| cell(row, column));
            cells.collect::<Vec<_>>().join(" ")
        };
        (0..self.entries.nrows()).map(row).collect::<Vec<_>>().join(" / ")
    }

    fn draw(&self, canvas: &mut Canvas, key: &str, whole: &Rect, step: usize) {
        let (n_rows, n_columns) = self.entries.shape();
        let cell = |nth: usize| {
            let (row, column) = self.at(nth);
            whole.row(row, n_rows).column(column, n_columns)
        };
        let over = [whole.x, whole.y - 11.0];
        canvas.text(self.name, over, Anchor::Start, Look::text());
        canvas.cell(whole, Ink::Muted);
        let all = 0..self.is_wrong.len();
        for nth in all.clone() {
            let (rect, since) = (cell(nth), self.since(nth));
            let pick = Key::new(format!("{key}.{nth}")).picks(format!("step={since}"));
            canvas.keyed(&pick, |canvas| match since <= step {
                true => self.draw_entry(canvas, nth, &rect),
                false => canvas.cell(&rect, Ink::Nothing),
            });
        }
        let next = all.clone().map(|nth| self.since(nth)).filter(|it| *it > step).min();
        if let Some(next) = next {
            let of_next = all.filter(|&nth| self.since(nth) == next);
            let corners: Vec<Rect> = of_next.map(cell).collect();
            let [first, last] = [corners[0], corners[corners.len() - 1]];
            let (w, h) = (last.right() - first.x, last.bottom() - first.y);
            canvas.dashed(&Rect { w, h, ..first }, Ink::Lit);
        }
    }

    fn draw_entry(&self, canvas: &mut Canvas, nth: usize, rect: &Rect) {
        let (row, column) = self.at(nth);
        let ink = match (self.is_wrong[nth], self.d_k) {
            (true, _) => Ink::Wrong,
            (false, Some(d_k)) => Ink::Hue(column / d_k),
            (false, None) => Ink::Plain,
        };
        canvas.cell(rect, ink);
        let look = Look { room: rect.w - 2.0, ..Look::text() };
        let text = entry(self.entries[(row, column)]);
        canvas.text(&text, rect.middle(), Anchor::Middle, look);
    }
}

/// A row, and the room for words to the left of a matrix and for its name over it.
const ROW: f64 = 28.0;
const WORDS: f64 = 80.0;
const NAME: f64 = 28.0;
/// Over a stage, for its name and what it computes at once; and a row of its facts.
const HEADING: f64 = 52.0;
const FACT: f64 = 21.0;
/// Of the bar of its work, and of its button.
const BAR: f64 = 6.0;
const BUTTON: f64 = 28.0;
/// Between two matrices, and between two stages.
const APART: f64 = 22.0;

/// Side by side where there is room, each matrix under the other; on a phone the other way.
fn drawn(words: &[&str], stages: &[Stage; STAGES], step: usize, is_wide: bool) -> Canvas {
    let high = words.len() as f64 * ROW;
    let n_facts = stages[0].facts.len();
    let facts = |n_a_line: usize| n_facts.div_ceil(n_a_line) as f64 * FACT + BUTTON;
    let (page, height) = match is_wide {
        true => (BESIDE, HEADING + 2.0 * (NAME + high) + APART + facts(1)),
        false => (NARROW, HEADING + NAME + high + APART + facts(2) + APART),
    };
    let mut canvas = Canvas::new(page, height * if is_wide { 1.0 } else { 3.0 });
    // Words stand once where the stages are side by side.
    let pitch = (page - WORDS + APART) / 3.0;
    for (nth, stage) in stages.iter().enumerate() {
        let [x, top, w] = match is_wide {
            true => [WORDS + nth as f64 * pitch, 0.0, pitch - APART - 2.0],
            false => [WORDS, nth as f64 * height, (page - WORDS - APART) / 2.0 - 1.0],
        };
        let from = if is_wide { x } else { 2.0 };
        let room = if is_wide { w } else { page - 4.0 };
        stage.head(&mut canvas, &Rect { x: from, y: top, w: room, h: HEADING });
        let mut whole = Rect { x, y: top + HEADING + NAME, w, h: high };
        for (which, grid) in stage.grids.iter().enumerate() {
            for (row, word) in words.iter().enumerate() {
                let y = whole.row(row, words.len()).middle()[1];
                let look = Look { room: WORDS - 8.0, ..Look::text() };
                if if is_wide { nth == 0 } else { which == 0 } {
                    canvas.text(word, [whole.x - 6.0, y], Anchor::End, look);
                }
            }
            grid.draw(&mut canvas, &format!("{nth}.{which}"), &whole, step);
            match is_wide {
                true => whole.y = whole.bottom() + NAME,
                false => whole.x = whole.right() + APART,
            }
        }
        let y = if is_wide { whole.y - NAME } else { whole.bottom() } + APART;
        let columns = if is_wide { 1 } else { 2 };
        stage.foot(&mut canvas, &Rect { x: from, y, w: room, h: 0.0 }, columns);
    }
    canvas
}

impl Stage {
    /// Its name, what it computes at once, and a bar of its work.
    fn head(&self, canvas: &mut Canvas, at: &Rect) {
        let look = Look { room: at.w, ..Look::name() };
        canvas.text(self.name, [at.x, at.y + 9.0], Anchor::Start, look);
        let look = Look { room: at.w, ink: Ink::Muted, ..Look::text() };
        canvas.text(self.at_once, [at.x, at.y + 27.0], Anchor::Start, look);
        let bar = Rect { y: at.y + 40.0, h: BAR, ..*at };
        canvas.cell(&bar, Ink::Muted);
        let key = Key::new(format!("done.{}", self.name));
        let done = Rect { w: bar.w * self.done, ..bar };
        canvas.keyed(&key, |canvas| canvas.bar(&done, Ink::Head(0)));
    }

    /// Its facts in so many columns, and its button.
    fn foot(&self, canvas: &mut Canvas, at: &Rect, columns: usize) {
        for (fact, [name, value]) in self.facts.iter().enumerate() {
            let y = at.y + (fact / columns) as f64 * FACT;
            let cell = at.column(fact % columns, columns);
            let look = Look { ink: Ink::Muted, room: cell.w - 50.0, ..Look::text() };
            canvas.text(name, [cell.x, y], Anchor::Start, look);
            let end = cell.right() - if columns > 1 { 12.0 } else { 0.0 };
            let look = Look { is_bold: true, room: 84.0, ..Look::text() };
            canvas.text(value, [end, y], Anchor::End, look);
        }
        let Some([pick, text]) = self.button else { return };
        let y = at.y + self.facts.len().div_ceil(columns) as f64 * FACT - 8.0;
        let button = Rect { y, h: BUTTON - 4.0, w: at.w.min(170.0), ..*at };
        canvas.keyed(&Key::new("button").picks(pick), |canvas| {
            canvas.rect(&button, Ink::Lit);
            let look = Look { room: button.w - 8.0, ..Look::text() };
            canvas.text(text, button.middle(), Anchor::Middle, look);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    fn stage(order: StageOrder) -> Stage {
        let grid = |name, d_k| StageGrid {
            name,
            entries: Matrix::from_row_slice(2, 2, &[1.0, -2.0, 0.5, 4.0]),
            order: (order, 0),
            is_wrong: vec![false, true, false, false],
            d_k,
        };
        Stage {
            name: "loops",
            at_once: "an entry at a time",
            grids: [grid("Q", Some(1)), grid("output", None)],
            facts: vec![["multiply-adds".to_owned(), "8".to_owned()]],
            done: 0.5,
            button: Some(["forget=on", "forget it"]),
        }
    }

    #[test]
    fn each_has_what_it_has_by_then() {
        let all =
            [StageOrder::ByColumn, StageOrder::Heads, StageOrder::AtOnce].map(stage);
        assert_diagram!(stages("Side by side", &["a", "b"], &all, 2).unwrap());
    }

    /// By hand: two rows of two heads with two columns each, from step 8 on.
    #[test]
    fn orders_are_those_of_loops_and_products() {
        let since = |order| {
            let grid = StageGrid {
                name: "Q",
                entries: Matrix::zeros(2, 4),
                order: (order, 8),
                is_wrong: vec![false; 8],
                d_k: Some(2),
            };
            (0..8).map(|nth| grid.since(nth) - 8).collect::<Vec<_>>()
        };
        assert_eq!(since(StageOrder::Entries), [1, 2, 5, 6, 3, 4, 7, 8]);
        assert_eq!(since(StageOrder::ByColumn), [1, 3, 5, 7, 2, 4, 6, 8]);
        assert_eq!(since(StageOrder::Heads), [4, 4, 8, 8, 4, 4, 8, 8]);
        assert_eq!(since(StageOrder::AtOnce), [8; 8]);
    }

    #[test]
    fn matrices_that_do_not_fit_are_refused() {
        let all = [StageOrder::AtOnce; STAGES].map(stage);
        insta::assert_snapshot!(stages("", &["a"], &all, 0).unwrap_err(), @"Q has shape (2, 2), expected (1, 2)");
    }
}
