//! The names of tokens along a map, in columns one behind the other where it has many.

use model_files::shown;

use super::SMALL;
use super::pen::Pen;

/// Further columns would take more room than the map.
pub(super) const MOST_COLUMNS: usize = 3;
/// Letters of a name that are printed, and how wide one is on average, in its size, of the
/// widest font.
const MOST_LETTERS: usize = 10;
const LETTER: f64 = 0.63;
/// From one column of names to the next, and to the map.
const SPACE: f64 = 2.0;

/// The names of one side.
pub(super) struct Labels {
    names: Vec<String>,
    n_columns: usize,
    /// Of the longest name, in points.
    width: f64,
}

impl Labels {
    pub(super) fn new(pieces: &[String], n_columns: usize) -> Self {
        let name = |piece: &String| {
            let name = shown(piece);
            match name.chars().nth(MOST_LETTERS) {
                Some(_) => name.chars().take(MOST_LETTERS - 1).chain(['…']).collect(),
                None => name,
            }
        };
        let names: Vec<String> = pieces.iter().map(name).collect();
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        Self { names, n_columns, width: longest as f64 * LETTER * SMALL + SPACE }
    }

    /// How much they take from the map.
    pub(super) fn room(&self) -> f64 {
        self.width * self.n_columns as f64
    }

    /// Whether every name has room beside cells of this size.
    pub(super) fn fit(&self, cell: f64) -> bool {
        self.every(cell) == 1
    }

    /// One name in how many is printed.
    pub(super) fn every(&self, cell: f64) -> usize {
        let needed = SMALL * 1.05 / (cell * self.n_columns as f64);
        (needed.ceil() as usize).max(1)
    }

    /// To the left of the map, a name per row.
    pub(super) fn down(&self, pen: &mut Pen, [left, top]: [f64; 2], cell: f64) {
        for (at, column, name) in self.placed(cell) {
            let [x, y] = [left - SPACE / 2.0 - column, top + (at + 0.5) * cell];
            if column > 0.0 {
                pen.lead([x, y], [left, y]);
            }
            pen.text([x - SPACE / 2.0, y + SMALL * 0.33], SMALL, "end", name);
        }
    }

    /// Above the map, a name per column, which reads upwards.
    pub(super) fn across(&self, pen: &mut Pen, [left, top]: [f64; 2], cell: f64) {
        for (at, column, name) in self.placed(cell) {
            let [x, y] = [left + (at + 0.5) * cell, top - SPACE / 2.0 - column];
            if column > 0.0 {
                pen.lead([x, y], [x, top]);
            }
            pen.upward([x + SMALL * 0.33, y - SPACE / 2.0], SMALL, name);
        }
    }

    /// Each name that is printed, at which cell, and how far from the map.
    fn placed(&self, cell: f64) -> impl Iterator<Item = (f64, f64, &str)> {
        let every = self.every(cell);
        self.names.iter().enumerate().step_by(every).enumerate().map(
            move |(nth, (at, name))| {
                let column = (nth % self.n_columns) as f64 * self.width;
                (at as f64, column, name.as_str())
            },
        )
    }
}
