//! Where the matrices and signs of a line stand, in as many rows as it takes.

use super::super::BESIDE;
use super::super::canvas::Rect;
use super::super::markup::width;
use super::{Cells, Equation};

/// An entry's room: on a wide page, and where there is less.
const CELLS: [f64; 2] = [44.0, 36.0];
const HIGH: f64 = 26.0;
/// Letters of names and entries, and of signs.
pub(super) const LETTERS: f64 = 12.5;
pub(super) const SIGN: f64 = 15.0;
/// Room beside a sign, and between names and their matrix.
const GAP: f64 = 7.0;
/// Room below a matrix, for its name and its shape.
const NAMES: f64 = 38.0;
/// Between one row and the next.
const APART: f64 = 10.0;

/// A matrix in its place, or a sign alone.
pub(super) struct Placed<'a> {
    pub(super) sign: String,
    /// The middle of the sign.
    pub(super) sign_at: [f64; 2],
    pub(super) cells: Option<(&'a Cells, Rect)>,
}

/// Whether its columns' names are wider than its columns.
pub(super) fn is_upright(cells: &Cells, cell: f64) -> bool {
    cells.columns.iter().any(|name| width(name, LETTERS) > cell - 4.0)
}

/// How high the names over its columns are.
fn above(cells: &Cells, cell: f64) -> f64 {
    let widest = cells.columns.iter().map(|name| width(name, LETTERS));
    match (cells.columns.is_empty(), is_upright(cells, cell)) {
        (true, _) => 0.0,
        (false, false) => 16.0,
        (false, true) => widest.fold(0.0, f64::max) + 6.0,
    }
}

/// A sign and its matrix, before they have a place.
struct Unit<'a> {
    sign: String,
    sign_width: f64,
    names: f64,
    cells: Option<&'a Cells>,
    cell: f64,
}

impl<'a> Unit<'a> {
    fn new(sign: String, cells: Option<&'a Cells>, most: f64) -> Self {
        let sign_width = match sign.as_str() {
            "" => 0.0,
            sign => width(sign, SIGN) + 2.0 * GAP,
        };
        let rows = cells.map_or(&[][..], |cells| &cells.rows);
        let names = rows.iter().map(|name| width(name, LETTERS) + GAP);
        let names = names.fold(0.0, f64::max);
        let n_columns = cells.map_or(1, |cells| cells.entries.ncols()) as f64;
        let widest = CELLS[usize::from(most < BESIDE)];
        let cell = ((most - sign_width - names - 2.0) / n_columns).min(widest);
        Self { sign, sign_width, names, cells, cell }
    }

    fn width(&self) -> f64 {
        let n_columns = self.cells.map_or(0, |cells| cells.entries.ncols());
        self.sign_width + self.names + n_columns as f64 * self.cell
    }

    fn height(&self) -> f64 {
        self.cells.map_or(HIGH, |cells| cells.entries.nrows() as f64 * HIGH)
    }

    fn above(&self) -> f64 {
        self.cells.map_or(0.0, |cells| above(cells, self.cell))
    }

    /// From here on, with its middle at this height.
    fn placed(self, x: f64, middle: f64) -> Placed<'a> {
        let (w, h) = (self.width() - self.sign_width - self.names, self.height());
        let x_cells = x + self.sign_width + self.names;
        let rect = Rect { x: x_cells, y: middle - h / 2.0, w, h };
        Placed {
            sign: self.sign,
            sign_at: [x + self.sign_width / 2.0, middle],
            cells: self.cells.map(|cells| (cells, rect)),
        }
    }
}

/// The units of a line, in rows that are no wider than this.
fn rows(line: &Equation, most: f64) -> Vec<Vec<Unit<'_>>> {
    let first = Unit::new(String::new(), Some(&line.first), most);
    let steps = line.steps.iter();
    let steps = steps.map(|step| Unit::new(step.sign(), step.cells(), most));
    let mut rows: Vec<Vec<Unit>> = vec![Vec::new()];
    for unit in std::iter::once(first).chain(steps) {
        let last = rows.last().map_or(&[][..], Vec::as_slice);
        let taken: f64 = last.iter().map(Unit::width).sum();
        if taken > 0.0 && taken + unit.width() > most {
            rows.push(Vec::new());
        }
        rows.last_mut().expect("a first row").push(unit);
    }
    rows
}

/// A line's matrices and signs from this height on, and the height where it ends.
pub(super) fn placed(line: &Equation, most: f64, top: f64) -> (Vec<Placed<'_>>, f64) {
    let mut placed = Vec::new();
    let mut top = top;
    for row in rows(line, most) {
        let widths: f64 = row.iter().map(Unit::width).sum();
        let highest = row.iter().map(Unit::height).fold(0.0, f64::max);
        // Names stand over a matrix that may be lower than the highest one.
        let over = |unit: &Unit| unit.above() - (highest - unit.height()) / 2.0;
        let over = row.iter().map(over).fold(0.0, f64::max);
        let middle = top + over + highest / 2.0;
        let mut x = (most - widths) / 2.0;
        for unit in row {
            let width = unit.width();
            placed.push(unit.placed(x, middle));
            x += width;
        }
        top += over + highest + NAMES + APART;
    }
    (placed, top)
}
