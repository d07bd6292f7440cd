//! A curve, its tangent at one place, and how far apart the two are at another.

use crate::axis::Axis;
use crate::chart::{Chart, legend_room};
use crate::layout::{NEUTRAL, ends, rounded};
use crate::marks::Mark;
use crate::panels::Panel;
use crate::{Error, Figure, Result, Table, escaped, palette};

/// A curve with its tangent.
#[derive(Debug, Clone, Copy)]
pub struct Tangent<'a> {
    /// What x and y are: `nudge`, `loss`.
    pub axes: [&'a str; 2],
    /// The curve, x rising.
    pub curve: &'a [[f64; 2]],
    /// Where the tangent touches it.
    pub at: [f64; 2],
    /// The tangent's slope.
    pub slope: f64,
    /// The point of the curve that is compared with the tangent.
    pub reached: [f64; 2],
}

/// A curve, the tangent at one of its points, and another point of it with the tangent's
/// value there.
///
/// # Errors
/// [`Error::Sizes`] for an empty curve; [`Error::TooMany`] above 500 points;
/// [`Error::Number`] for a coordinate or a slope that is no finite number.
pub fn tangent(title: impl Into<String>, drawn: Tangent) -> Result<Figure> {
    drawn.check()?;
    let chart = Chart::new(title).panels([drawn.panel()]).marks(drawn.traces());
    drawn.told_of(chart.left_once(40.0)).figure()
}

/// The same in a row of its own of a chart that may have other panels.
///
/// # Errors
/// As [`tangent`].
pub fn tangent_on(chart: Chart, drawn: Tangent) -> Result<Chart> {
    drawn.check()?;
    Ok(drawn.told_of(chart.panel(drawn.panel().whole(), drawn.traces())))
}

/// How many points of the curve the table and the sketch show, about.
const SHOWN: usize = 6;

