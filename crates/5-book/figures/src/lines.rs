//! Named lines over an axis, in one or two panels: what grows, falls or swings.

use crate::axis::Axis;
use crate::chart::{Chart, Text, above_for};
use crate::layout::{ends, formula, rounded, significant};
use crate::panels::Panel;
use crate::trace::{DASHES, Trace};
use crate::{Error, Figure, Result, Table, escaped, log_axis, palette};

/// One panel of lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// What the lines show: `similarity`.
    pub title: String,
    /// What x is.
    pub x: String,
    /// Whether each step of the axis is a factor.
    pub is_log: bool,
    /// The lines, each a name and its points, x rising. Lines of one name in two panels
    /// are drawn alike.
    pub lines: Vec<(String, Vec<[f64; 2]>)>,
}

/// How many places of a line the tables show, about.
const SHOWN: usize = 8;

/// The panels, side by side where there is room.
///
/// # Errors
/// [`Error::Sizes`] for no panels, no lines or a line without points; [`Error::TooMany`]
/// above 2 panels, 6 lines or 600 points; [`Error::Number`] for a coordinate that is not
/// finite, or not above 0 on a logarithmic axis.
pub fn lines(title: impl Into<String>, panels: &[Lines]) -> Result<Figure> {
    check(panels)?;
    let text = Text::of_captioned(told(panels), panels.iter().map(table).collect());
    Ok(chart(panels).figure(title, text))
}

fn check(panels: &[Lines]) -> Result<()> {
    Error::expect_count("the number of panels", panels.len(), 2)?;
    for panel in panels {
        Error::expect_count("the number of lines", panel.lines.len(), 6)?;
        for (name, points) in &panel.lines {
            Error::expect_count("the number of points", points.len(), 600)?;
            for &[x, y] in points {
                Error::expect_finite(format!("{} of {name}", panel.x), x)?;
                let what = format!("{} of {name}", panel.title);
                match panel.is_log {
                    true => Error::expect_above_zero(what, y)?,
                    false => Error::expect_finite(what, y)?,
                }
            }
        }
    }
    Ok(())
}

