//! Rows of dots: each case with all that was measured of it, draw by draw; and lines around
//! cells.

use anyhow::Result;
use attention::median;
use figures::{
    Axis, Chart, Figure, Mark, NARROW, NEUTRAL, Panel, Place, Table, escaped, palette,
    rounded,
};

use crate::numbers::ends;

/// What was measured: a panel.
pub(crate) struct Measure {
    pub(crate) title: &'static str,
    pub(crate) x: Axis,
    /// Where thin lines lie.
    pub(crate) rules: Vec<f64>,
    /// Case by case, draw by draw.
    pub(crate) of: Vec<Vec<f64>>,
    pub(crate) written: fn(f64) -> String,
}

/// The pixels of a case.
const ROW: f64 = 24.0;

/// Panels over the same cases, which have their names at the left: side by side where there
/// is room. `above` is for a legend, where there is room and on a phone.
pub(crate) fn rows(
    title: &str,
    cases: &[String],
    panels: &[(&str, Axis)],
    above: [f64; 2],
) -> Chart {
    let longest = cases.iter().map(|case| case.chars().count()).max().unwrap_or(0) as f64;
    Chart::new(title).by_width(|width| {
        let n_columns = if width > NARROW { panels.len() } else { 1 };
        let left = (longest * 6.6 + 8.0).min(0.42 * width);
        let panel = |(nth, (title, x)): (usize, &(&str, Axis))| {
            let y = Axis::down(cases, 12).labelled(nth % n_columns == 0);
            Panel::new(*title, x.clone(), y, ROW * cases.len() as f64)
        };
        let above = above[usize::from(width <= NARROW)];
        let left_once = true;
        let place =
            Place { width, n_columns, left, left_once, above, ..Place::default() };
        (panels.iter().enumerate().map(panel).collect(), place)
    })
}

/// A dot for each draw. What was measured once is blue, draws of chance are grey.
pub(crate) fn figure(
    title: &str,
    cases: &[String],
    measures: &[Measure],
) -> Result<Figure> {
    let panels: Vec<_> = measures.iter().map(|it| (it.title, it.x.clone())).collect();
    let marks = measures.iter().enumerate().flat_map(|(nth, measure)| {
        let ends = |&at: &f64| Mark::rule([[at, -0.5], [at, cases.len() as f64 - 0.5]]);
        let rules = measure.rules.iter().map(ends);
        let dots = cases.iter().enumerate().map(|(row, case)| measure.dots(row, case));
        rules.chain(dots).map(move |mark| mark.on(nth)).collect::<Vec<_>>()
    });
    let names: Vec<String> = measures.iter().map(|it| it.title.to_owned()).collect();
    let cell = |row: usize, nth: usize| measures[nth].range(row);
    let table = Table::grid(
        "Each case: one number, or the range of draws",
        "",
        cases,
        &names,
        cell,
    );
    let row = |(nth, case): (usize, &String)| {
        let each = measures.iter().map(|it| format!("{} {}", it.title, it.range(nth)));
        format!("{case}: {}.", each.collect::<Vec<_>>().join("; "))
    };
    let says: Vec<String> = cases.iter().enumerate().map(row).collect();
    let chart = rows(title, cases, &panels, [0.0; 2]).marks(marks).tables([table]);
    Ok(chart.says(format!("Rows of dots. {}", says.join(" "))).figure()?)
}

/// Lines around these cells of a map, by row and column.
pub(crate) fn outlines(cells: impl IntoIterator<Item = [usize; 2]>, width: f64) -> Mark {
    const CORNERS: [[f64; 2]; 5] =
        [[-0.5, -0.5], [-0.5, 0.5], [0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]];
    let around = cells.into_iter().flat_map(|[row, column]| {
        let corner =
            move |[down, across]: [f64; 2]| [row as f64 + down, column as f64 + across];
        CORNERS.into_iter().map(corner).chain([[f64::NAN; 2]])
    });
    let [y, x]: [Vec<f64>; 2] = {
        let points: Vec<[f64; 2]> = around.collect();
        [0, 1].map(|at| points.iter().map(|point| point[at]).collect())
    };
    let lines = Mark::lines(x, y).with_gaps().line("currentColor", width);
    lines.in_legend(false).silent().unclipped()
}

impl Measure {
    fn dots(&self, row: usize, case: &str) -> Mark {
        let of = &self.of[row];
        let told =
            of.iter().map(|&x| format!("{}<br>{}", escaped(case), (self.written)(x)));
        let dots = Mark::points(of.iter().map(|&x| rounded(x)), vec![row; of.len()]);
        let dots = match of.len() {
            1 => dots.marked("circle", 10).coloured(palette::head(0)),
            _ => dots.marked("circle", 8).coloured(NEUTRAL).mark_opacity(0.6),
        };
        dots.named(case).hover(told).unclipped()
    }

    /// `.728`, or `.528 to .733, median .650`.
    fn range(&self, row: usize) -> String {
        let of = self.of[row].iter().copied();
        let [least, _, most] = ends(of.clone()).map(self.written);
        match self.of[row].len() {
            1 => least,
            _ => format!("{least} to {most}, median {}", (self.written)(median(of))),
        }
    }
}
