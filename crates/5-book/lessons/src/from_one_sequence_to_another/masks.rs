//! The masks of the three maps, for one date.

use anyhow::Result;
use figures::{
    Axis, Chart, FAINT, Figure, Mark, NARROW, Panel, Place, by_cell, escaped, palette,
};
use training::dates::{N_SOURCE, N_TARGET};

use super::model::seen;
use crate::Args;

const READ: &str = "mar. 12 2031";
/// What the decoder is given: a start, and each letter but the last.
const WRITTEN: &str = "▸2031-03-1";
/// What fills the text up.
const PADDING: char = '×';
/// Of a cell, in pixels.
const CELL: f64 = 13.0;

/// Three maps, filled where a letter may be read.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let letters = |text: &str, n: usize| -> Vec<String> {
        let letters = text.chars().map(seen).chain(std::iter::repeat(PADDING));
        letters.take(n).map(String::from).collect()
    };
    let (read, written) = (letters(READ, N_SOURCE), letters(WRITTEN, N_TARGET));
    let is_text = |_, key| key < READ.len();
    type IsOpen<'a> = &'a dyn Fn(usize, usize) -> bool;
    let maps: [(&str, &[String], &[String], IsOpen); 3] = [
        ("encoder", &read, &read, &is_text),
        ("decoder", &written, &written, &|query, key| key <= query),
        ("cross-attention", &written, &read, &is_text),
    ];
    let marks = maps.iter().enumerate().map(|(nth, (name, queries, keys, is_open))| {
        let shape = (queries.len(), keys.len());
        let told = |i: usize, j: usize| {
            let may = if is_open(i, j) { "may" } else { "may not" };
            escaped(&format!("{} {may} attend to {}", queries[i], keys[j]))
        };
        Mark::cells(by_cell(shape, |i, j| u8::from(is_open(i, j))), 1)
            .on(nth)
            .named(name)
            .scaled(palette::from_nothing(FAINT), [0, 1])
            .hover(by_cell(shape, told))
            .tells("{told}")
    });
    let panels = |width: f64| {
        let panels = maps.iter().map(|(name, queries, keys, _)| {
            let [x, y] = [Axis::across(keys, 11).level(), Axis::down(queries, 11)];
            let height = queries.len() as f64 * CELL;
            let width = Some(keys.len() as f64 * CELL);
            Panel { width, ..Panel::new(*name, x, y, height) }
        });
        let n_columns = if width == NARROW { 1 } else { 3 };
        (panels.collect(), Place { width, n_columns, left: 18.0, ..Place::default() })
    };
    Ok(Chart::new("Two maps close the padding, and only the decoder’s own map is causal")
        .by_width(panels)
        .marks(marks)
        .figure()?)
}
