//! Rows, each with its name and with dots, bars or cells of what was measured of it: panels
//! that share their rows, side by side where there is room.

use anyhow::Result;
use figures::{
    Axis, Chart, FAINT, Figure, Grouping, Mark, Panel, Place, Table, WIDE, by_cell,
    label_width, legend_room, palette,
};

use crate::numbers::{ends, written};

const FONT_SIZE: usize = 11;

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
    pub(crate) title: String,
    pub(crate) x: Axis,
    /// Of its numbers.
    pub(crate) decimals: i32,
    pub(crate) lists: Vec<RowList>,
}

/// What one thing has in each row: one number, several, or none.
pub(crate) struct RowList {
    pub(crate) name: String,
    pub(crate) values: Vec<Vec<f64>>,
    pub(crate) look: Look,
}

/// How a list is drawn.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    /// A bar of this colour.
    Bars(&'static str),
    /// A dot of this colour for each number.
    Dots(&'static str),
    /// Small dots below the others: draws of a control.
    Cloud,
    /// So many cells, filled where the list has their place.
    Cells(usize),
}

impl NamedRows<'_> {
    /// The figure; its tables have the same rows.
    pub(crate) fn figure(self, title: &str, panels: &[RowPanel]) -> Result<Figure> {
        let mut names: Vec<&str> = Vec::new();
        let mut marks = Vec::new();
        for (nth, panel) in panels.iter().enumerate() {
            for list in &panel.lists {
                let is_new = !names.contains(&list.name.as_str());
                let is_named = is_new && !matches!(list.look, Look::Cells(_));
                let mark = list.mark(self.names, panel.decimals).named(&list.name);
                marks.push(mark.on(nth).of_group(&list.name, is_named));
                names.extend(is_named.then_some(list.name.as_str()));
            }
        }
        let has_legend = names.len() > 1;
        let above = legend_room(names.into_iter(), 14.0);
        let tables = panels.iter().map(|panel| panel.table(self.names));
        let sentences = panels.iter().map(|panel| panel.sentence(self.names));
        let chart = Chart::new(title)
            .tables(tables)
            .captioned()
            .says(sentences.collect::<Vec<_>>().join(" "))
            .grouped(self.grouping)
            .bar_gap(0.2)
            .by_width(|width| {
                let is_wide = width >= WIDE;
                let n_columns = if is_wide { self.n_columns } else { 1 };
                let above = if has_legend { above[usize::from(!is_wide)] } else { 0.0 };
                let left = label_width(self.names, FONT_SIZE);
                let place =
                    Place { width, n_columns, left, left_once: true, below: 24.0, above };
                let panel = |(nth, panel): (usize, &RowPanel)| {
                    let y = Axis::down(self.names, FONT_SIZE);
                    let y = y.labelled(nth.is_multiple_of(n_columns));
                    let height = self.height * self.names.len() as f64;
                    Panel::new(panel.title.clone(), panel.x.clone(), y, height)
                };
                (panels.iter().enumerate().map(panel).collect(), place)
            });
        Ok(chart.marks(marks).figure()?)
    }
}

impl RowPanel {
    fn table(&self, rows: &[String]) -> Table {
        let columns: Vec<String> =
            self.lists.iter().map(|list| list.name.clone()).collect();
        let cell = |row: usize, at: usize| self.lists[at].cell(row, self.decimals);
        Table::grid(self.title.clone(), "", rows, &columns, cell)
    }

    fn sentence(&self, rows: &[String]) -> String {
        let list = |list: &RowList| {
            let row = |(name, row): (&String, usize)| {
                format!("{name} {}", list.cell(row, self.decimals))
            };
            let each: Vec<String> = rows.iter().zip(0..).map(row).collect();
            format!("{}, {}", list.name, each.join(", "))
        };
        let lists: Vec<String> = self.lists.iter().map(list).collect();
        format!("{}: {}.", self.title, lists.join("; "))
    }
}

impl RowList {
    fn mark(&self, names: &[String], decimals: i32) -> Mark {
        let each = || {
            (0..)
                .zip(&self.values)
                .flat_map(|(row, values)| values.iter().map(move |&value| (row, value)))
        };
        let told = |(row, value): (usize, f64)| {
            format!("{}, {}: {}", names[row], self.name, written(value, decimals))
        };
        let dots = |below: f64| {
            let rows = each().map(move |(row, _)| row as f64 + below);
            Mark::points(each().map(|(_, value)| value), rows).unclipped()
        };
        match self.look {
            Look::Bars(colour) => {
                let lengths = self.values.iter().map(|values| values.first().copied());
                let texts = (0..self.values.len()).map(|row| self.cell(row, decimals));
                Mark::lying_bars(lengths)
                    .with_gaps()
                    .coloured(colour)
                    .written(texts, "auto")
                    .text_size(10)
                    .unclipped()
            }
            Look::Dots(colour) => {
                dots(0.0).marked("circle", 8).coloured(colour).hover(each().map(told))
            }
            Look::Cloud => {
                dots(0.3).marked("circle", 4).coloured(FAINT).hover(each().map(told))
            }
            Look::Cells(n) => {
                let cell = |row: usize, at: usize| {
                    let values = &self.values[row];
                    let is_known = values.iter().all(|value| value.is_finite());
                    is_known.then(|| u8::from(values.contains(&(at as f64))))
                };
                Mark::cells(by_cell((names.len(), n), cell), 1)
                    .with_gaps()
                    .scaled(palette::from_nothing(palette::NOTHING), [0, 1])
                    .tells("{row}, {column}")
            }
        }
    }

    /// The numbers of a row in few words.
    fn cell(&self, row: usize, decimals: i32) -> String {
        let values = self.values.get(row).map_or(&[][..], Vec::as_slice);
        let number = |number: f64| written(number, decimals);
        let list = || values.iter().map(|&value| number(value)).collect::<Vec<_>>();
        match (self.look, values) {
            (_, [value]) if value.is_nan() => "–".to_owned(),
            (Look::Cells(_), []) => "none".to_owned(),
            (Look::Cells(_), _) => list().join(" "),
            (_, []) => String::new(),
            (_, &[value]) => number(value),
            _ => {
                let [least, _, most] = ends(values.iter().copied());
                format!("{} to {}", number(least), number(most))
            }
        }
    }
}
