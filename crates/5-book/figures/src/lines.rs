//! Named lines over an axis, in one or two panels: what grows, falls or swings.

use crate::axis::Axis;
use crate::chart::{Chart, legend_room};
use crate::defaults::number;
use crate::layout::{ends, formula};
use crate::marks::{DASHES, Mark};
use crate::panels::Panel;
use crate::{Error, Figure, Result, escaped, log_axis, palette};

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

/// The panels, side by side where there is room.
///
/// # Errors
/// [`Error::Sizes`] for no panels, no lines or a line without points; [`Error::TooMany`]
/// above 2 panels or 6 lines; as [`Chart::figure`] for a coordinate that is not finite, or
/// not above 0 on a logarithmic axis.
pub fn lines(title: impl Into<String>, panels: &[Lines]) -> Result<Figure> {
    Error::expect_count("the number of panels", panels.len(), 2)?;
    for panel in panels {
        Error::expect_count("the number of lines", panel.lines.len(), 6)?;
        for (_, points) in &panel.lines {
            attention::Error::expect_positive("the number of points", points.len())?;
        }
    }
    let names = names(panels);
    let chart = Chart::new(title)
        .panels(panels.iter().map(panel))
        .marks(marks(panels, &names))
        .columns(panels.len())
        .left(44.0);
    let chart = match names.len() {
        1 => chart,
        _ => chart.above(legend_room(names.iter().copied(), 14.0)),
    };
    chart.captioned().figure()
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

fn marks(panels: &[Lines], names: &[&str]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (nth, panel) in panels.iter().enumerate() {
        for (name, points) in &panel.lines {
            let which = names.iter().position(|known| known == name).unwrap_or(0);
            let is_first = panels[..nth]
                .iter()
                .all(|before| before.lines.iter().all(|(known, _)| known != name));
            let description = points.iter().map(|[x, y]| {
                let place = format!("{} {}", panel.x, number(*x));
                format!("{}, {}<br>{}", formula(name), escaped(&place), number(*y))
            });
            let mark = Mark::curve(points)
                .on(nth)
                .called(name)
                .of_group(name, is_first)
                .line(palette::head(which), 2.5)
                .dashed(DASHES[which % DASHES.len()])
                .hover(description);
            marks.push(mark);
        }
    }
    marks
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
        insta::assert_snapshot!(refused(true, &[0.0]), @"y of “a” is 0, expected above 0");
        insta::assert_snapshot!(refused(false, &[f64::NAN]), @"y of “a” is NaN, expected a number");
    }
}
