//! A curve, its tangent at one place, and how far apart the two are at another.

use plotly::Scatter;
use plotly::common::{DashType, HoverInfo, Line, Marker, MarkerSymbol, Mode};
use serde_json::{Value, json, to_value};

use attention::Error as SizeError;

use crate::layout::{
    FAINT, NEUTRAL, axis_title, legend_lines, number_axis, rounded, text, with,
};
use crate::panels::{self, NARROW, Panel, Place, WIDE};
use crate::{Error, Figure, Result, Table, palette, sketch};

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
    let Tangent { axes, curve, at, slope, reached } = drawn;
    SizeError::expect_positive("the number of points", curve.len())?;
    Error::expect_at_most("points", curve.len(), 500)?;
    let any = [f64::NEG_INFINITY, f64::INFINITY];
    Error::expect_between("the slope", slope, any)?;
    for point in curve.iter().chain([&at, &reached]) {
        for (axis, coordinate) in axes.iter().zip(point) {
            Error::expect_between(format!("the {axis}"), *coordinate, any)?;
        }
    }
    let table = drawn.table();
    Ok(Figure {
        title: title.into(),
        alternative: drawn.told(),
        sketch: sketch::table(&table),
        tables: vec![table],
        traces: drawn.traces(),
        wide: drawn.layout(WIDE),
        narrow: drawn.layout(NARROW),
        notebook: None,
    })
}

/// How many points of the curve the table and the sketch show, about.
const SHOWN: usize = 6;

impl Tangent<'_> {
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
    fn traces(&self) -> Vec<Value> {
        let [curve, tangent] = self.names();
        let [x, y] = self.reached;
        let predicted = self.predicted(x);
        let ends = self.span().map(|x| [x, self.predicted(x)]);
        let solid = |colour: &'static str| Line::new().color(colour).width(2.5);
        let dotted = Line::new().color(NEUTRAL).width(2.0).dash(DashType::Dot);
        let dashed = solid(palette::head(1)).dash(DashType::Dash);
        let marker = |colour: &'static str| Marker::new().size(11).color(colour);
        let open = marker(palette::head(1)).symbol(MarkerSymbol::CircleOpen);
        vec![
            self.trace("", &[[x, predicted], [x, y]])
                .line(dotted)
                .hover_info(HoverInfo::Skip),
            self.trace(&curve, self.curve).line(solid(palette::head(0))),
            self.trace(&tangent, &ends).line(dashed),
            self.trace(&tangent, &[[x, predicted]]).mode(Mode::Markers).marker(open),
            self.trace(&curve, &[[x, y]])
                .mode(Mode::Markers)
                .marker(marker(palette::head(0))),
        ]
        .into_iter()
        .enumerate()
        .map(|(nth, trace)| {
            let trace = trace.show_legend((1..3).contains(&nth));
            with(to_value(trace), [("cliponaxis", json!(false))])
        })
        .collect()
    }

    fn trace(&self, name: &str, points: &[[f64; 2]]) -> Box<Scatter<f64, f64>> {
        let [of_x, _] = self.axes;
        let told = points.iter().map(|[x, y]| {
            let (name, of_x) = (text(name), text(of_x));
            format!("{of_x} {}<br>{name}: {}", written(*x), written(*y))
        });
        let each =
            |axis: usize| points.iter().map(|point| rounded(point[axis])).collect();
        Scatter::new(each(0), each(1))
            .mode(Mode::Lines)
            .name(text(name))
            .hover_text_array(told.collect())
            .hover_info(HoverInfo::Text)
    }

    fn layout(&self, width: f64) -> Value {
        let [from, to] = self.span();
        let lines = self.span().map(|x| self.predicted(x));
        let heights = self.curve.iter().chain([&self.reached]).map(|point| point[1]);
        let [least, most] = ends(heights.chain(lines).chain([0.0]));
        let room = if least < most { 0.04 * (most - least) } else { 1.0 };
        let range = |from: f64, to: f64| vec![rounded(from), rounded(to)];
        let least = if least < 0.0 { least - room } else { 0.0 };
        let panel = Panel {
            title: self.axes[1].to_owned(),
            x: number_axis(0.0, "")
                .title(axis_title(self.axes[0]))
                .range(range(from, to)),
            y: number_axis(0.0, "")
                .zero_line_color(NEUTRAL)
                .range(range(least, most + room)),
            width: None,
            height: 230.0,
        };
        let [curve, tangent] = self.names();
        let names = [curve.as_str(), tangent.as_str()];
        let place = Place {
            width,
            n_columns: 1,
            left: 40.0,
            left_once: true,
            below: 38.0,
            above: 14.0 + 20.0 * legend_lines(names.into_iter(), width),
        };
        with(
            Ok(panels::layout(vec![panel], &place)),
            [("xaxis.zerolinecolor", json!(FAINT))],
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

    fn told(&self) -> String {
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

fn ends(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], number| {
        [least.min(number), most.max(number)]
    })
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
        assert_eq!(figure.wide["yaxis"]["range"], json!([0.0, 1.0]));
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
