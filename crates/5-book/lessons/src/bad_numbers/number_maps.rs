//! Matrices in which an entry may be NaN or infinite, with such cells marked.

use attention::Matrix;
use figures::{Chart, Figure, Mark, Result, Table, by_cell, entry, palette, significant};

/// Named matrices of one shape whose entries are written into the cells. In each, the
/// larger an entry beside the others, the stronger its cell, blue above 0 and purple below;
/// an entry below −5,000 fills a blocked score, and has an empty one. NaN and +∞ are marked
/// in another colour.
///
/// # Shapes
/// Each matrix is `[rows.len(), columns.len()]`.
pub(super) fn figure(
    title: String,
    rows: &[String],
    columns: &[String],
    named: &[(&str, &Matrix)],
) -> Result<Figure> {
    let names: Vec<String> = named.iter().map(|(name, _)| (*name).to_owned()).collect();
    let table = |(name, entries): &(&str, &Matrix)| {
        Table::grid(*name, "", rows, columns, |i, j| written(entries[(i, j)]))
    };
    let counts: Vec<String> =
        named.iter().map(|(name, entries)| counted(name, entries)).collect();
    let marks = named.iter().enumerate();
    Chart::grid(title, &names, rows, columns)
        .marks(marks.flat_map(|(nth, (name, entries))| marks_of(nth, name, entries)))
        .tables(named.iter().map(table))
        .captioned()
        .says(format!("Maps of numbers. {}.", counts.join(". ")))
        .figure()
}

/// What fills a blocked score lies below it.
const FILL: f64 = -5e3;
/// Of the marked cells.
const MARK: usize = 1;

/// Whether an entry is what nobody wants.
fn is_bad(entry: f64) -> bool {
    entry.is_nan() || entry == f64::INFINITY
}

/// What colours a cell; nothing for what is not finite or fills.
fn seen(entry: f64) -> f64 {
    if entry.is_finite() && entry > FILL { entry } else { 0.0 }
}

/// The entries and, over them, the marks of the `nth` panel.
pub(super) fn marks_of(nth: usize, name: &str, entries: &Matrix) -> [Mark; 2] {
    let shape = entries.shape();
    let most = entries.iter().map(|&entry| seen(entry).abs()).fold(0.0, f64::max);
    // The strongest colour stays one on which a number is read.
    let most = if most == 0.0 { 1.0 } else { significant(1.5 * most) };
    let cells = |bad: bool, value: &dyn Fn(f64) -> f64, scale| {
        let of = |i, j| Some(entries[(i, j)]).filter(|&entry| is_bad(entry) == bad);
        Mark::cells(by_cell(shape, |i, j| of(i, j).map(value)), 1)
            .on(nth)
            .with_gaps()
            .named(name)
            .scaled(scale, [-most, most])
            .tells("{row} → {column}: {text}")
            .lettered(by_cell(shape, |i, j| of(i, j).map_or(String::new(), written)))
    };
    let marked = vec![(0.0, palette::head(MARK)), (1.0, palette::head(MARK))];
    [
        cells(false, &|it| significant(seen(it)), palette::signs())
            .text_colour("currentColor"),
        cells(true, &|_| 0.0, marked),
    ]
}

/// `0.25`, `−1e9`, `NaN`, `−∞`.
pub(super) fn written(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "−∞".to_owned(),
        _ => entry(number).replacen('-', "−", 1),
    }
}

/// How many entries are no numbers, by kind.
pub(super) fn counted(name: &str, entries: &Matrix) -> String {
    let n = entries.len();
    let counts = ["NaN", "∞", "−∞"].map(|kind| {
        (kind, entries.iter().filter(|entry| written(**entry) == kind).count())
    });
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> =
        counts.map(|(kind, count)| format!("{kind} in {count} of {n} cells")).collect();
    let counts = if counts.is_empty() { "all finite".into() } else { counts.join(", ") };
    format!("{name}: {counts}")
}
