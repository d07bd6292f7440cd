//! Rows, each with its name and with dots, bars or cells of what was measured of it: panels
//! that share their rows, side by side where there is room.

use anyhow::Result;
use attention::median;
use figures::{
    Axis, Chart, FAINT, Figure, Grouping, Mark, NEUTRAL, Panel, Place, Table, WIDE,
    by_cell, escaped, label_width, legend_room, palette, significant,
};

use crate::numbers::{ends, percent};

const FONT_SIZE: usize = 12;
/// From the first dot of a row to its last, as a part of the row.
const SPREAD: f64 = 0.7;
/// How lists are told apart without their colours.
const SYMBOLS: [&str; 4] = ["circle", "diamond", "square", "triangle-up"];

/// What all panels have in common.
pub(crate) struct NamedRows<'a> {
    pub(crate) names: &'a [String],
    /// Of a row, in pixels.
    pub(crate) height: f64,
    /// How many panels lie side by side, where there is room.
    pub(crate) n_columns: usize,
    /// Of bars of one panel.
    pub(crate) grouping: Grouping,
}

/// A panel, and the lists that it shows.
pub(crate) struct RowPanel {
    title: String,
    x: Axis,
    written: fn(f64) -> String,
    lists: Vec<RowList>,
    /// Where lines lie across all rows.
    rules: Vec<f64>,
}

/// What one thing has in each row: one number, several, or none.
pub(crate) struct RowList {
    name: String,
    values: Vec<Vec<f64>>,
    look: Look,
}

