//! Small matrices with the signs between them: each line is computed before it is drawn.

use attention::Matrix;

use super::canvas::{Canvas, Ink};
use super::{BESIDE, NARROW, WIDE, figure};
use crate::chart::Text;
use crate::heads::owned;
use crate::matrix_maps::number;
use crate::{Error, Figure, Result, Table, sketch};

mod drawn;
mod placed;

/// What may differ between a product and the matrix that is drawn as it: rounding.
const ROUNDING: f64 = 1e-9;

/// A matrix of an equation, with its names and its look.
#[derive(Debug, Clone)]
pub struct Cells {
    name: String,
    rows: Vec<String>,
    columns: Vec<String>,
    entries: Matrix,
    look: CellsLook,
    lit: Option<usize>,
    before: Option<Matrix>,
    /// Of each entry, row by row; none where a click does nothing.
    picks: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum CellsLook {
    Plain,
    /// In one head's colour.
    Head(usize),
    /// As many columns as this in each head's colour.
    Heads(usize),
    /// As many columns as this of each of several matrices, of which this is the first.
    Parts([usize; 2]),
    /// On the scale of attention weights.
    Attn,
}

impl Cells {
    /// A matrix with a name that stands below it.
    pub fn new(name: impl Into<String>, entries: &Matrix) -> Self {
        Self {
            name: name.into(),
            rows: Vec::new(),
            columns: Vec::new(),
            entries: entries.clone(),
            look: CellsLook::Plain,
            lit: None,
            before: None,
            picks: Vec::new(),
        }
    }

    /// What its rows are, one name a row.
    pub fn rows(self, rows: &[&str]) -> Self {
        Self { rows: owned(rows), ..self }
    }

    /// What its columns are, one name a column.
    pub fn columns(self, columns: &[&str]) -> Self {
        Self { columns: owned(columns), ..self }
    }

    /// In the colour of the `nth` head.
    pub fn of_head(self, nth: usize) -> Self {
        Self { look: CellsLook::Head(nth), ..self }
    }

    /// In the colours of all heads: each has `d_k` columns.
    pub fn of_heads(self, d_k: usize) -> Self {
        Self { look: CellsLook::Heads(d_k), ..self }
    }

    /// Several matrices side by side, each with `width` columns and a word of the name, and a
    /// colour of its own: that of the `nth` and those after it.
    pub fn in_parts(self, width: usize, nth: usize) -> Self {
        Self { look: CellsLook::Parts([width, nth]), ..self }
    }

    /// With an orange frame round the entries that differ from those of another matrix of
    /// this shape.
    pub fn changed_from(self, before: &Matrix) -> Self {
        Self { before: Some(before.clone()), ..self }
    }

    /// Attention weights, on their scale of colours.
    pub fn attn(self) -> Self {
        Self { look: CellsLook::Attn, ..self }
    }

    /// With a row that stands out.
    pub fn lit(self, row: usize) -> Self {
        Self { lit: Some(row), ..self }
    }

    /// With what a click on an entry sets where the figure is live: `word=2`.
    pub fn picks(self, pick: impl Fn(usize, usize) -> String) -> Self {
        let (n_rows, n_columns) = self.entries.shape();
        let row = |i| (0..n_columns).map(move |j| (i, j));
        let entries = (0..n_rows).flat_map(row);
        Self { picks: entries.map(|(i, j)| pick(i, j)).collect(), ..self }
    }

    /// The ink of a column.
    fn ink(&self, column: usize) -> Ink {
        match self.look {
            CellsLook::Plain | CellsLook::Attn => Ink::Plain,
            CellsLook::Head(nth) => Ink::Head(nth),
            CellsLook::Heads(d_k) => Ink::Head(column / d_k.max(1)),
            CellsLook::Parts([width, nth]) => Ink::Hue(nth + column / width.max(1)),
        }
    }

    fn check(&self) -> Result<()> {
        let (n_rows, n_columns) = self.entries.shape();
        attention::Error::expect_positive("the number of rows", n_rows)?;
        attention::Error::expect_positive("the number of columns", n_columns)?;
        Error::expect_at_most("rows of a matrix", n_rows, 8)?;
        Error::expect_at_most("columns of a matrix", n_columns, 12)?;
        for (what, names, n) in
            [("rows", &self.rows, n_rows), ("columns", &self.columns, n_columns)]
        {
            if !names.is_empty() {
                let what = format!("the names of {}'s {what}", self.name);
                Error::expect_length(what, names.len(), n)?;
            }
        }
        if let Some(row) = self.lit {
            attention::Error::expect_index("row", row, n_rows)?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let numbered = |names: &[String], n: usize| match names {
            [] => (0..n).map(|nth| nth.to_string()).collect(),
            names => names.to_vec(),
        };
        let rows = numbered(&self.rows, self.entries.nrows());
        let columns = numbered(&self.columns, self.entries.ncols());
        let cell = |i, j| number(self.entries[(i, j)]);
        Table::grid(&*self.name, "", &rows, &columns, cell)
    }
}

/// What is done to what stands before it.
#[derive(Debug, Clone)]
enum Step {
    Times(Cells),
    Plus(Cells),
    Over(String, f64),
    Equals(Cells),
    Becomes(String, Cells),
}

impl Step {
    fn sign(&self) -> String {
        match self {
            Self::Times(_) => "·".to_owned(),
            Self::Plus(_) => "+".to_owned(),
            Self::Over(name, _) => format!("/ {name}"),
            Self::Equals(_) => "=".to_owned(),
            Self::Becomes(name, _) => format!("{name} →"),
        }
    }

