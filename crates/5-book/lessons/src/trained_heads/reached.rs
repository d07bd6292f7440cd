//! How many shares reach how much: one line per list, one panel per measure.

use std::iter;

use attention::median;
use figures::{
    Axis, Chart, DASHES, Figure, Mark, Panel, Result, Table, escaped, legend_room,
    palette, rounded, share,
};

/// What was measured: `share among words`.
pub(super) struct Measure {
    pub(super) name: String,
    /// The name of each list, the same in all panels, and its shares.
    pub(super) lists: Vec<(String, Vec<f64>)>,
}

/// Along the axis of shares, a point at every fiftieth.
const STEPS: usize = 50;

/// For each measure, the part of each list that reaches a share, against that share. A line
/// crosses the dotted one at its median.
pub(super) fn figure(title: &str, measures: &[Measure]) -> Result<Figure> {
    let names = measures[0].lists.iter().map(|(name, _)| name.as_str());
    let mut chart = Chart::new(title)
        .columns(measures.len())
        .left(30.0)
        .above(legend_room(names, 14.0));
    for (nth, Measure { name, lists }) in measures.iter().enumerate() {
        let x = Axis::numbers(1.0).titled("at least this much");
        let panel = Panel::new(name, x, Axis::numbers(1.02), 210.0);
        let half = Mark::rule([[0.0, 0.5], [1.0, 0.5]]);
        let lines = lists.iter().enumerate().map(|(at, (list, shares))| {
            line(list, shares)
                .of_group(list, nth == 0)
                .line(palette::head(at), 2.5)
                .dashed(DASHES[at])
        });
        chart = chart.panel(panel, iter::once(half).chain(lines));
    }
    chart.tables(measures.iter().map(table)).captioned().says(sentence(measures)).figure()
}

/// The part of the shares that are at least so large.
fn part(shares: &[f64], least: f64) -> f64 {
    let reaching = shares.iter().filter(|&&share| share >= least).count();
    reaching as f64 / shares.len() as f64
}

fn line(name: &str, shares: &[f64]) -> Mark {
    let x: Vec<f64> = (0..=STEPS).map(|at| at as f64 / STEPS as f64).collect();
    let y: Vec<f64> = x.iter().map(|&least| rounded(part(shares, least))).collect();
    let told = x
        .iter()
        .zip(&y)
        .map(|(least, part)| format!("{:.1} % reach {}", 100.0 * part, share(*least)));
    let told: Vec<String> = told.collect();
    Mark::lines(x, y)
        .named(name)
        .hover(told)
        .tells(format!("{}<br>{{told}}", escaped(name)))
}

fn table(Measure { name, lists }: &Measure) -> Table {
    let row = |(list, shares): &(String, Vec<f64>)| {
        let percent = |least: f64| format!("{:.1} %", 100.0 * part(shares, least));
        let median = share(median(shares.iter().copied()));
        [list.clone(), median, percent(1.0 / 3.0), percent(0.5)]
    };
    let columns = ["", "median", "a third or more", "a half or more"];
    Table::new(name, columns, lists.iter().map(row))
}

fn sentence(measures: &[Measure]) -> String {
    let of = |Measure { name, lists }: &Measure| {
        let one = |(list, shares): &(String, Vec<f64>)| {
            let (median, half) = (median(shares.iter().copied()), part(shares, 0.5));
            format!("{list} {}, {:.1} % reach a half", share(median), 100.0 * half)
        };
        let each: Vec<String> = lists.iter().map(one).collect();
        format!(" {name}, medians: {}.", each.join("; "))
    };
    let each: String = measures.iter().map(of).collect();
    format!("Falling lines: the part of a list that reaches a share, by share.{each}")
}