/// How a list is drawn.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    /// A bar of this colour.
    Bars(&'static str),
    /// A part of a bar of parts that add up, without its number.
    Parts(&'static str),
    /// A dot of this colour in the middle of the row.
    Dots(&'static str),
    /// A dot of this colour for each run, from the top of the row down, and a bar at their
    /// median. Several such lists share the row.
    Runs(&'static str),
    /// Small dots below the others: draws of a control.
    Cloud,
    /// So many cells, filled where the list has their place.
    Cells(usize),
}

impl<'a> NamedRows<'a> {
    /// Rows of this height, with panels side by side.
    pub(crate) fn new(names: &'a [String], height: f64, n_columns: usize) -> Self {
        Self { names, height, n_columns, grouping: Grouping::Beside }
    }

    /// With bars of one row one behind the other.
    pub(crate) fn stacked(self) -> Self {
        Self { grouping: Grouping::Stacked, ..self }
    }

    /// The panels without marks, with room for a legend on a wide page and on a phone.
    pub(crate) fn chart(
        &self,
        title: &str,
        panels: &[(&str, Axis)],
        above: [f64; 2],
    ) -> Chart {
        Chart::new(title).grouped(self.grouping).bar_gap(0.2).by_width(|width| {
            let is_wide = width >= WIDE;
            let n_columns = if is_wide { self.n_columns } else { 1 };
            let left = label_width(self.names, FONT_SIZE).min(0.42 * width);
            let above = above[usize::from(!is_wide)];
            let place =
                Place { width, n_columns, left, left_once: true, below: 28.0, above };
            let panel = |(nth, (title, x)): (usize, &(&str, Axis))| {
                let y = Axis::down(self.names, FONT_SIZE);
                let y = y.labelled(nth.is_multiple_of(n_columns));
                let height = self.height * self.names.len() as f64;
                Panel::new(*title, x.clone(), y, height)
            };
            (panels.iter().enumerate().map(panel).collect(), place)
        })
    }

    /// The figure; its tables have the same rows.
    pub(crate) fn figure(&self, title: &str, panels: &[RowPanel]) -> Result<Figure> {
        let mut names: Vec<&str> = Vec::new();
        let mut marks = Vec::new();
        for (nth, panel) in panels.iter().enumerate() {
            marks.extend(panel.rules(self.names.len()).map(|mark| mark.on(nth)));
            for (at, list) in panel.lists.iter().enumerate() {
                let is_new = !names.contains(&list.name.as_str());
                let is_named = is_new && !matches!(list.look, Look::Cells(_));
                let mark = panel.mark(at, self.names).named(&list.name);
                marks.push(mark.on(nth).of_group(&list.name, is_named));
                marks.extend(panel.medians(at).map(|mark| mark.on(nth)));
                names.extend(is_named.then_some(list.name.as_str()));
            }
        }
        let has_legend = names.len() > 1;
        let above = legend_room(names.into_iter(), 14.0);
        let above = if has_legend { above } else { [0.0; 2] };
        let axes: Vec<(&str, Axis)> =
            panels.iter().map(|panel| (panel.title.as_str(), panel.x.clone())).collect();
        let sentences = panels.iter().map(|panel| panel.sentence(self.names));
        let chart = self.chart(title, &axes, above).marks(marks).captioned();
        let chart = chart.tables(panels.iter().map(|panel| panel.table(self.names)));
        Ok(chart.says(sentences.collect::<Vec<_>>().join(" ")).figure()?)
    }
}

impl RowPanel {
    /// A panel of these lists over an axis, with its numbers written so.
    pub(crate) fn new(
        title: impl Into<String>,
        x: Axis,
        written: fn(f64) -> String,
        lists: Vec<RowList>,
    ) -> Self {
        Self { title: title.into(), x, written, lists, rules: Vec::new() }
    }

    /// Parts of 1, from one to the whole, in percent.
    pub(crate) fn percent(
        title: impl Into<String>,
        from: f64,
        lists: Vec<RowList>,
    ) -> Self {
        let ticks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| from + (1.0 - from) * part);
        let x = Axis::between([from, 1.0 + 0.12 * (1.0 - from)]);
        let x = x.at(ticks, ticks.map(|tick| format!("{:.0} %", 100.0 * tick)));
        Self::new(title, x, percent, lists)
    }

    /// With lines across all rows.
    pub(crate) fn ruled(self, at: impl Into<Vec<f64>>) -> Self {
        Self { rules: at.into(), ..self }
    }

    fn rules(&self, n_rows: usize) -> impl Iterator<Item = Mark> + use<'_> {
        let bottom = n_rows as f64 - 0.5;
        self.rules.iter().map(move |&at| Mark::rule([[at, -0.5], [at, bottom]]))
    }

    /// How far from the middle of its row a dot of a list lies, of those that share it.
    fn lane(&self, at: usize, row: usize, nth: usize) -> f64 {
        let shares = |list: &RowList| {
            matches!(list.look, Look::Runs(_)) && !list.values[row].is_empty()
        };
        let n_lists = self.lists.iter().filter(|list| shares(list)).count() as f64;
        let lane = self.lists[..at].iter().filter(|list| shares(list)).count() as f64;
        let within = (nth as f64 + 0.5) / self.lists[at].values[row].len() as f64;
        SPREAD * ((lane + within) / n_lists - 0.5)
    }

    fn mark(&self, at: usize, names: &[String]) -> Mark {
        let list = &self.lists[at];
        // A dot's row is named beside it.
        let told = |(_, _, value): (usize, usize, f64)| (self.written)(value);
        let tells = format!("{}: {{told}}", escaped(&list.name));
        let dots = |down: &dyn Fn(usize, usize) -> f64| {
            let y = list.each().map(|(row, nth, _)| row as f64 + down(row, nth));
            let y: Vec<f64> = y.map(significant).collect();
            let dots = Mark::points(list.each().map(|it| significant(it.2)), y);
            dots.hover(list.each().map(told)).tells(&tells).unclipped()
        };
        let symbol = SYMBOLS[at % SYMBOLS.len()];
        match list.look {
            Look::Bars(colour) => self.bars(list, colour),
            Look::Parts(colour) => parts(list, colour),
            Look::Cells(n) => cells(list, names.len(), n),
            Look::Dots(colour) => dots(&|_, _| 0.0).marked(symbol, 9).coloured(colour),
            Look::Cloud => dots(&|_, _| 0.3).marked("circle", 4).coloured(FAINT),
            Look::Runs(colour) => {
                let size = if list.each().count() > 300 { 4 } else { 7 };
                let dots = dots(&|row, nth| self.lane(at, row, nth));
                dots.marked(symbol, size).coloured(colour).mark_opacity(0.7)
            }
        }
    }

    fn bars(&self, list: &RowList, colour: &str) -> Mark {
        let lengths = list.values.iter().map(|values| values.first().copied());
        let texts = (0..list.values.len()).map(|row| self.cell(list, row));
        let bars = Mark::lying_bars(lengths).with_gaps().coloured(colour);
        bars.written(texts, "auto").text_size(10).unclipped()
    }

    /// A bar at the median of each row's runs, across their part of the row.
    fn medians(&self, at: usize) -> Option<Mark> {
        let list = &self.lists[at];
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (row, runs) in list.values.iter().enumerate().filter(|it| it.1.len() > 2) {
            let middle = significant(median(runs.iter().copied()));
            let ends =
                [0, runs.len() - 1].map(|nth| row as f64 + self.lane(at, row, nth));
            x.extend([Some(middle), Some(middle), None]);
            y.extend([Some(ends[0] - 0.06), Some(ends[1] + 0.06), None]);
        }
        let is_drawn = matches!(list.look, Look::Runs(_)) && !x.is_empty();
        let line = || Mark::lines(x, y).with_gaps().line(NEUTRAL, 2.0);
        is_drawn.then(|| line().in_legend(false).silent())
    }

    fn table(&self, rows: &[String]) -> Table {
        let columns: Vec<String> =
            self.lists.iter().map(|list| list.name.clone()).collect();
        let cell = |row: usize, at: usize| self.cell(&self.lists[at], row);
        Table::grid(self.title.clone(), "", rows, &columns, cell)
    }

    fn sentence(&self, rows: &[String]) -> String {
        let list = |list: &RowList| {
            let row = |(name, row)| format!("{name} {}", self.cell(list, row));
            let each: Vec<String> = rows.iter().zip(0..).map(row).collect();
            format!("{}, {}", list.name, each.join(", "))
        };
        let lists: Vec<String> = self.lists.iter().map(list).collect();
        format!("{}: {}.", self.title, lists.join("; "))
    }

    /// The numbers of a row in few words.
    fn cell(&self, list: &RowList, row: usize) -> String {
        let values = list.values.get(row).map_or(&[][..], Vec::as_slice);
        let listed = || values.iter().map(|&value| (self.written)(value));
        match (list.look, values) {
            (_, [value]) if value.is_nan() => "–".to_owned(),
            (Look::Cells(_), []) => "none".to_owned(),
            (Look::Cells(_), _) => listed().collect::<Vec<_>>().join(" "),
            (_, []) => String::new(),
            (_, &[value]) => (self.written)(value),
            _ => {
                let [least, middle, most] =
                    ends(values.iter().copied()).map(self.written);
                format!("{least} to {most}, median {middle}")
            }
        }
    }
}

fn parts(list: &RowList, colour: &str) -> Mark {
    let lengths = list.values.iter().map(|values| values.first().copied());
    Mark::lying_bars(lengths).with_gaps().coloured(colour)
}

/// Filled cells of a row, and none where it is not known.
fn cells(list: &RowList, n_rows: usize, n: usize) -> Mark {
    let cell = |row: usize, at: usize| {
        let values = &list.values[row];
        let is_known = values.iter().all(|value| value.is_finite());
        is_known.then(|| u8::from(values.contains(&(at as f64))))
    };
    Mark::cells(by_cell((n_rows, n), cell), 1)
        .with_gaps()
        .scaled(palette::from_nothing(palette::NOTHING), [0, 1])
        .tells("{row}, {column}")
}

impl RowList {
    /// Numbers of each row under a name.
    pub(crate) fn new(
        name: impl Into<String>,
        values: impl Into<Vec<Vec<f64>>>,
        look: Look,
    ) -> Self {
        Self { name: name.into(), values: values.into(), look }
    }

    /// One number a row.
    pub(crate) fn single(
        name: impl Into<String>,
        values: impl IntoIterator<Item = f64>,
        look: Look,
    ) -> Self {
        Self::new(
            name,
            values.into_iter().map(|value| vec![value]).collect::<Vec<_>>(),
            look,
        )
    }

    /// In these rows alone.
    pub(crate) fn only(mut self, is_kept: impl Fn(usize) -> bool) -> Self {
        let rows = self.values.iter_mut().enumerate();
        rows.filter(|(row, _)| !is_kept(*row)).for_each(|(_, of)| of.clear());
        self
    }

    /// Whether no row has a number.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.iter().all(Vec::is_empty)
    }

    /// Each number, with its row and its place there.
    fn each(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let rows = self.values.iter().enumerate();
        rows.flat_map(|(row, of)| {
            of.iter().enumerate().map(move |(nth, &it)| (row, nth, it))
        })
    }
}