impl Tangent<'_> {
    fn check(&self) -> Result<()> {
        let Self { axes, curve, at, slope, reached } = self;
        Error::expect_count("the number of points", curve.len(), 500)?;
        Error::expect_finite("the slope", *slope)?;
        for point in curve.iter().chain([at, reached]) {
            for (axis, coordinate) in axes.iter().zip(point) {
                Error::expect_finite(format!("the {axis}"), *coordinate)?;
            }
        }
        Ok(())
    }

    /// With its legend, its sentence and its table.
    fn told_of(&self, chart: Chart) -> Chart {
        let names = self.names();
        chart
            .above(legend_room(names.iter().map(String::as_str), 14.0))
            .says(self.description())
            .tables([self.table()])
    }

    /// The tangent at this x.
    fn predicted(&self, x: f64) -> f64 {
        self.at[1] + self.slope * (x - self.at[0])
    }

    /// Where x begins and ends.
    fn span(&self) -> [f64; 2] {
        let all = self.curve.iter().chain([&self.at, &self.reached]);
        ends(all.map(|point| point[0]))
    }

    fn names(&self) -> [String; 2] {
        let tangent = format!("tangent, slope {}", written(self.slope));
        [self.axes[1].to_owned(), tangent]
    }

    /// The points lie on the lines, and the lines on what is between them.
    fn traces(&self) -> Vec<Mark> {
        let [curve, tangent] = self.names();
        let [x, y] = self.reached;
        let predicted = self.predicted(x);
        let ends = self.span().map(|x| [x, self.predicted(x)]);
        let [of_curve, of_tangent] = [0, 1].map(palette::head);
        let mark = |name: &str, y: f64, colour: &str| {
            let mark = self.with_hover(
                Mark::points([rounded(x)], [rounded(y)]),
                name,
                &[[x, y]],
            );
            mark.coloured(colour).sized(11).in_legend(false)
        };
        vec![
            self.trace("", &[[x, predicted], [x, y]])
                .line(NEUTRAL, 2.0)
                .dashed("dot")
                .silent()
                .in_legend(false),
            self.trace(&curve, self.curve).line(of_curve, 2.5).in_legend(true),
            self.trace(&tangent, &ends)
                .line(of_tangent, 2.5)
                .dashed("dash")
                .in_legend(true),
            mark(&tangent, predicted, of_tangent).marked("circle-open", 11),
            mark(&curve, y, of_curve),
        ]
    }

    fn trace(&self, name: &str, points: &[[f64; 2]]) -> Mark {
        let each = |axis: usize| points.iter().map(move |point| rounded(point[axis]));
        self.with_hover(Mark::lines(each(0), each(1)), name, points)
    }

    fn with_hover(&self, mark: Mark, name: &str, points: &[[f64; 2]]) -> Mark {
        let [of_x, _] = self.axes;
        let description = points.iter().map(|[x, y]| {
            let (name, of_x) = (escaped(name), escaped(of_x));
            format!("{of_x} {}<br>{name}: {}", written(*x), written(*y))
        });
        mark.named(name).hover(description).unclipped()
    }

    fn panel(&self) -> Panel {
        let lines = self.span().map(|x| self.predicted(x));
        let heights = self.curve.iter().chain([&self.reached]).map(|point| point[1]);
        let [least, most] = ends(heights.chain(lines).chain([0.0]));
        let room = if least < most { 0.04 * (most - least) } else { 1.0 };
        let least = if least < 0.0 { least - room } else { 0.0 };
        Panel::new(
            self.axes[1],
            Axis::between(self.span()).titled(self.axes[0]),
            Axis::between([least, most + room]).dark_zero(),
            230.0,
        )
    }

    fn table(&self) -> Table {
        let apart = (self.curve.len() - 1).div_ceil(SHOWN).max(1);
        let mut points: Vec<_> = self.curve.iter().step_by(apart).copied().collect();
        points.extend([self.at, self.reached]);
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        points.dedup_by(|a, b| (a[0] - b[0]).abs() < 1e-9);
        let row = |[x, y]: [f64; 2]| [written(x), written(y), written(self.predicted(x))];
        let [x, y] = self.axes;
        Table::new("Curve and tangent", [x, y, "tangent"], points.into_iter().map(row))
    }

    fn description(&self) -> String {
        let [of_x, of_y] = self.axes;
        let ([x, y], [at_x, at_y]) = (self.reached, self.at);
        format!(
            "A curve of the {of_y} against the {of_x}, and its tangent at {of_x} {}, where \
             the {of_y} is {} and the slope {}. At {of_x} {} the tangent is at {} and the \
             {of_y} {}.",
            written(at_x),
            written(at_y),
            written(self.slope),
            written(x),
            written(self.predicted(x)),
            written(y)
        )
    }
}

/// Three decimals, and none of them at the end if they are 0.
fn written(number: f64) -> String {
    let thousandths = (number * 1e3).round();
    // Not −0.
    let number = if thousandths == 0.0 { 0.0 } else { thousandths / 1e3 };
    number.to_string().replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn square(points: &[[f64; 2]], reached: [f64; 2]) -> Tangent<'_> {
        let axes = ["nudge", "loss"];
        Tangent { axes, curve: points, at: [0.0, 1.0], slope: -2.0, reached }
    }

    #[test]
    fn a_square_leaves_its_tangent_on_both_sides() {
        let curve: Vec<[f64; 2]> = (-4..=8)
            .map(|quarter| f64::from(quarter) / 4.0)
            .map(|x| [x, (x - 1.0).powi(2)])
            .collect();
        let drawn = square(&curve, [1.5, 0.25]);
        assert_figure!(tangent("A step too far climbs again", drawn).unwrap());
    }

    #[test]
    fn a_curve_that_stays_at_0_has_room() {
        let flat = Tangent {
            at: [0.0; 2],
            slope: 0.0,
            reached: [1.0, 0.0],
            ..square(&[[-1.0, 0.0], [1.0, 0.0]], [0.0; 2])
        };
        let figure = tangent("", flat).unwrap();
        assert_eq!(
            figure.to_json()["layout"]["yaxis"]["range"],
            serde_json::json!([0.0, 1.0])
        );
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let refused = |points: &[[f64; 2]], reached| {
            tangent("", square(points, reached)).unwrap_err().to_string()
        };
        insta::assert_snapshot!(refused(&[], [0.0; 2]), @"the number of points is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&[[0.0, 1.0]], [1.0, f64::NAN]), @"the loss is NaN, expected a number");
    }
}
