//! The six forms of a date, and where its parts stand in each.

use anyhow::Result;
use figures::{Axis, Chart, FAINT, Figure, Mark, Panel, by_cell, label_width, palette};
use training::dates::{Date, Form};

use super::model::seen;
use super::{LETTERS, PARTS};
use crate::Args;

const DAY: Date = Date { year: 2031, month: 3, day: 12 };

/// A row a form, a square a letter, and a colour for each part.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let part_of = |at: usize, parts: &[std::ops::Range<usize>]| {
        parts.iter().position(|part| part.contains(&at)).map_or(0, |part| part + 1)
    };
    let mut rows: Vec<(String, Vec<usize>)> = Form::ALL
        .map(|form| form.write(DAY))
        .map(|date| {
            let parts = (0..date.text.len()).map(|at| part_of(at, &date.parts)).collect();
            (date.text, parts)
        })
        .to_vec();
    rows.push((
        DAY.iso(),
        (0..LETTERS.len()).map(|at| part_of(at, &[0..4, 5..7, 8..10])).collect(),
    ));
    let mut names = vec!["read".to_owned()];
    names.resize(Form::ALL.len(), String::new());
    names.push("written".to_owned());
    let n = rows.iter().map(|(text, _)| text.len()).max().unwrap_or(0);
    let shape = (rows.len(), n);
    let letter = |i: usize, j: usize| rows[i].0.chars().nth(j).map(seen);
    let told = |i: usize, j: usize| {
        let part = rows[i].1.get(j).filter(|&&part| part > 0);
        part.map_or(String::new(), |part| format!("a letter of the {}", PARTS[part - 1]))
    };
    let hues = [FAINT, palette::head(0), palette::head(4), palette::head(5)];
    let hues =
        hues.into_iter().enumerate().map(|(nth, hue)| (nth as f64 / 3.0, hue)).collect();
    let squares = Mark::cells(by_cell(shape, |i, j| rows[i].1.get(j).copied()), 2)
        .named("part")
        .scaled(hues, [0, 3])
        .lettered(by_cell(shape, |i, j| {
            letter(i, j).map(String::from).unwrap_or_default()
        }))
        .text_size(14)
        .hover(by_cell(shape, told))
        .tells("{told}")
        .with_gaps();
    let x = Axis::hidden([-0.5, n as f64 - 0.5]);
    let panel = Panel::new(
        "the twelfth of March 2031 in six forms: a colour for each part",
        x,
        Axis::down(&names, 12),
        rows.len() as f64 * 30.0,
    );
    Ok(Chart::new("The positions of year, month and day depend on the form")
        .left(label_width(&names, 12))
        .below(8.0)
        .panel(panel, [squares])
        .figure()?)
}