    fn cells(&self) -> Option<&Cells> {
        match self {
            Self::Over(..) => None,
            Self::Times(cells) | Self::Plus(cells) => Some(cells),
            Self::Equals(cells) | Self::Becomes(_, cells) => Some(cells),
        }
    }
}

/// A line of matrices: `Q · Kᵀ / √d_k = scores, softmax → attn`.
#[derive(Debug, Clone)]
pub struct Equation {
    first: Cells,
    steps: Vec<Step>,
}

impl Equation {
    /// Begins with a matrix.
    pub fn of(first: Cells) -> Self {
        Self { first, steps: Vec::new() }
    }

    fn and(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Times a matrix, from the right.
    pub fn times(self, cells: Cells) -> Self {
        self.and(Step::Times(cells))
    }

    /// Plus a matrix.
    pub fn plus(self, cells: Cells) -> Self {
        self.and(Step::Plus(cells))
    }

    /// Divided by a number with a name: `√2`.
    pub fn over(self, name: impl Into<String>, by: f64) -> Self {
        self.and(Step::Over(name.into(), by))
    }

    /// Is this matrix: what stands before it is computed and compared.
    pub fn equals(self, cells: Cells) -> Self {
        self.and(Step::Equals(cells))
    }

    /// Becomes a matrix by something that is no sum of products: `softmax`. What stands
    /// behind it goes on from that matrix.
    pub fn becomes(self, by: impl Into<String>, cells: Cells) -> Self {
        self.and(Step::Becomes(by.into(), cells))
    }

    fn all_cells(&self) -> impl Iterator<Item = &Cells> {
        std::iter::once(&self.first).chain(self.steps.iter().filter_map(Step::cells))
    }

    /// Computes the line from left to right, and compares it where it says what it is.
    fn check(&self) -> Result<()> {
        self.all_cells().try_for_each(Cells::check)?;
        let mut value = self.first.entries.clone();
        for step in &self.steps {
            let fits = |cells: &Cells, expected| {
                let found = cells.entries.shape();
                attention::Error::expect_shape(&*cells.name, expected, found)
            };
            match step {
                Step::Times(cells) => {
                    fits(cells, (value.ncols(), cells.entries.ncols()))?;
                    value *= &cells.entries;
                }
                Step::Plus(cells) => {
                    fits(cells, value.shape())?;
                    value += &cells.entries;
                }
                Step::Over(_, by) => value /= *by,
                Step::Equals(cells) => {
                    fits(cells, value.shape())?;
                    expect_equal(cells, &value)?;
                }
                Step::Becomes(_, cells) => value = cells.entries.clone(),
            }
        }
        Ok(())
    }

    /// `Q · Kᵀ / √2 = scores`.
    fn written(&self) -> String {
        let steps = self.steps.iter().map(|step| match step.cells() {
            Some(cells) if matches!(step, Step::Becomes(..)) => {
                format!(", {} {}", step.sign(), cells.name)
            }
            Some(cells) => format!(" {} {}", step.sign(), cells.name),
            None => format!(" {}", step.sign()),
        });
        std::iter::once(self.first.name.clone()).chain(steps).collect()
    }
}

fn expect_equal(cells: &Cells, computed: &Matrix) -> Result<()> {
    for (nth, (&found, &expected)) in cells.entries.iter().zip(computed).enumerate() {
        let apart = (found - expected).abs();
        // Infinities of one sign are equal, and their difference is no number.
        let is_equal = found == expected || apart <= ROUNDING * expected.abs().max(1.0);
        if !is_equal {
            let (row, column) = (nth % computed.nrows(), nth / computed.nrows());
            let what = format!("entry ({row}, {column}) of {}", cells.name);
            return Err(Error::Number { what, found, expected: expected.to_string() });
        }
    }
    Ok(())
}

/// Lines of small matrices with signs between them. Under the pointer, an entry of a
/// product lights its row and its column, and its sum is written out; before that, it is
/// the first entry of the lit row of the first product, or of its first row.
///
/// ```
/// use attention::Matrix;
/// use figures::{Cells, Equation, equations};
///
/// let q = Matrix::from_row_slice(1, 2, &[2.0, 1.0]);
/// let k_t = Matrix::from_row_slice(2, 2, &[0.0, 1.0, 2.0, 1.0]);
/// let scores = &q * &k_t;
/// let line = Equation::of(Cells::new("Q", &q).of_head(0).rows(&["overflowed"]))
///     .times(Cells::new("Kᵀ", &k_t).of_head(0).columns(&["river", "banks"]))
///     .equals(Cells::new("Q Kᵀ", &scores));
/// let figure = equations("A query meets two keys", &[line])?;
/// assert!(figure.alternative().starts_with("Q · Kᵀ = Q Kᵀ."));
/// # Ok::<(), figures::Error>(())
/// ```
///
/// # Errors
/// [`Error::Number`] for a line that is not true; [`Error::Sizes`] for no line, for
/// matrices that do not fit and for a lit row that is not there; [`Error::Length`] for
/// names of another number; [`Error::TooMany`] above 8 rows or 12 columns in a matrix.
pub fn equations(title: impl Into<String>, lines: &[Equation]) -> Result<Figure> {
    equations_on(title, lines, WIDE)
}

/// The same, beside the controls of a live figure. Errors are those of [`equations`].
pub fn live_equations(title: impl Into<String>, lines: &[Equation]) -> Result<Figure> {
    equations_on(title, lines, BESIDE)
}

fn equations_on(
    title: impl Into<String>,
    lines: &[Equation],
    wide: f64,
) -> Result<Figure> {
    attention::Error::expect_positive("the number of lines", lines.len())?;
    lines.iter().try_for_each(Equation::check)?;
    let written: Vec<String> = lines.iter().map(Equation::written).collect();
    let mut tables: Vec<Table> = Vec::new();
    for table in lines.iter().flat_map(Equation::all_cells).map(Cells::table) {
        if !tables.iter().any(|it| it.rows == table.rows && it.caption == table.caption) {
            tables.push(table);
        }
    }
    let named = |table: &Table| format!("{}\n{}", table.caption, sketch::table(table));
    let sketched: Vec<String> = tables.iter().map(named).collect();
    let text = Text {
        alternative: format!("{}. The tables have every entry.", written.join("; ")),
        sketch: format!("{}\n\n{}", written.join("\n"), sketched.join("\n\n")),
        tables,
    };
    let drawn: [Canvas; 2] = [wide, NARROW].map(|width| drawn::drawn(lines, width));
    Ok(figure(title, text, drawn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    fn head() -> [Matrix; 5] {
        let q = Matrix::from_row_slice(2, 2, &[1.0, 0.0, 2.0, 1.0]);
        let k_t = Matrix::from_row_slice(2, 2, &[0.0, 1.0, 2.0, 1.0]);
        let scores = &q * &k_t / 2.0;
        let attn = Matrix::from_row_slice(2, 2, &[0.4, 0.6, 0.25, 0.75]);
        let out = &attn * &q;
        [q, k_t, scores, attn, out]
    }

    fn line() -> Equation {
        let [q, k_t, scores, attn, out] = head();
        Equation::of(Cells::new("Q", &q).rows(&["river", "banks"]).of_head(0).lit(1))
            .times(Cells::new("Kᵀ", &k_t).columns(&["river", "banks"]).of_head(0))
            .over("2", 2.0)
            .equals(Cells::new("scores", &scores).lit(1))
            .becomes("softmax", Cells::new("attn", &attn).attn().lit(1))
            .times(Cells::new("V", &q).of_heads(1))
            .equals(Cells::new("out", &out))
    }

    #[test]
    fn a_head_in_a_line() {
        let figure = equations("A head", &[line()]).unwrap();
        let [wide, narrow] = figure.drawings().unwrap();
        for drawing in [wide, narrow] {
            let score = "data-key=\"0.2.1\" data-of=\"scores\" data-left=\"0.0.1\" \
                         data-right=\"0.1.0 0.1.1\" data-over=\"2\"";
            assert!(drawing.contains(score), "{drawing}");
            let out = "data-left=\"0.3.0\" data-right=\"0.4.0 0.4.1\"";
            assert!(drawing.contains(out), "{drawing}");
        }
        assert_diagram!(figure);
    }

    #[test]
    fn a_line_that_is_not_true_is_refused() {
        let [q, k_t, scores, ..] = head();
        let wrong = Equation::of(Cells::new("Q", &q))
            .times(Cells::new("Kᵀ", &k_t))
            .equals(Cells::new("scores", &scores));
        let refused = |line| equations("", &[line]).unwrap_err();
        insta::assert_snapshot!(refused(wrong), @"entry (1, 0) of scores is 1, expected 2");
        let unfit = Equation::of(Cells::new("Q", &q))
            .times(Cells::new("v", &Matrix::zeros(3, 1)));
        insta::assert_snapshot!(refused(unfit), @"v has shape (3, 1), expected (2, 1)");
        let named = Cells::new("Q", &q).rows(&["river"]);
        insta::assert_snapshot!(refused(Equation::of(named)), @"the names of Q's rows has 1 entries, expected 2");
        let lit = Cells::new("Q", &q).lit(2);
        insta::assert_snapshot!(refused(Equation::of(lit)), @"there are 2 rows, 0 to 1: row 2 does not exist");
    }
}
