//! Maps of one shape in a grid: rows down, columns across, all cells of one size.

use crate::axis::Axis;
use crate::layout::label_width;
use crate::panels::{self, GAP, NARROW, Panel, Place, WIDE};
use crate::spec::Layout;

/// Maps of the same rows and columns.
pub(crate) struct Grid<'a> {
    /// One a map.
    pub(crate) names: Vec<String>,
    pub(crate) rows: &'a [String],
    pub(crate) columns: &'a [String],
    /// Room over all maps, in pixels.
    pub(crate) above: f64,
}

/// What cells can be, in pixels.
struct Cells {
    width: f64,
    most_columns: usize,
    /// No cell is narrower, if fewer columns can help it.
    least: f64,
    font_size: usize,
}

/// Where there is room, and on a phone.
const CELLS: [Cells; 2] = [
    Cells { width: WIDE, most_columns: 4, least: 12.5, font_size: 11 },
    Cells { width: NARROW, most_columns: 2, least: 8.0, font_size: 9 },
];

const WIDEST_CELL: f64 = 36.0;

/// Of a map, as far as its names have room: with what stands around it, it fits a screen.
const TALLEST: f64 = 480.0;

impl<'a> Grid<'a> {
    /// The layouts of a single map, which needs no name above it.
    pub(crate) fn single(rows: &'a [String], columns: &'a [String]) -> [Layout; 2] {
        let grid = Self { names: vec![String::new()], rows, columns, above: 0.0 };
        grid.layouts().map(|mut layout| {
            layout.labels.clear();
            layout
        })
    }

    /// The layouts where there is room, at most four maps in a row, and on a phone, two.
    pub(crate) fn layouts(&self) -> [Layout; 2] {
        CELLS.map(|cells| self.layout(&cells))
    }

    fn layout(&self, cells: &Cells) -> Layout {
        let (n_rows, n_columns) = (self.rows.len() as f64, self.columns.len() as f64);
        let left = label_width(self.rows, cells.font_size);
        let below = label_width(self.columns, cells.font_size);
        let width = cells.width - left - GAP;

        let fitting = ((width + GAP) / (n_columns * cells.least + GAP)) as usize;
        let fitting = fitting.clamp(1, cells.most_columns);
        let in_rows = self.names.len().div_ceil(fitting);
        let place = Place {
            width: cells.width,
            n_columns: self.names.len().div_ceil(in_rows), // no row nearly empty
            left,
            left_once: true,
            below,
            above: self.above,
        };
        let map_width = place.column().min(n_columns * WIDEST_CELL);
        let least = cells.font_size as f64 + 1.0;
        let cell_height =
            (map_width / n_columns).clamp(least, (TALLEST / n_rows).clamp(least, 26.0));
        let panel = |(nth, name): (usize, &String)| Panel {
            title: name.clone(),
            x: Axis::across(self.columns, cells.font_size).upright(),
            y: Axis::down(self.rows, cells.font_size)
                .labelled(nth.is_multiple_of(place.n_columns)),
            width: Some(map_width),
            height: n_rows * cell_height,
            is_whole: false,
        };
        panels::layout(self.names.iter().enumerate().map(panel).collect(), &place)
    }
}