/// Each name once, in order.
fn names(panels: &[Lines]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in panels.iter().flat_map(|panel| &panel.lines) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn chart(panels: &[Lines]) -> Chart {
    let names = names(panels);
    Chart {
        panels: panels.iter().map(panel).collect(),
        traces: traces(panels, &names),
        n_columns: panels.len(),
        left: 44.0,
        above: match names.len() {
            1 => [0.0; 2],
            _ => above_for(names.iter().copied(), 14.0),
        },
        ..Chart::default()
    }
}

fn traces(panels: &[Lines], names: &[&str]) -> Vec<Trace> {
    let mut traces = Vec::new();
    for (nth, panel) in panels.iter().enumerate() {
        for (name, points) in &panel.lines {
            let which = names.iter().position(|known| known == name).unwrap_or(0);
            let is_first = panels[..nth]
                .iter()
                .all(|before| before.lines.iter().all(|(known, _)| known != name));
            let told = points.iter().map(|[x, y]| {
                let place = format!("{} {}", panel.x, written(*x));
                format!("{}, {}<br>{}", formula(name), escaped(&place), written(*y))
            });
            let each = |at: usize| points.iter().map(move |point| drawn(point[at]));
            let trace = Trace::lines(each(0), each(1))
                .on(nth)
                .with("name", formula(name))
                .of_group(name, is_first)
                .line(palette::head(which), 2.5)
                .dashed(DASHES[which % DASHES.len()])
                .told(told);
            traces.push(trace);
        }
    }
    traces
}

/// Large and small numbers with four digits, others with four decimals.
fn drawn(number: f64) -> f64 {
    match number.abs() {
        0.1..1e4 => rounded(number),
        _ => significant(number),
    }
}

fn panel(panel: &Lines) -> Panel {
    let each = |at: usize| {
        let points = panel.lines.iter().flat_map(|(_, points)| points);
        ends(points.map(move |point| point[at]))
    };
    let ([from, to], [least, most]) = (each(0), each(1));
    let x = Axis::between([from, if from < to { to } else { from + 1.0 }]);
    let y = match panel.is_log {
        true => Axis::decades([least, most], log_axis::power_of_ten),
        false => {
            let [least, most] = [least.min(0.0), most.max(0.0)];
            let room = if least < most { 0.05 * (most - least) } else { 1.0 };
            let bottom = if least < 0.0 { least - room } else { 0.0 };
            Axis::between([bottom, most + room])
        }
    };
    Panel::new(panel.title.clone(), x.titled(&panel.x), y, 230.0)
}

/// To three decimals; by a power of ten where that says too little.
fn written(number: f64) -> String {
    let written = match number.abs() {
        0.0 => "0".to_owned(),
        1e-2..1e4 => ((number * 1e3).round() / 1e3 + 0.0).to_string(),
        _ => format!("{number:.1e}"),
    };
    written.replace('-', "−")
}

/// Some of the places of the longest line, the first and the last among them.
fn table(panel: &Lines) -> Table {
    let longest = panel.lines.iter().map(|(_, points)| points);
    let longest =
        longest.max_by_key(|points| points.len()).map_or(&[][..], Vec::as_slice);
    let last = longest.len().saturating_sub(1);
    let mut places: Vec<usize> =
        (0..=SHOWN).map(|nth| (last * nth + SHOWN / 2) / SHOWN).collect();
    places.dedup();
    let cell = |row: usize, at: usize| {
        let (x, points) = (longest[places[row]][0], &panel.lines[at].1);
        let found = points.iter().find(|point| point[0] == x);
        found.map_or("–".to_owned(), |point| written(point[1]))
    };
    let rows: Vec<String> = places.iter().map(|&at| written(longest[at][0])).collect();
    let names: Vec<String> = panel.lines.iter().map(|(name, _)| name.clone()).collect();
    Table::grid(panel.title.clone(), &panel.x, &rows, &names, cell)
}

fn told(panels: &[Lines]) -> String {
    let line = |(name, points): &(String, Vec<[f64; 2]>)| {
        let [first, last] = [points[0], points[points.len() - 1]].map(|p| written(p[1]));
        format!("{name} goes from {first} to {last}")
    };
    let panel = |panel: &Lines| {
        let scale = if panel.is_log { ", on a logarithmic axis" } else { "" };
        let lines: Vec<String> = panel.lines.iter().map(line).collect();
        format!("{} against {}{scale}: {}.", panel.title, panel.x, lines.join("; "))
    };
    panels.iter().map(panel).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn panel(title: &str, is_log: bool, lines: &[(&str, &[f64])]) -> Lines {
        let points = |ys: &[f64]| {
            ys.iter().enumerate().map(|(x, &y)| [x as f64, y]).collect::<Vec<_>>()
        };
        let lines = lines.iter().map(|(name, ys)| ((*name).to_owned(), points(ys)));
        Lines {
            title: title.to_owned(),
            x: "block".to_owned(),
            is_log,
            lines: lines.collect(),
        }
    }

    #[test]
    fn two_lines_in_two_panels() {
        let panels = [
            panel(
                "size",
                false,
                &[("with", &[1.0, 1.5, 2.0]), ("without", &[1.0, -0.5])],
            ),
            panel(
                "gradient",
                true,
                &[("with", &[1.0, 0.9, 0.8]), ("without", &[1.0, 3e-9])],
            ),
        ];
        assert_figure!(lines("With it nothing is lost", &panels).unwrap());
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let refused = |is_log, y: &[f64]| {
            lines("", &[panel("size", is_log, &[("a", y)])]).unwrap_err()
        };
        insta::assert_snapshot!(lines("", &[]).unwrap_err(), @"the number of panels is 0, and must be at least 1");
        insta::assert_snapshot!(refused(false, &[]), @"the number of points is 0, and must be at least 1");
        insta::assert_snapshot!(refused(true, &[0.0]), @"size of a is 0, expected above 0");
        insta::assert_snapshot!(refused(false, &[f64::NAN]), @"size of a is NaN, expected a number");
    }
}
