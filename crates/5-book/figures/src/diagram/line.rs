//! A layer from words to an output, with every number: the Line.

use attention::Matrix;

use super::canvas::{Anchor, Canvas, Ink, Key, Look, Product, Rect};
use super::figure;
#[cfg(doc)]
use crate::Error;
use crate::chart::Text;
use crate::{Figure, Result, Table, sketch};

mod drawn;
mod entries;
mod places;
mod station;
mod step;
mod strip;
mod sums;

pub use station::Station;
pub use step::LineStep;
pub use strip::{Way, line_strip};

pub(super) use entries::entry;
use entries::{share, vector};

/// How many words the drawing has room for.
pub const LINE_WORDS: usize = 3;
/// The width of a word's row.
const WIDTH: usize = 4;
/// The heads, and the width of each.
const HEADS: usize = 2;
const HEAD_WIDTH: usize = 2;

/// Two heads on three words, with all that is computed on the way.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    /// The words.
    pub words: [&'a str; LINE_WORDS],
    /// Their rows, `[3, 4]`.
    pub x: &'a Matrix,
    /// Each head, with what it computes.
    pub heads: [LineHead; HEADS],
    /// What mixes the heads, `[4, 4]`.
    pub w_o: &'a Matrix,
    /// What comes out, `[3, 4]`.
    pub out: &'a Matrix,
}

/// One of the heads, with what it computes.
#[derive(Debug, Clone)]
pub struct LineHead {
    /// The queries, the keys and the values, each `[3, 2]`.
    pub q: Matrix,
    /// The keys.
    pub k: Matrix,
    /// The values.
    pub v: Matrix,
    /// `Q Kᵀ`, `[3, 3]`.
    pub products: Matrix,
    /// The same divided by √d_k.
    pub scores: Matrix,
    /// The same with −∞ where the mask blocks.
    pub masked: Matrix,
    /// `exp` of them, less the largest of their row.
    pub exps: Matrix,
    /// The shares.
    pub attn: Matrix,
    /// The shares times the values, `[3, 2]`.
    pub out: Matrix,
}

impl LineHead {
    fn matrices(&self) -> [(&'static str, &Matrix, usize); 9] {
        [
            ("q", &self.q, HEAD_WIDTH),
            ("k", &self.k, HEAD_WIDTH),
            ("v", &self.v, HEAD_WIDTH),
            ("q · k", &self.products, LINE_WORDS),
            ("scores", &self.scores, LINE_WORDS),
            ("masked", &self.masked, LINE_WORDS),
            ("exp", &self.exps, LINE_WORDS),
            ("weights", &self.attn, LINE_WORDS),
            ("head", &self.out, HEAD_WIDTH),
        ]
    }
}

impl Line<'_> {
    fn check(&self, lit: usize) -> Result<()> {
        attention::Error::expect_index("the word", lit, LINE_WORDS)?;
        let whole = [("x", self.x), ("W^O", self.w_o), ("the output", self.out)];
        let rows = [LINE_WORDS, WIDTH, LINE_WORDS];
        for ((what, matrix), rows) in whole.into_iter().zip(rows) {
            attention::Error::expect_shape(what, (rows, WIDTH), matrix.shape())?;
        }
        for (what, matrix, width) in self.heads.iter().flat_map(LineHead::matrices) {
            attention::Error::expect_shape(what, (LINE_WORDS, width), matrix.shape())?;
        }
        Ok(())
    }

    /// A word's row of both heads, side by side.
    fn concat(&self, word: usize) -> Vec<f64> {
        let row = |head: &LineHead| row_of(&head.out, word);
        self.heads.iter().flat_map(row).collect()
    }

    /// A word's row with what the layer adds to it.
    fn sum(&self, word: usize) -> Vec<f64> {
        let rows = row_of(self.x, word).into_iter().zip(row_of(self.out, word));
        rows.map(|(x, out)| x + out).collect()
    }
}

fn row_of(matrix: &Matrix, row: usize) -> Vec<f64> {
    matrix.row(row).iter().copied().collect()
}

/// The layer as far as `step`, with the row of one word lit and its sums written out.
///
/// # Errors
/// [`Error::Sizes`] for a word or a matrix that the drawing has no room for.
pub fn line(
    title: impl Into<String>,
    line: &Line,
    step: LineStep,
    lit: usize,
) -> Result<Figure> {
    line.check(lit)?;
    let table = table(line, step);
    let sums = sums::sums(line, step, lit);
    let text = Text {
        alternative: alternative(line, step, lit, &sums),
        sketch: format!("{}\n\n{}\n", sketch::table(&table), sums.join("\n")),
        tables: vec![table],
    };
    let drawn = [true, false].map(|is_wide| drawn::drawn(line, step, lit, is_wide));
    Ok(figure(title, text, drawn))
}

fn alternative(line: &Line, step: LineStep, lit: usize, sums: &[String]) -> String {
    let word = line.words[lit];
    let [first, second, third] = line.words;
    let shown = match sums {
        [] => String::new(),
        sums => format!(" For {word}: {}.", sums.join("; ")),
    };
    format!(
        "A layer of two heads on the words {first}, {second} and {third}, from left to \
         right: their rows, queries, keys and values of each head, a grid of scores and \
         shares, the values mixed, the heads side by side, W^O and the output. It is \
         drawn as far as “{}”.{shown}",
        step.station().name()
    )
}

/// Every row that is computed by then, a word a column.
fn table(line: &Line, step: LineStep) -> Table {
    let mut rows: Vec<[String; 1 + LINE_WORDS]> = Vec::new();
    let mut add = |name: String, row: &dyn Fn(usize) -> Vec<f64>, is_shares: bool| {
        let write = if is_shares { share } else { entry };
        let [a, b, c] = [0, 1, 2].map(|word| vector(&row(word), write));
        rows.push([name, a, b, c]);
    };
    if step >= LineStep::Rows {
        add("x".to_owned(), &|word| row_of(line.x, word), false);
    }
    for (nth, head) in line.heads.iter().enumerate() {
        for (at, (name, matrix, _)) in head.matrices().into_iter().enumerate() {
            let is_shares = ["exp", "weights"].contains(&name);
            if step >= step::of_matrix(at) {
                let name = format!("head {nth}: {name}");
                add(name, &|word| row_of(matrix, word), is_shares);
            }
        }
    }
    if step >= LineStep::Concat {
        add("concat".to_owned(), &|word| line.concat(word), false);
    }
    if step >= LineStep::Output {
        add("concat W^O".to_owned(), &|word| row_of(line.out, word), false);
    }
    if step >= LineStep::Add {
        add("x + concat W^O".to_owned(), &|word| line.sum(word), false);
    }
    let [a, b, c] = line.words;
    Table::new("What is computed for each word", ["", a, b, c], rows)
}

#[cfg(test)]
mod tests;
