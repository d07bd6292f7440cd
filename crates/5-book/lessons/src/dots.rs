//! Many runs as dots: a row for each setting, and in it a dot for each run.

use anyhow::Result;
use figures::{
    Axis, Chart, Figure, Mark, NEUTRAL, Panel, Place, Table, WIDE, formula, palette,
    significant,
};

use crate::numbers::ends;

/// Of the names of rows.
const FONT_SIZE: usize = 12;
/// Of a row, in pixels.
const ROW: f64 = 24.0;

/// A setting, and what its runs came to.
pub(crate) type Row = (String, Vec<f64>);

/// Panels of rows of dots on one axis, each row with its median.
pub(crate) struct Dots {
    pub(crate) x: Axis,
    /// With its heading, rows from the top down.
    pub(crate) panels: Vec<(String, Vec<Row>)>,
    /// How a number is written.
    pub(crate) written: fn(f64) -> String,
    /// The first row of what is wrong, if one is.
    pub(crate) wrong_from: usize,
}

impl Dots {
    pub(crate) fn figure(&self, title: &str) -> Result<Figure> {
        let rows = self.panels.iter().flat_map(|it| &it.1);
        let longest = rows.map(|row| row.0.chars().count()).max().unwrap_or(0);
        let left = longest as f64 * 6.6 + 8.0;
        let layout = |width: f64| {
            let n_columns = if width == WIDE { self.panels.len().min(3) } else { 1 };
            let panels = self.panels.iter().enumerate().map(|(nth, (heading, rows))| {
                let is_first = nth.is_multiple_of(n_columns);
                let n = rows.len() as f64;
                let names = rows.iter().map(|row| formula(&row.0));
                let y = Axis::names(&[], FONT_SIZE).at(0..rows.len(), names);
                let y = y.range([n - 0.5, -0.5]).labelled(is_first);
                Panel::new(heading, self.x.clone(), y, n * ROW)
            });
            let place =
                Place { width, n_columns, left, left_once: true, ..Place::default() };
            (panels.collect(), place)
        };
        let marks = self.panels.iter().enumerate();
        let marks =
            marks.flat_map(|(nth, it)| self.marks(&it.1).map(|mark| mark.on(nth)));
        let says: Vec<String> = self.panels.iter().map(|it| self.sentence(it)).collect();
        let figure = Chart::new(title).by_width(layout).marks(marks).says(says.join(" "));
        Ok(figure.tables(self.panels.iter().map(|it| self.table(it))).figure()?)
    }

    /// The dots, the first run on top of its row, and the medians.
    fn marks(&self, rows: &[Row]) -> [Mark; 2] {
        let each = || {
            rows.iter().enumerate().flat_map(|(row, (name, runs))| {
                let n = runs.len() as f64;
                let down = move |run: usize| 0.6 * ((run as f64 + 0.5) / n - 0.5);
                let place = move |run| significant(row as f64 + down(run));
                runs.iter().enumerate().map(move |(run, &x)| (row, name, x, place(run)))
            })
        };
        let told = each()
            .map(|(_, name, x, _)| format!("{}: {}", formula(name), (self.written)(x)));
        let colour = |row| match row < self.wrong_from {
            true => palette::head(0),
            false => palette::wrong(),
        };
        let dots =
            Mark::points(each().map(|it| significant(it.2)), each().map(|it| it.3))
                .named("runs")
                .marked("circle", if each().count() > 300 { 4 } else { 6 })
                .mark_opacity(0.8)
                .coloured_each(each().map(|it| colour(it.0)))
                .hover(told)
                .unclipped();
        let medians = rows.iter().map(|(_, runs)| significant(ends(runs.clone())[1]));
        let x = medians.flat_map(|median| [Some(median), Some(median), None]);
        let y = (0..rows.len()).map(|row| row as f64);
        let y = y.flat_map(|row| [Some(row - 0.42), Some(row + 0.42), None]);
        [dots, Mark::lines(x, y).with_gaps().line(NEUTRAL, 2.0).silent()]
    }

    fn ends(&self, runs: &[f64]) -> [String; 3] {
        ends(runs.iter().copied()).map(self.written)
    }

    fn table(&self, (heading, rows): &(String, Vec<Row>)) -> Table {
        let row = |(name, runs): &Row| {
            let [least, median, most] = self.ends(runs);
            [name.clone(), runs.len().to_string(), least, median, most]
        };
        let columns = ["", "runs", "least", "median", "most"];
        Table::new(heading.clone(), columns, rows.iter().map(row))
    }

    fn sentence(&self, (heading, rows): &(String, Vec<Row>)) -> String {
        let row = |(name, runs): &Row| {
            let [least, median, most] = self.ends(runs);
            format!("{name} from {least} to {most}, median {median}")
        };
        let rows: Vec<String> = rows.iter().map(row).collect();
        format!("Dots, {heading}: {}.", rows.join("; "))
    }
}
