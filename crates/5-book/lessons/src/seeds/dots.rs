//! Dots in named rows: one training each.

use anyhow::Result;
use figures::{
    Axis, Chart, Figure, Grouping, Mark, Panel, Place, Table, WIDE, label_width,
    legend_room, log_axis, palette, rounded,
};

use crate::numbers::{brief, ends};

const FONT_SIZE: usize = 12;
/// From the first dot of a series in a row to its last, as a part of the row.
const SPREAD: f64 = 0.8;
/// How series are told apart without their colours.
const SYMBOLS: [&str; 4] = ["circle", "diamond", "square", "triangle-up"];

/// A panel: the numbers of several trainings in each row.
pub struct DotPanel {
    /// Stands over it.
    pub title: &'static str,
    /// From left to right.
    pub ends: [f64; 2],
    /// Whether each step is a factor; the ends are powers of ten then.
    pub is_log: bool,
    /// Whether they are parts of a whole, drawn as bars: one number a row.
    pub are_parts: bool,
    /// What the numbers are of, and the numbers, row by row. Series of one place are drawn
    /// alike in all panels.
    pub series: Vec<(&'static str, Vec<Vec<f64>>)>,
}

impl DotPanel {
    /// Percent, from 0 to 100, of parts of 1.
    pub fn percent(
        title: &'static str,
        series: impl IntoIterator<Item = (&'static str, Vec<Vec<f64>>)>,
    ) -> Self {
        let series = series.into_iter().map(|(name, mut rows)| {
            rows.iter_mut().flatten().for_each(|part| *part = rounded(*part * 100.0));
            (name, rows)
        });
        let (ends, series) = ([0.0, 106.0], series.collect());
        Self { title, ends, is_log: false, are_parts: false, series }
    }

    fn axes(&self, rows: &[String], is_labelled: bool, height: f64) -> Panel {
        let x = match self.is_log {
            true => Axis::decades(self.ends, log_axis::power_of_ten),
            false => Axis::between(self.ends),
        };
        let y = Axis::down(rows, FONT_SIZE).labelled(is_labelled);
        Panel::new(self.title, x, y, height * rows.len() as f64)
    }

    /// The same as bars that add up.
    pub fn parts(self) -> Self {
        Self { are_parts: true, ..self }
    }

    /// On the `panel`-th, with a rule between each two rows. The legend has the `listed` names.
    fn marks(&self, panel: usize, listed: &[&str]) -> Vec<Mark> {
        let (n_series, [from, to]) = (self.series.len(), self.ends);
        let n_rows = self.series.first().map_or(0, |(_, rows)| rows.len());
        let rules = (1..n_rows).map(|row| row as f64 - 0.5);
        let rules = rules.map(|y| Mark::rule([[from, y], [to, y]]).opacity(0.5));
        let mark = |(nth, (name, rows)): (usize, &(&'static str, Vec<Vec<f64>>))| {
            let mark = match self.are_parts {
                true => Mark::lying_bars(rows.iter().map(|row| row[0])),
                false => {
                    let (x, y): (Vec<f64>, Vec<f64>) =
                        places(rows, nth, n_series).into_iter().unzip();
                    Mark::points(x, y).marked(SYMBOLS[nth % SYMBOLS.len()], 7)
                }
            };
            let told = rows.iter().flatten().map(|x| format!("{name}: {}", brief(*x)));
            mark.named(name)
                .of_group(*name, listed.contains(name))
                .coloured(palette::beside_wrong(nth))
                .mark_opacity(0.8)
                .hover(told)
                .unclipped()
        };
        let each = rules.chain(self.series.iter().enumerate().map(mark));
        each.map(|mark| mark.on(panel)).collect()
    }

    fn table(&self, rows: &[String]) -> Table {
        let names: Vec<String> =
            self.series.iter().map(|(name, _)| (*name).to_owned()).collect();
        let cell = |row: usize, nth: usize| range(&self.series[nth].1[row]);
        Table::grid(self.title, "", rows, &names, cell)
    }

    fn sentence(&self, rows: &[String]) -> String {
        let of_row = |(at, row): (usize, &String)| {
            let each = self.series.iter().filter(|(_, all)| !all[at].is_empty());
            let each = each.map(|(name, all)| format!("{name} {}", range(&all[at])));
            format!("{row}: {}", each.collect::<Vec<_>>().join(", "))
        };
        let each: Vec<String> = rows.iter().enumerate().map(of_row).collect();
        format!("{}: {}.", self.title, each.join("; "))
    }
}

/// `0.3`, `0.1 to 0.4`, and of nothing `–`.
fn range(numbers: &[f64]) -> String {
    if numbers.is_empty() {
        return "–".to_owned();
    }
    let [least, _, most] = ends(numbers.iter().copied()).map(brief);
    if least == most { least } else { format!("{least} to {most}") }
}

/// The dots of a series, one under the other within their row.
fn places(rows: &[Vec<f64>], nth: usize, n_series: usize) -> Vec<(f64, f64)> {
    let at = |row: usize, k: usize, n: usize| {
        let within = (nth as f64 + (k as f64 + 0.5) / n as f64) / n_series as f64;
        row as f64 + SPREAD * (within - 0.5)
    };
    let of_row = |(row, numbers): (usize, &Vec<f64>)| {
        let n = numbers.len();
        let each = numbers.iter().enumerate();
        each.map(|(k, &x)| (x, at(row, k, n))).collect::<Vec<_>>()
    };
    rows.iter().enumerate().flat_map(of_row).collect()
}

/// Panels side by side where there is room, each with the same rows, `height` pixels high.
///
/// # Errors
/// A number that is none, or that is not above 0 on a logarithmic axis.
pub fn dots(
    title: impl Into<String>,
    rows: &[String],
    height: f64,
    panels: &[DotPanel],
) -> Result<Figure> {
    let mut listed: Vec<Vec<&str>> = Vec::new();
    for panel in panels {
        let names = panel.series.iter().map(|(name, _)| *name);
        let is_new = |name: &&str| !listed.iter().flatten().any(|known| known == name);
        listed.push(names.filter(is_new).collect());
    }
    let all = listed.iter().flatten().copied();
    let room = if listed.concat().len() > 1 { legend_room(all, 14.0) } else { [0.0; 2] };
    let chart =
        Chart::new(title).bar_gap(0.3).grouped(Grouping::Stacked).by_width(|width| {
            let is_wide = width == WIDE;
            let axes = panels.iter().enumerate();
            let axes = axes.map(|(nth, it)| it.axes(rows, nth == 0 || !is_wide, height));
            let place = Place {
                width,
                n_columns: if is_wide { panels.len() } else { 1 },
                left: label_width(rows, FONT_SIZE),
                left_once: true,
                below: 20.0,
                above: room[usize::from(!is_wide)],
            };
            (axes.collect(), place)
        });
    let marks = panels.iter().zip(&listed).enumerate();
    let marks = marks.flat_map(|(nth, (panel, listed))| panel.marks(nth, listed));
    let said: Vec<String> = panels.iter().map(|panel| panel.sentence(rows)).collect();
    let figure = chart
        .marks(marks)
        .captioned()
        .tables(panels.iter().map(|panel| panel.table(rows)))
        .says(said.join(" "));
    Ok(figure.figure()?)
}
