//! Bars of two or three series beside one another, and a map with a ring in each row.

use anyhow::Result;
use attention::Matrix;
use figures::{
    Axis, Chart, Figure, Grouping, Mark, Panel, escaped, legend_room, palette, rounded,
    share_map,
};

const FONT_SIZE: usize = 12;

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
