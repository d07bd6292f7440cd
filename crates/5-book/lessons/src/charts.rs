//! Charts that several lessons draw: a dot for each training, in place of a table of least and
//! most, and bars of two or three series beside one another.

use anyhow::Result;
use attention::{Matrix, median};
use figures::{
    Axis, Chart, Figure, Grouping, Mark, NEUTRAL, Panel, Table, all_rounded, escaped,
    label_width, legend_room, palette, rounded, share_map,
};

use crate::numbers::{ends, written};

const FONT_SIZE: usize = 12;

/// Rows of dots under one another, each with a bar at its median, over an axis of `what` they
/// measure; and lines across all rows, as what is counted beside what is learned.
pub(crate) fn dots(
    title: impl Into<String>,
    what: &str,
    rows: &[(&str, Vec<f64>)],
    levels: &[(&str, f64)],
) -> Result<Figure> {
    let names: Vec<String> = rows.iter().map(|(name, _)| (*name).to_owned()).collect();
    let all = rows.iter().flat_map(|(_, numbers)| numbers).copied();
    let [least, _, most] = ends(all.chain(levels.iter().map(|level| level.1)));
    let room = 0.06 * (most - least);
    let (n, top) = (rows.len() as f64, if levels.is_empty() { -0.5 } else { -1.1 });
    let x = Axis::between([least - room, most + room]);
    let y = Axis::names(&names, FONT_SIZE).range([n - 0.5, top]);
    let marks = rows.iter().zip(0..).flat_map(|((name, numbers), at)| {
        let heights = (0..numbers.len()).map(|nth| f64::from(at) + nudged(nth));
        let told = |x: &f64| format!("{}: {}", escaped(name), written(*x, 3));
        let dots = Mark::points(all_rounded(numbers), heights.collect::<Vec<_>>())
            .marked("circle", 7)
            .coloured(palette::head(0))
            .mark_opacity(0.5)
            .hover(numbers.iter().map(told));
        let middle = rounded(median(numbers.iter().copied()));
        let at = f64::from(at);
        let bar = Mark::lines([middle; 2], [at - 0.34, at + 0.34]).line(NEUTRAL, 2.0);
        [dots, bar.silent()]
    });
    let lines = levels.iter().flat_map(|&(name, level)| {
        let name =
            Mark::texts([rounded(level)], [top + 0.25], [name]).placed("middle center");
        let name = name.text_size(11).text_colour(NEUTRAL).silent();
        [Mark::rule([[level, top + 0.5], [level, n - 0.5]]), name]
    });
    Ok(Chart::new(title)
        .left(label_width(&names, FONT_SIZE))
        .panel(
            Panel::new(what, x, y, 30.0 * (n - 0.5 - top)),
            lines.chain(marks).map(|mark| mark.in_legend(false)),
        )
        .tables([table(what, rows, levels)])
        .says(sentence(what, rows))
        .figure()?)
}

/// From row to row of dots, so that equal numbers are seen beside one another.
fn nudged(nth: usize) -> f64 {
    0.11 * ((nth * 2 % 5) as f64 - 2.0)
}

fn table(what: &str, rows: &[(&str, Vec<f64>)], levels: &[(&str, f64)]) -> Table {
    let row = |(name, numbers): &(&str, Vec<f64>)| {
        let [least, middle, most] = ends(numbers.iter().copied()).map(|x| written(x, 3));
        [(*name).to_owned(), numbers.len().to_string(), least, middle, most]
    };
    let level = |&(name, level): &(&str, f64)| {
        [name.to_owned(), "–".into(), "–".into(), written(level, 3), "–".into()]
    };
    let columns = ["", "dots", "least", "median", "most"];
    Table::new(what, columns, rows.iter().map(row).chain(levels.iter().map(level)))
}

fn sentence(what: &str, rows: &[(&str, Vec<f64>)]) -> String {
    let row = |(name, numbers): &(&str, Vec<f64>)| {
        let [least, middle, most] = ends(numbers.iter().copied()).map(|x| written(x, 3));
        format!("{name}, {} dots from {least} to {most}, median {middle}", numbers.len())
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("Rows of dots, {what}: {}.", rows.join("; "))
}

/// Bars of each series at each place, beside one another, each with its number to two decimals;
/// `what` they measure stands over them.
pub(crate) fn bars(
    title: &str,
    what: &str,
    places: &[String],
    series: &[(&str, Vec<Option<f64>>)],
) -> Result<Figure> {
    let all = series.iter().flat_map(|(_, numbers)| numbers).flatten();
    let most = all.copied().fold(0.0, f64::max);
    let mark = |(nth, (name, numbers)): (usize, &(&str, Vec<Option<f64>>))| {
        let two = |x: &Option<f64>| x.map(|x| format!("{x:.2}")).unwrap_or_default();
        Mark::bars(numbers.clone())
            .with_gaps()
            .named(name)
            .coloured(palette::beside_wrong(nth))
            .written(numbers.iter().map(two), "outside")
            .text_size(11)
            .hover(numbers.iter().map(|x| format!("{}: {}", escaped(name), two(x))))
            .unclipped()
    };
    let (x, y) = (Axis::across(places, 11), Axis::numbers(1.12 * most));
    Ok(Chart::new(title)
        .below(50.0) // upright on a phone
        .above(legend_room(series.iter().map(|(name, _)| *name), 14.0))
        .grouped(Grouping::Beside)
        .bar_gap(0.25)
        .panel(Panel::new(what, x, y, 190.0), series.iter().enumerate().map(mark))
        .figure()?)
}

/// A map of probabilities, rows by `names[0]` and columns by `names[1]`, with a ring in each row
/// at the column that is right.
pub(crate) fn ringed(
    title: &str,
    what: &str,
    names: &[Vec<String>; 2],
    map: &Matrix,
    right: &[usize],
) -> Result<Figure> {
    let [rows, columns] = names;
    let cells = share_map::trace(map, rows, columns).named("probability");
    let cells = cells.scaled(palette::shares(), [0.0, rounded(map.max())]);
    let rings = Mark::points(right.to_vec(), 0..rows.len()).marked("circle-open", 13);
    let rings = rings.outlined(palette::head(5), 2.0).in_legend(false).silent();
    let (x, y) = (Axis::across(columns, 11).level(), Axis::down(rows, FONT_SIZE));
    let panel = Panel::new(what, x, y, 24.0 * rows.len() as f64);
    Ok(Chart::new(title).panel(panel, [cells, rings]).figure()?)
}
